"""One door for meshes with their attributes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from nho.geometry.mesh import Mesh
from nho.io.attributes.gltf import read_gltf
from nho.io.attributes.model import Attributes
from nho.io.attributes.obj import read_obj
from nho.io.attributes.ply import read_ply
from nho.io.attributes.shared import Surface
from nho.io.attributes.vtk import read_vtk
from nho.io.attributes.vtp import read_vtp
from nho.io.meshes.off import read_off
from nho.io.meshes.read import read_by_suffix
from nho.io.meshes.stl import read_stl

_READERS: dict[str, Callable[[bytes, str, Path], Surface]] = {
    ".ply": read_ply,
    ".obj": read_obj,
    ".glb": read_gltf,
    ".gltf": read_gltf,
    ".vtk": read_vtk,
    ".vtp": read_vtp,
}
_BARE = {".stl": read_stl, ".off": read_off}


def read_with_attributes(path: str | os.PathLike[str]) -> tuple[Mesh, Attributes]:
    """A mesh file with everything on its vertices, faces and corners that is understood.

    The mesh is the one that `nho.read_mesh` gives, vertex for vertex; normals are not attributes.
    """
    vertices, faces, attributes = read_by_suffix(path, _surface)
    mesh = Mesh(vertices, faces, Path(path).name)
    attributes.check(mesh.n_vertices, mesh.n_faces, mesh.name)
    return mesh, attributes


def _surface(suffix: str, data: bytes, path: Path) -> Surface:
    if suffix in _BARE:
        vertices, faces = _BARE[suffix](data, path.name)
        return vertices, faces, Attributes()
    return _READERS[suffix](data, path.name, path.parent)
