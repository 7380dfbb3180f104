"""One door for writing meshes with their attributes: whole files, in the order of the mesh."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.attributes.arrays import npz_bytes
from nho.io.attributes.lists import list_text
from nho.io.attributes.model import MASK, Array, Attributes, kind_of, uv_of_vertices
from nho.io.attributes.tables import csv_text
from nho.io.attributes.write_gltf import write_gltf
from nho.io.attributes.write_obj import write_obj
from nho.io.attributes.write_ply import write_ply
from nho.io.attributes.write_vtp import write_vtp
from nho.io.attributes.written import Written
from nho.runtime.atomic_file import write_whole


def write_with_attributes(
    path: str | os.PathLike[str], mesh: Mesh, attributes: Attributes
) -> tuple[str, ...]:
    """Write a mesh and what is on it; the suffix chooses the format.

    ``.ply``, ``.obj``, ``.glb`` and ``.vtp`` are meshes, ``.npz`` holds mesh and attributes as
    arrays, ``.csv`` a table without the mesh, ``.txt`` the vertices of a single selection.

    Returns
    -------
    tuple of str
        What the format has no room for, one sentence each.
    """
    path = check_writable(path)
    attributes.check(mesh.n_vertices, mesh.n_faces, path.name)
    try:
        written = _WRITERS[path.suffix.lower()](mesh.vertices, mesh.faces, attributes, path.stem)
    except InputError as problem:
        raise InputError(f"{path.name}: {problem}") from None
    for name, content in written.beside.items():
        _check_ours(path.with_name(name), content)
    for name, content in written.beside.items():
        write_whole(path.with_name(name), content)
    write_whole(path, written.content)
    return tuple(dict.fromkeys(written.notes))


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Raise for a file name whose suffix stands for no format, before any work is done."""
    path = Path(path)
    if path.suffix.lower() not in _WRITERS:
        raise InputError(
            f"{path.name}: attributes are written as {', '.join(_WRITERS)}, not as "
            f"{path.suffix!r}; choose one of these"
        )
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError(f"{path}: cannot be written; give a file name in a folder that exists")
    return path


def _check_ours(path: Path, content: bytes) -> None:
    """An image must not replace another file of the user; a material file belongs to its OBJ."""
    if path.suffix == ".mtl" or not path.exists():
        return
    if not path.is_file() or path.read_bytes() != content:
        raise InputError(f"{path}: is already there with another content; choose another --out")


def _npz(vertices: Array, faces: Array, attributes: Attributes, _stem: str) -> Written:
    notes = ["NPZ holds no images: left out the texture"] if attributes.textures else []
    return Written(npz_bytes(vertices, faces, attributes), notes=notes)


def _csv(vertices: Array, faces: Array, attributes: Attributes, _stem: str) -> Written:
    """One row a vertex; one a face if there is nothing on the vertices."""
    if attributes.face and not set(attributes.vertex) - {MASK} and attributes.uv is None:
        return Written(csv_text(dict(attributes.face), None, "face", len(faces)))
    notes = []
    if attributes.face:
        notes.append(f"this CSV has rows for vertices: left out {', '.join(attributes.face)}")
    uv = None
    if attributes.uv is not None:
        uv = uv_of_vertices(faces, attributes.uv, len(vertices))
        if uv is None:
            notes.append("a vertex at a seam has several texture coordinates: left out uv")
    return Written(csv_text(dict(attributes.vertex), uv, "vertex", len(vertices)), notes=notes)


def _txt(_vertices: Array, _faces: Array, attributes: Attributes, _stem: str) -> Written:
    chosen = [
        name
        for name, values in attributes.vertex.items()
        if kind_of(values) == "selection" and name != MASK
    ]
    if len(chosen) != 1:
        raise InputError(
            f"a text list holds one selection, but there are {len(chosen)}; choose one with --only"
        )
    return Written(list_text(attributes.vertex[chosen[0]], chosen[0]))


_WRITERS: dict[str, Callable[[Array, Array, Attributes, str], Written]] = {
    ".ply": write_ply,
    ".obj": write_obj,
    ".glb": write_gltf,
    ".vtp": write_vtp,
    ".npz": _npz,
    ".csv": _csv,
    ".txt": _txt,
}
WRITABLE = tuple(_WRITERS)
