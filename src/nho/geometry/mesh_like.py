"""Meshes of other libraries, recognised by what they offer; none of these libraries is imported.

Vertices and triangles keep their order; polygons become triangles one after the other. What has
points and no faces is a point cloud.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.mesh_checks import checked_vertices
from nho.io.meshes.polygons import triangulate

# Besides these, an object of trimesh, PyVista, VTK, vedo, Open3D, meshio or PyMeshLab; mypy has
# no name for "anything with vertices and faces" that is worth reading.
MeshLike = Mesh | str | Path | tuple[npt.ArrayLike, npt.ArrayLike] | Any

_SURFACE_CELLS = ("triangle", "quad")  # of meshio; and all polygons


class _Parts:
    """Points of an object, and its faces as one list of corners with the corners of each face.

    Clouds have no faces, and may have normals.
    """

    def __init__(
        self,
        points: Any,
        corners: npt.ArrayLike = (),
        counts: npt.ArrayLike | None = None,
        normals: Any = None,
    ) -> None:
        self.points = _numbers(points)
        self.corners = np.asarray(corners)
        self.counts = counts
        found = np.empty(0) if normals is None or callable(normals) else _numbers(normals)
        self.normals = found if len(found) else None


def as_mesh(given: MeshLike, role: str = "mesh") -> Mesh:
    """A mesh from whatever holds one.

    Parameters
    ----------
    given : Mesh, path, pair (vertices, faces), or an object of another library
        A trimesh, PyVista, VTK, vedo, Open3D (legacy or tensor), meshio or PyMeshLab mesh or
        cloud; an (n, 3) array is a cloud of points, too.
    role : str
        What messages call a mesh that has no file name.
    """
    if isinstance(given, Mesh):
        return given
    if isinstance(given, str | Path):
        return Mesh.read(given)
    for library in _LIBRARIES:
        parts = library(given, role)
        if parts is not None:
            return _mesh(parts, role)
    if isinstance(given, tuple | list) and len(given) == 2:
        vertices, faces = cast(tuple[Any, Any], given)
        return Mesh(vertices, faces, role)
    if isinstance(given, np.ndarray) and given.ndim == 2 and given.shape[1] == 3:
        return Mesh.from_points(given, name=role)
    raise InputError(
        f"{role}: give a Mesh, a file name, a pair (vertices, faces), or a mesh of trimesh, "
        f"PyVista, Open3D, vedo or meshio, not {type(given).__name__}"
    )


def _mesh(parts: _Parts, role: str) -> Mesh:
    """Check the parts and cut polygons into triangles."""
    if not len(parts.corners):
        return Mesh.from_points(parts.points, parts.normals, role)
    if parts.counts is None:  # triangles
        return Mesh(parts.points, parts.corners, role)
    vertices = checked_vertices(parts.points, role)
    cut = triangulate(parts.corners, np.asarray(parts.counts, dtype=np.int64), vertices, role)
    return Mesh(vertices, cut.faces, role)


def _vtk(given: Any, role: str) -> _Parts | None:
    """VTK's polygons: PyVista, the data set of vedo, models of 3D Slicer."""
    if hasattr(given, "GetPolyData"):  # a model node
        given = given.GetPolyData()
    given = getattr(given, "dataset", given)
    if hasattr(given, "GetCells") and hasattr(given, "GetPoints"):
        raise InputError(
            f"{role}: {type(given).__name__} holds cells, not a surface; give its "
            "extract_surface(), and mind that this numbers the points anew"
        )
    if not (hasattr(given, "GetPolys") and hasattr(given, "GetPoints")):
        return None
    if given.GetNumberOfStrips():
        raise InputError(f"{role}: it has triangle strips; give its triangulate()")
    points = given.GetPoints()
    if points is None:
        raise InputError(f"{role}: it has no points; check what was loaded")
    cells = given.GetPolys()
    if not cells.GetNumberOfCells():
        data = given.GetPointData()
        active = data.GetNormals()
        return _Parts(
            points.GetData(), normals=data.GetArray("Normals") if active is None else active
        )
    return _Parts(
        points.GetData(),
        np.asarray(cells.GetConnectivityArray()),
        np.diff(np.asarray(cells.GetOffsetsArray())),
    )


def _open3d_tensor(given: Any, role: str) -> _Parts | None:
    """Open3D's tensor meshes and clouds: maps of attributes by name."""
    if hasattr(given, "vertex") and hasattr(given, "triangle"):
        if "indices" not in given.triangle:
            return _Parts(given.vertex["positions"], normals=_named(given.vertex, "normals"))
        return _Parts(given.vertex["positions"], _numbers(given.triangle["indices"]))
    if hasattr(given, "point") and "positions" in given.point:
        return _Parts(given.point["positions"], normals=_named(given.point, "normals"))
    return None


def _named(attributes: Any, name: str) -> Any:
    """An attribute, if it is there."""
    if name not in attributes:
        return None
    return attributes[name]


def _meshio(given: Any, role: str) -> _Parts | None:
    """A list of blocks, each of cells of one type."""
    blocks = getattr(given, "cells", None)
    if not hasattr(given, "points") or not isinstance(blocks, list):
        return None
    surfaces = [block for block in blocks if _is_surface(block.type)]
    if not surfaces:
        if any(block.type not in ("vertex", "line") for block in blocks):
            raise InputError(
                f"{role}: its cells are {', '.join(sorted({block.type for block in blocks}))}; "
                "give a surface of triangles, quads or polygons"
            )
        return _Parts(given.points)
    corners = [np.asarray(block.data) for block in surfaces]
    return _Parts(
        given.points,
        np.concatenate([each.ravel() for each in corners]),
        np.concatenate([np.full(len(each), each.shape[1]) for each in corners]),
    )


def _is_surface(cell_type: str) -> bool:
    return cell_type in _SURFACE_CELLS or cell_type.startswith("polygon")


def _pymeshlab(given: Any, role: str) -> _Parts | None:
    """PyMeshLab's meshes, and the current one of a set."""
    if hasattr(given, "current_mesh"):
        given = given.current_mesh()
    if not hasattr(given, "vertex_matrix"):
        return None
    return _Parts(given.vertex_matrix(), given.face_matrix())


def _vertices_and_faces(given: Any, role: str) -> _Parts | None:
    """Objects with arrays of their own: trimesh, Open3D's legacy meshes, many others."""
    if hasattr(given, "geometry") and hasattr(given, "to_mesh"):
        raise InputError(f"{role}: a scene may hold many meshes; give scene.to_mesh(), or one")
    vertices = getattr(given, "vertices", None)
    faces = getattr(given, "faces", getattr(given, "triangles", None))
    if vertices is None and hasattr(given, "points") and not callable(given.points):
        vertices = given.points  # a cloud
    if vertices is None or callable(vertices) or callable(faces):
        return None
    normals = None
    if faces is None:  # of Open3D's clouds
        normals = getattr(given, "normals", None)
    return _Parts(vertices, () if faces is None else _numbers(faces), normals=normals)


_LIBRARIES: tuple[Callable[[Any, str], _Parts | None], ...] = (
    _vtk,
    _open3d_tensor,
    _meshio,
    _pymeshlab,
    _vertices_and_faces,
)


def _numbers(array: Any) -> np.ndarray:
    """An array of NumPy; tensors come from wherever they are."""
    for step in ("detach", "cpu", "numpy"):
        array = getattr(array, step)() if hasattr(array, step) else array
    return np.asarray(array)
