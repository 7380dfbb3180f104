"""Meshes with their attributes, and data files, by their suffix."""

import os
from pathlib import Path

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.attributes.data_files import (
    read_csv,
    read_list,
    read_npz,
    write_csv,
    write_list,
    write_npz,
)
from nho.io.meshes.files import ATTRIBUTE_WRITERS, Writer, contents_of, read_mesh_file
from nho.io.meshes.model import Attributes
from nho.io.meshes.ply import write_ascii_ply
from nho.io.meshes.word_labels import LEGEND
from nho.runtime.atomic_file import write_whole
from nho.runtime.input_file import blaming, read_bytes
from nho.runtime.input_protection import NO_INPUTS, InputFiles

DATA_FILES = (".csv", ".npz", ".txt")
_WRITERS: dict[str, Writer] = {
    **ATTRIBUTE_WRITERS,
    ".npz": write_npz,
    ".csv": write_csv,
    ".txt": write_list,
}
WRITABLE = tuple(_WRITERS)


def read_with_attributes(path: str | os.PathLike[str]) -> tuple[Mesh, Attributes]:
    """A mesh file with everything on its vertices, faces and corners that is understood.

    The mesh is the one that `nho.Mesh.read` gives, vertex for vertex; normals are not attributes.
    """
    surface, attributes = read_mesh_file(path, with_attributes=True)
    mesh = Mesh.from_file(surface, Path(path).name)
    attributes.check(mesh.n_vertices, mesh.n_faces, mesh.name)
    return mesh, attributes


def read_data(path: str | os.PathLike[str], mesh: Mesh) -> Attributes:
    """Attributes of ``mesh`` from a CSV or NPZ file, or a selection from a text list of vertices.

    The rows must be in the order of the mesh; a selection is named after its file.
    """
    path = Path(path)
    suffix, sizes = path.suffix.lower(), (mesh.n_vertices, mesh.n_faces)
    if suffix not in DATA_FILES:
        raise InputError(
            f"{path.name}: data files end in {', '.join(DATA_FILES)}, not in {suffix!r}; "
            "give it the suffix of its real format or export it as CSV"
        )
    data = contents_of(path)
    with blaming(path):
        if suffix == ".txt":
            return read_list(data, path.name, mesh.n_vertices, path.stem)
        read = read_csv if suffix == ".csv" else read_npz
        attributes = read(data, path.name, *sizes, mesh.faces)
    attributes.check(*sizes, path.name)
    return attributes


def write_with_attributes(
    path: str | os.PathLike[str],
    mesh: Mesh,
    attributes: Attributes,
    inputs: InputFiles = NO_INPUTS,
    ascii_ply: bool = False,
) -> tuple[str, ...]:
    """Write a mesh and what is on it; the suffix chooses the format.

    ``.ply``, ``.obj``, ``.glb`` and ``.vtp`` are meshes, ``.npz`` holds mesh and attributes as
    arrays, ``.csv`` a table without the mesh, ``.txt`` the vertices of a single selection.
    With ``ascii_ply`` a PLY file is written as text. Neither the file nor an image or material
    beside it may be one of the inputs.

    Returns
    -------
    tuple of str
        What the format has no room for, one sentence each.
    """
    path = check_output_file(path)
    attributes.check(mesh.n_vertices, mesh.n_faces, path.name)
    writer = _WRITERS[path.suffix.lower()]
    if ascii_ply:
        if path.suffix.lower() != ".ply":
            raise InputError(f"{path.name}: only PLY is written as text; choose the suffix .ply")
        writer = write_ascii_ply
    try:
        written = writer(mesh.vertices, mesh.faces, attributes, path.stem)
    except InputError as problem:
        raise InputError(f"{path.name}: {problem}") from None
    inputs.refuse_file(path)
    for name, content in written.beside.items():
        inputs.refuse_file(path.with_name(name))
        _check_ours(path.with_name(name), content, path)
    for name, content in written.beside.items():
        write_whole(path.with_name(name), content)
    write_whole(path, written.content)
    return tuple(dict.fromkeys(written.notes))


def check_output_file(path: str | os.PathLike[str]) -> Path:
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


def _check_ours(path: Path, content: bytes, mesh: Path) -> None:
    """What goes beside a mesh must not replace other files; materials and legends belong to it."""
    belongs = path.suffix == ".mtl" or path.name.endswith(LEGEND)
    if not path.exists() or (belongs and mesh.exists()):
        return
    if not path.is_file() or read_bytes(path) != content:
        raise InputError(f"{path}: already exists with different content; choose another --out")
