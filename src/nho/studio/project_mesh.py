"""The meshes of a project: inside it with all that is on them, or by the paths of their files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.attributes import Attributes, Texture, read_with_attributes
from nho.studio.shape import ShownShape

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class ProjectMesh:
    """A mesh of a project, and where it came from.

    Attributes
    ----------
    data : Attributes
        What tables have added to it.
    """

    mesh: Mesh
    attributes: Attributes
    path: Path | None
    data: Attributes = field(default_factory=Attributes)


def packed_mesh(
    side: str, shape: ShownShape, data: Attributes, inside: bool
) -> tuple[dict[str, Any], Arrays]:
    """What a project says of a mesh, and its arrays; ``inside`` = with the mesh itself."""
    mesh, path = shape.mesh, shape.path
    stored = inside or path is None
    arrays: Arrays = {}
    about: dict[str, Any] = {
        "name": mesh.name,
        "path": str(path.absolute()) if path is not None else None,
        "inside": stored,
        "faces": mesh.n_faces,
        "blake2b": shape.digest,
        "data": _packed(f"{side}_data", data, arrays),
    }
    if stored:
        arrays |= {f"{side}_vertices": mesh.vertices, f"{side}_faces": mesh.faces}
        about["attributes"] = _packed(side, shape.attributes, arrays)
    return about, arrays


def unpacked_mesh(side: str, about: dict[str, Any], arrays: Arrays, project: str) -> ProjectMesh:
    """A mesh from inside the project, or from the file that it names."""
    path = None if about["path"] is None else Path(str(about["path"]))
    data = _unpacked(f"{side}_data", about.get("data"), arrays)
    if about["inside"]:
        mesh = Mesh(arrays[f"{side}_vertices"], arrays[f"{side}_faces"], str(about["name"]))
        attributes = _unpacked(side, about.get("attributes"), arrays)
    elif path is None or not path.is_file():
        raise InputError(
            f"{project}: its {side} mesh, {path}, is not there any more; put it back, or open "
            "both meshes anew"
        )
    else:
        mesh, attributes = read_with_attributes(path)
    if mesh.digest() != about["blake2b"]:
        raise InputError(
            f"{project}: {path or about['name']} has changed since the project was saved; "
            "open both meshes anew"
        )
    for given in (attributes, data):
        given.check(mesh.n_vertices, mesh.n_faces, mesh.name)
    return ProjectMesh(mesh, attributes, path, data)


def _packed(prefix: str, given: Attributes, arrays: Arrays) -> dict[str, Any]:
    """Put what is on a mesh into ``arrays``; the names go elsewhere, since they may be any text."""
    about: dict[str, Any] = {"vertex": list(given.vertex), "face": list(given.face)}
    for where, named in (("vertex", given.vertex), ("face", given.face)):
        for number, array in enumerate(named.values()):
            arrays[f"{prefix}_{where}{number}"] = np.asarray(array)
    for name, corners in (("uv", given.uv), ("texture_of_face", given.texture_of_face)):
        if corners is not None:
            arrays[f"{prefix}_{name}"] = corners
    about["images"] = [texture.name for texture in given.textures]
    for number, texture in enumerate(given.textures):
        arrays[f"{prefix}_image{number}"] = np.frombuffer(texture.data, dtype=np.uint8)
    return about


def _unpacked(prefix: str, about: dict[str, Any] | None, arrays: Arrays) -> Attributes:
    if about is None:
        return Attributes()

    def named(where: str) -> Arrays:
        return {
            str(name): arrays[f"{prefix}_{where}{number}"]
            for number, name in enumerate(about[where])
        }

    images = (
        Texture(str(name), arrays[f"{prefix}_image{number}"].tobytes())
        for number, name in enumerate(about["images"])
    )
    return Attributes(
        vertex=named("vertex"),
        face=named("face"),
        uv=arrays.get(f"{prefix}_uv"),
        textures=tuple(images),
        texture_of_face=arrays.get(f"{prefix}_texture_of_face"),
    )
