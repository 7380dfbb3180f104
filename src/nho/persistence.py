"""Zero-dimensional persistence of a function on a graph, from its peaks downwards.

In the superlevel filtration a component is born at each local maximum; where two components
meet, the younger one (of the lower peak) dies. Vertices are compared by value, ties by index.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree


class Superlevels:
    """Persistence pairs of functions on one fixed graph.

    Parameters
    ----------
    edges : (e, 2) int array
    vertices : int
        Number of vertices.
    """

    def __init__(self, edges: np.ndarray, vertices: int) -> None:
        self._edges = np.asarray(edges, dtype=np.int64)
        self._n = vertices
        ends = np.concatenate([self._edges, self._edges[:, ::-1]])
        # Every vertex is its own neighbour too, so that no row is empty.
        own = np.repeat(np.arange(vertices)[:, None], 2, axis=1)
        ends = np.concatenate([ends, own])
        order = np.argsort(ends[:, 0], kind="stable")
        self._neighbours = ends[order, 1]
        self._starts = np.searchsorted(ends[order, 0], np.arange(vertices))

    def pairs(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Finite pairs as (birth vertices, death vertices); essential components are left out.

        Pairs of equal birth and death vertex never occur; the order is that of the deaths.
        """
        rank = np.empty(self._n, dtype=np.int64)  # 0 = highest value
        by_rank = np.lexsort((np.arange(self._n), -values))
        rank[by_rank] = np.arange(self._n)
        # Walk uphill to the best neighbour until a peak: vertices of one peak form a basin.
        peak = by_rank[np.minimum.reduceat(rank[self._neighbours], self._starts)]
        while True:
            further = peak[peak]
            if np.array_equal(further, peak):
                break
            peak = further
        i, j = self._edges.T
        crossing = peak[i] != peak[j]
        i, j = i[crossing], j[crossing]
        if not len(i):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        # Only passes between basins can merge components, and only those of the spanning forest
        # that prefers high passes do. The pass of an edge is its lower end.
        level = np.maximum(rank[i], rank[j])
        peaks, labels = np.unique(np.stack([peak[i], peak[j]]), return_inverse=True)
        a, b = labels.reshape(2, -1)
        a, b = np.minimum(a, b), np.maximum(a, b)
        order = np.lexsort((level, b, a))
        a, b, level = a[order], b[order], level[order]
        highest = np.r_[True, (a[1:] != a[:-1]) | (b[1:] != b[:-1])]
        forest = minimum_spanning_tree(
            sp.coo_matrix(
                (level[highest] + 1.0, (a[highest], b[highest])), shape=(len(peaks), len(peaks))
            ).tocsr()
        ).tocoo()
        order = np.argsort(forest.data, kind="stable")
        births, deaths = [], []
        parent = list(range(len(peaks)))
        rank_of_peak = rank[peaks].tolist()
        for u, v, position in zip(
            forest.row[order].tolist(),
            forest.col[order].tolist(),
            (forest.data[order].astype(np.int64) - 1).tolist(),
            strict=True,
        ):
            u, v = _root(parent, u), _root(parent, v)
            if rank_of_peak[u] > rank_of_peak[v]:  # u becomes the elder: the higher peak
                u, v = v, u
            parent[v] = u
            births.append(peaks[v])
            deaths.append(by_rank[position])
        return np.array(births, dtype=np.int64), np.array(deaths, dtype=np.int64)


def _root(parent: list[int], node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
