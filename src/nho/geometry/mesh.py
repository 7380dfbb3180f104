"""`Mesh`: a triangle mesh, checked once when it is made."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from nho.errors import InputError
from nho.geometry.mesh_checks import checked_faces, checked_vertices
from nho.io.meshes import read_surface, write_arrays
from nho.io.meshes.model import ParsedMesh

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Mesh:
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
    """

    vertices: FloatArray
    faces: IntArray
    name: str = "mesh"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        vertices = checked_vertices(self.vertices, self.name)
        faces = checked_faces(self.faces, len(vertices), self.name)
        vars(self).update(vertices=_frozen(vertices), faces=_frozen(faces))

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays would be writable.
        return trusted_mesh, (self.vertices, self.faces, self.name, self.notes)

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

    @property
    def n_vertices(self) -> int:
        """Number of vertices, used or not."""
        return len(self.vertices)

    @property
    def n_faces(self) -> int:
        """Number of triangles."""
        return len(self.faces)

    @cached_property
    def diagonal(self) -> float:
        """Length of the diagonal of the box around the faces."""
        return float(np.linalg.norm(np.ptp(self.vertices[self.used_vertices], axis=0)))

    @cached_property
    def used_vertices(self) -> BoolArray:
        """(n,) whether a face uses the vertex."""
        used = np.zeros(self.n_vertices, dtype=bool)
        used[self.faces] = True
        return _frozen(used)

    @cached_property
    def _extent(self) -> float:
        """A length to divide by, so that tiny and huge units do not under- or overflow."""
        return float(np.abs(self.vertices).max()) or 1.0

    @cached_property
    def _face_crosses(self) -> FloatArray:
        """(m, 3) normals with twice the area as length, for coordinates over `_extent`."""
        vertices = self.vertices / self._extent
        a, b, c = (vertices[corner] for corner in self.faces.T)
        return np.cross(b - a, c - a)

    @cached_property
    def face_areas(self) -> FloatArray:
        """(m,) area of every triangle."""
        doubled = np.linalg.norm(self._face_crosses, axis=1)
        return _frozen(0.5 * doubled * self._extent * self._extent)

    @cached_property
    def vertex_areas(self) -> FloatArray:
        """(n,) a third of the area of the faces around each vertex."""
        return _frozen(sum_at_vertices(self, self.face_areas / 3))

    @cached_property
    def area(self) -> float:
        """Area of the surface."""
        return float(self.face_areas.sum())

    @cached_property
    def face_normals(self) -> FloatArray:
        """(m, 3) unit normals, by the right-hand rule; zero for a triangle without area."""
        return _frozen(_unit_rows(self._face_crosses))

    @cached_property
    def vertex_normals(self) -> FloatArray:
        """(n, 3) unit normals, faces weighted by area; zero where no face has area."""
        sums = [sum_at_vertices(self, axis) for axis in self._face_crosses.T]
        return _frozen(_unit_rows(np.column_stack(sums)))

    def _side_keys(self) -> IntArray:
        """(m, 3) one number per side of a face, the same for both directions."""
        ends = np.sort(self.faces[:, [[0, 1], [1, 2], [2, 0]]], axis=2)
        # One number sorts far faster than pairs; n * n fits int64 for any real mesh.
        keys: IntArray = ends[:, :, 0] * self.n_vertices + ends[:, :, 1]
        return keys

    @cached_property
    def _edges_and_uses(self) -> tuple[IntArray, IntArray]:
        """Edges (e, 2) and the number of faces on each (e,)."""
        keys = np.sort(self._side_keys(), axis=1)
        # A face with a repeated corner meets an edge twice, or a vertex with itself: count once.
        counted = keys // self.n_vertices != keys % self.n_vertices
        counted[:, 1:] &= keys[:, 1:] != keys[:, :-1]
        unique, uses = np.unique(keys[counted], return_counts=True)
        edges = np.column_stack([unique // self.n_vertices, unique % self.n_vertices])
        return _frozen(edges), _frozen(uses.astype(np.int64))

    @property
    def edges(self) -> IntArray:
        """(e, 2) every edge once, smaller index first, rows in ascending order."""
        return self._edges_and_uses[0]

    @property
    def edge_face_counts(self) -> IntArray:
        """(e,) number of faces on every edge: 1 on the boundary, 2 inside, more if non-manifold."""
        return self._edges_and_uses[1]

    @cached_property
    def face_edges(self) -> IntArray:
        """(m, 3) edge from each corner of a face to the next; -1 from a vertex to itself."""
        keys, n = self._side_keys(), self.n_vertices
        edge = np.searchsorted(self.edges[:, 0] * n + self.edges[:, 1], keys)
        return _frozen(np.where(keys // n == keys % n, -1, edge))

    @cached_property
    def edge_lengths(self) -> FloatArray:
        """(e,) length of every edge."""
        start, end = (self.vertices[self.edges[:, side]] / self._extent for side in range(2))
        return _frozen(np.linalg.norm(end - start, axis=1) * self._extent)

    @cached_property
    def mean_edge_length(self) -> float:
        """Mean length of the edges; 0 if every face is a single point."""
        return float(self.edge_lengths.mean()) if len(self.edges) else 0.0

    @cached_property
    def boundary_vertices(self) -> BoolArray:
        """(n,) whether the vertex is on an edge that exactly one face uses."""
        on_boundary = np.zeros(self.n_vertices, dtype=bool)
        on_boundary[self.edges[self.edge_face_counts == 1]] = True
        return _frozen(on_boundary)

    @cached_property
    def components(self) -> IntArray:
        """(n,) connected component of every vertex, numbered by first vertex; -1 if unused."""
        used = self.used_vertices
        graph = coo_array(
            (np.ones(len(self.edges), dtype=np.int8), tuple(self.edges.T)),
            shape=(self.n_vertices, self.n_vertices),
        )
        _, labels = connected_components(graph, directed=False)
        _, first, inverse = np.unique(labels[used], return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        components = np.full(self.n_vertices, -1, dtype=np.int64)
        components[used] = rank[inverse]
        return _frozen(components)


def trusted_mesh(
    vertices: npt.ArrayLike, faces: npt.ArrayLike, name: str, notes: tuple[str, ...] = ()
) -> Mesh:
    """A mesh without any checks, of vertices and faces taken from meshes that were checked.

    The arrays become the mesh's own and read-only; they are copied only if they are not contiguous.
    """
    mesh = object.__new__(Mesh)
    vars(mesh).update(
        vertices=_frozen(np.ascontiguousarray(vertices, dtype=np.float64)),
        faces=_frozen(np.ascontiguousarray(faces, dtype=np.int64)),
        name=name,
        notes=notes,
    )
    return mesh


def sum_at_vertices(mesh: Mesh, values: FloatArray) -> FloatArray:
    """(n,) sums of (m,) values of the faces, over the faces around each vertex."""
    sums = np.bincount(mesh.faces.ravel(), np.repeat(values, 3), minlength=mesh.n_vertices)
    return sums.astype(np.float64, copy=False)


def _unit_rows(rows: FloatArray) -> FloatArray:
    # Scaled by their largest entry first, since the square of a small number may be zero.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    unit: FloatArray = np.divide(scaled, length, out=np.zeros_like(rows), where=length > 0)
    return unit


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array
