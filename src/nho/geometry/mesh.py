"""`Mesh`: a triangle mesh, checked once when it is made."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.geometry.mesh_checks import checked_faces, checked_vertices
from nho.geometry.mesh_measures import (
    BoolArray,
    FloatArray,
    IntArray,
    MeshMeasures,
    frozen,
    sum_at_vertices,
)
from nho.io.meshes import read_surface, write_arrays
from nho.io.meshes.model import ParsedMesh

__all__ = ["BoolArray", "FloatArray", "IntArray", "Mesh", "sum_at_vertices", "trusted_mesh"]


@dataclass(frozen=True, eq=False)
class Mesh(MeshMeasures):
    """A triangle mesh in the user's own numbering.

    Both arrays are copied and read-only. Properties are computed on first use; lengths are in the
    unit of the vertices. Faces may be degenerate, vertices unused and edges non-manifold.

    Parameters
    ----------
    vertices : (n, 3) array-like of finite numbers
        In any unit of length.
    faces : (m, 3) array-like of vertex indices
        Counted from 0; triangles only.
    name : str
        File name or role of the mesh; it opens every message about it.
    notes : tuple of str
        What its file could not be read as, one sentence each.
    doubts : tuple of str
        Why its surface may be wrong, one sentence each; a match of it is called doubtful.
    of_points : bool
        Its faces only join points (`from_points`), so some may be wrong or inside out.
    """

    vertices: FloatArray
    faces: IntArray
    name: str = "mesh"
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    of_points: bool = False

    def __post_init__(self) -> None:
        vertices = checked_vertices(self.vertices, self.name)
        faces = checked_faces(self.faces, len(vertices), self.name)
        vars(self).update(vertices=frozen(vertices), faces=frozen(faces))

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays would be writable.
        about = self.name, self.notes, self.doubts, self.of_points
        return trusted_mesh, (self.vertices, self.faces, *about)

    def __repr__(self) -> str:
        return f"Mesh({self.name!r}, {self.n_vertices} vertices, {self.n_faces} faces)"

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Mesh":
        """Read .ply, .obj, .off, .stl, .glb, .gltf, .vtk or .vtp, with the vertices in file order.

        A .ply without faces, .xyz, .pts, .npy, .las, .laz and .e57 are point clouds, whose points
        are joined to a surface (`from_points`).
        Polygons become triangles. No vertex is reordered, split, merged or dropped, except
        that an STL, which has no shared vertices, gets its exactly equal corners welded in order
        of first appearance. Raises `InputError` for everything that is wrong with the file.
        """
        return cls.from_file(read_surface(path), Path(path).name)

    @classmethod
    def from_file(cls, surface: ParsedMesh, name: str) -> "Mesh":
        """What was read from a file, or a surface through it if it is a cloud of points."""
        if not len(surface.faces):
            return cls.from_points(surface.vertices, surface.normals, name)
        return cls(surface.vertices, surface.faces, name, surface.notes)

    @classmethod
    def from_points(
        cls, points: npt.ArrayLike, normals: npt.ArrayLike | None = None, name: str = "points"
    ) -> "Mesh":
        """A surface through (n, 3) points of a scanner, which become its vertices in their order.

        Points far off the rest get no face. Noise across the surface is averaged out where it would
        fold the surface; `notes` say so.

        Parameters
        ----------
        normals : (n, 3) array-like, optional
            They say which side is outside; otherwise it is the one away from the centre.

        Examples
        --------
        >>> from nho.geometry.synthetic import sphere
        >>> ball = sphere(3)
        >>> Mesh.from_points(ball.vertices).n_faces == ball.n_faces
        True
        """
        from nho.geometry.point_cloud import mesh_of_points

        return mesh_of_points(np.asarray(points), name, normals)

    @classmethod
    def of(cls, given: Any, name: str = "mesh") -> "Mesh":
        """A mesh of trimesh, PyVista, VTK, vedo, Open3D, meshio or PyMeshLab, in the same order.

        Polygons become triangles. Files and pairs (vertices, faces) are accepted as well.

        Examples
        --------
        >>> Mesh.of(([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]))
        Mesh('mesh', 3 vertices, 1 faces)
        """
        from nho.geometry.mesh_like import as_mesh

        return as_mesh(given, name)

    def to_trimesh(self, point_data: Mapping[str, npt.NDArray[Any]] = MappingProxyType({})) -> Any:
        """The same as a ``trimesh.Trimesh``, with (n, ...) arrays as vertex attributes."""
        from nho.geometry.conversion import to_trimesh

        return to_trimesh(self, point_data)

    def to_pyvista(self, point_data: Mapping[str, npt.NDArray[Any]] = MappingProxyType({})) -> Any:
        """The same as a ``pyvista.PolyData``, with (n, ...) arrays as point data."""
        from nho.geometry.conversion import to_pyvista

        return to_pyvista(self, point_data)

    def to_open3d(self, point_data: Mapping[str, npt.NDArray[Any]] = MappingProxyType({})) -> Any:
        """The same as an ``open3d.t.geometry.TriangleMesh``, with (n, ...) vertex attributes."""
        from nho.geometry.conversion import to_open3d

        return to_open3d(self, point_data)

    def moved(self, vertices: npt.ArrayLike) -> "Mesh":
        """The same faces with other (n, 3) positions, which are copied and checked."""
        positions = checked_vertices(vertices, self.name)
        if len(positions) != self.n_vertices:
            raise InputError(
                f"{self.name}: {len(positions)} positions for {self.n_vertices} vertices; give one "
                "for each"
            )
        return trusted_mesh(positions, self.faces, self.name)

    def write(self, path: str | os.PathLike[str], colors: npt.ArrayLike | None = None) -> None:
        """Write a .ply, .off or .obj file, whole or not at all.

        Parameters
        ----------
        colors : (n, 3) or (n, 4) uint8 or float 0..1 array, optional
            One row per vertex.
        """
        write_arrays(path, self.vertices, self.faces, colors)

    def scaled(self, factor: float) -> "Mesh":
        """The same mesh with all coordinates times `factor` (positive, without unit)."""
        if not (np.isfinite(factor) and factor > 0):
            raise InputError(f"{self.name}: a scale of {factor} is not possible; give one above 0")
        return self.moved(self.vertices * factor)

    def digest(self) -> str:
        """Hash of vertices and faces, the same on every machine; the name does not count."""
        content = hashlib.blake2b(digest_size=32)
        content.update(f"{self.vertices.shape} {self.faces.shape}".encode())
        content.update(self.vertices.astype("<f8", copy=False).tobytes())
        content.update(self.faces.astype("<i8", copy=False).tobytes())
        return content.hexdigest()


def trusted_mesh(
    vertices: npt.ArrayLike,
    faces: npt.ArrayLike,
    name: str,
    notes: tuple[str, ...] = (),
    doubts: tuple[str, ...] = (),
    of_points: bool = False,
) -> Mesh:
    """A mesh without any checks, of vertices and faces taken from meshes that were checked.

    The arrays become the mesh's own and read-only; they are copied only if they are not contiguous.
    """
    mesh = object.__new__(Mesh)
    vars(mesh).update(
        vertices=frozen(np.ascontiguousarray(vertices, dtype=np.float64)),
        faces=frozen(np.ascontiguousarray(faces, dtype=np.int64)),
        name=name,
        notes=notes,
        doubts=doubts,
        of_points=of_points,
    )
    return mesh
