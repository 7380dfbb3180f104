"""Laplacian spectra and near neighbours with plain SciPy calls: the floor, and for the reference.

None of the library's code is used, so that a comparison with it means something.
"""

from __future__ import annotations

import numpy as np
import robust_laplacian
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import eigsh

TABLE_ENTRIES = 20_000_000  # of a distance table in memory at once
SHIFT = -0.01  # what pyFM and geomfum use; for shapes of about unit area


def mesh_edges(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(e, 2) edges and the number of faces at each."""
    sides = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    return np.unique(sides, axis=0, return_counts=True)


class EigenProblem:
    """The Laplacian of a mesh, natural or vanishing on the boundary.

    Attributes
    ----------
    areas : (n,) float array
        Lumped vertex areas.
    """

    def __init__(self, vertices: np.ndarray, faces: np.ndarray, dirichlet: bool) -> None:
        stiffness, mass = robust_laplacian.mesh_laplacian(vertices, faces)
        self.areas = mass.diagonal()
        inside = np.ones(len(vertices), dtype=bool)
        if dirichlet:
            edges, used = mesh_edges(faces)
            inside[edges[used == 1]] = False
        self._inside = np.flatnonzero(inside)
        self._stiffness = sp.csc_matrix(stiffness)[self._inside][:, self._inside]
        self._mass = sp.diags(self.areas[self._inside], format="csc")

    def solve(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """(k,) eigenvalues and (n, k) eigenfunctions, orthonormal in the areas; k <= ``count``."""
        count = min(count, len(self._inside) - 1)
        values, vectors = eigsh(self._stiffness, k=count, M=self._mass, sigma=SHIFT)
        functions = np.zeros((len(self.areas), count))
        functions[self._inside] = vectors
        return values, with_positive_moment(functions, self.areas)


def with_positive_moment(functions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Eigenfunctions have no sign of their own; what a network learns depends on one."""
    return functions * np.where(weights @ functions**3 < 0, -1.0, 1.0)


def nearest_along_edges(
    vertices: np.ndarray, faces: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """(n, count) nearest vertices by edge-graph distance, itself excluded, and the distances."""
    n = len(vertices)
    i, j = mesh_edges(faces)[0].T
    lengths = np.linalg.norm(vertices[i] - vertices[j], axis=1)
    graph = sp.csr_matrix((np.r_[lengths, lengths], (np.r_[i, j], np.r_[j, i])), shape=(n, n))
    index, distance = np.zeros((n, count), dtype=np.int64), np.full((n, count), np.inf)
    rows, reach = np.arange(n), 6 * lengths.mean()
    while len(rows):  # those with too few vertices within reach try again, farther
        short = []
        for chunk in np.array_split(rows, -(-len(rows) * n // TABLE_ENTRIES)):
            table = dijkstra(graph, directed=False, indices=chunk, limit=reach)
            table[np.arange(len(chunk)), chunk] = np.inf
            best = np.argpartition(table, count - 1, axis=1)[:, :count]
            index[chunk], distance[chunk] = best, np.take_along_axis(table, best, axis=1)
            short.append(chunk[np.isinf(distance[chunk]).any(axis=1)])
        rows, reach = np.concatenate(short), 2 * reach
    return index, distance
