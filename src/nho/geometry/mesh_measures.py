"""What can be measured on a triangle mesh: sizes, areas, normals, edges and components."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


class MeshMeasures:
    """Properties of a mesh, computed on first use; lengths are in the unit of the vertices."""

    vertices: FloatArray
    faces: IntArray

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
        return frozen(used)

    @cached_property
    def _extent(self) -> float:
        """A length to divide by, so that tiny and huge units do not under- or overflow."""
        return float(np.abs(self.vertices).max()) or 1.0

    @cached_property
    def _face_crosses(self) -> FloatArray:
        """(m, 3) normals with twice the area as length, for coordinates over `_extent`."""
        # One row a coordinate: faster than small vectors, and in less memory.
        a, b, c = np.ascontiguousarray(self.faces.T)
        u, v = [], []
        for of in np.ascontiguousarray(self.vertices.T) / self._extent:
            start = of[a]
            u.append(of[b] - start)
            v.append(of[c] - start)
        crosses = np.empty((self.n_faces, 3))
        for axis, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
            np.subtract(u[i] * v[j], u[j] * v[i], out=crosses[:, axis])
        return crosses

    @cached_property
    def face_areas(self) -> FloatArray:
        """(m,) area of every triangle."""
        doubled = row_lengths(self._face_crosses)
        return frozen(0.5 * doubled * self._extent * self._extent)

    @cached_property
    def vertex_areas(self) -> FloatArray:
        """(n,) a third of the area of the faces around each vertex."""
        return frozen(sum_at_vertices(self, self.face_areas / 3))

    @cached_property
    def area(self) -> float:
        """Area of the surface."""
        return float(self.face_areas.sum())

    @cached_property
    def face_normals(self) -> FloatArray:
        """(m, 3) unit normals, by the right-hand rule; zero for a triangle without area."""
        return frozen(_unit_rows(self._face_crosses))

    @cached_property
    def vertex_normals(self) -> FloatArray:
        """(n, 3) unit normals, faces weighted by area; zero where no face has area."""
        sums = [sum_at_vertices(self, axis) for axis in self._face_crosses.T]
        return frozen(_unit_rows(np.column_stack(sums)))

    def _side_keys(self) -> IntArray:
        """(m, 3) one number per side of a face, the same for both directions."""
        start, end = self.faces, self.faces[:, [1, 2, 0]]
        # One number sorts far faster than pairs; n * n fits int64 for any real mesh.
        keys: IntArray = np.minimum(start, end) * self.n_vertices + np.maximum(start, end)
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
        return frozen(edges), frozen(uses.astype(np.int64))

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
        return frozen(np.where(keys // n == keys % n, -1, edge))

    @cached_property
    def edge_lengths(self) -> FloatArray:
        """(e,) length of every edge."""
        start, end = np.ascontiguousarray(self.edges.T)
        steps = [of[end] - of[start] for of in np.ascontiguousarray(self.vertices.T) / self._extent]
        return frozen(lengths_of(*steps) * self._extent)

    @cached_property
    def mean_edge_length(self) -> float:
        """Mean length of the edges; 0 if every face is a single point."""
        return float(self.edge_lengths.mean()) if len(self.edges) else 0.0

    @cached_property
    def boundary_vertices(self) -> BoolArray:
        """(n,) whether the vertex is on an edge that exactly one face uses."""
        on_boundary = np.zeros(self.n_vertices, dtype=bool)
        on_boundary[self.edges[self.edge_face_counts == 1]] = True
        return frozen(on_boundary)

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
        return frozen(components)


def sum_at_vertices(mesh: MeshMeasures, values: FloatArray) -> FloatArray:
    """(n,) sums of (m,) values of the faces, over the faces around each vertex."""
    sums = np.bincount(mesh.faces.ravel(), np.repeat(values, 3), minlength=mesh.n_vertices)
    return sums.astype(np.float64, copy=False)


def row_lengths(rows: FloatArray) -> FloatArray:
    """(n,) lengths of (n, 3) vectors: the bits of `numpy.linalg.norm` in a fifth of the time."""
    return lengths_of(*rows.T)


def lengths_of(x: FloatArray, y: FloatArray, z: FloatArray) -> FloatArray:
    """(n,) lengths of n vectors, given as one (n,) array a coordinate."""
    squares = x * x
    squares += y * y
    squares += z * z
    lengths: FloatArray = np.sqrt(squares, out=squares)
    return lengths


def _unit_rows(rows: FloatArray) -> FloatArray:
    # Scaled by their largest entry first, since the square of a small number may be zero.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    length = row_lengths(scaled)[:, None]
    unit: FloatArray = np.divide(scaled, length, out=np.zeros_like(rows), where=length > 0)
    return unit


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same array, made read-only."""
    array.setflags(write=False)
    return array
