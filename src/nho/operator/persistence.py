"""Zero-dimensional persistence of a function on a graph, from its peaks downwards.

In the superlevel filtration a component is born at each local maximum; where two components
meet, the younger one (of the lower peak) dies. Vertices are compared by value, ties by index.
"""

from __future__ import annotations

import numpy as np


class Superlevels:
    """Persistence pairs of functions on one fixed graph.

    Parameters
    ----------
    edges : (e, 2) int array
    vertices : int
        Number of vertices.
    """

    def __init__(self, edges: np.ndarray, vertices: int) -> None:
        self._edges = np.ascontiguousarray(np.asarray(edges, dtype=np.int32).T)
        self._n = vertices
        i, j = self._edges
        # Every vertex is its own neighbour too, so that no row is empty.
        own = np.arange(vertices, dtype=np.int32)
        ends = np.concatenate([i, j, own])
        order = np.argsort(ends, kind="stable")
        self._neighbours = np.concatenate([j, i, own])[order]
        self._starts = np.searchsorted(ends[order], own)

    def pairs(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Finite pairs as (birth vertices, death vertices); essential components are left out.

        Pairs of equal birth and death vertex never occur; the order is that of the deaths.
        """
        by_rank = np.argsort(-values, kind="stable").astype(np.int32)  # stable: ties by index
        rank = np.empty(self._n, dtype=np.int32)  # 0 = highest value
        rank[by_rank] = np.arange(self._n, dtype=np.int32)
        # Walk uphill to the best neighbour until a peak: vertices of one peak form a basin.
        peak = by_rank[np.minimum.reduceat(rank[self._neighbours], self._starts)]
        while True:
            further = peak[peak]
            if np.array_equal(further, peak):
                break
            peak = further
        i, j = self._edges
        crossing = peak[i] != peak[j]
        i, j = i[crossing], j[crossing]
        if not len(i):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        # Only the highest pass between two basins can merge their components. The pass of an edge
        # is its lower end.
        level = np.maximum(rank[i], rank[j])
        peaks, labels = np.unique(np.concatenate([peak[i], peak[j]]), return_inverse=True)
        a, b = labels.reshape(2, -1)
        between = np.minimum(a, b) * len(peaks) + np.maximum(a, b)
        order = np.lexsort((between, level))
        _, first = np.unique(between[order], return_index=True)
        order = order[np.sort(first)]  # from the highest pass down, one a pair of basins
        births, deaths = [], []
        parent = list(range(len(peaks)))
        rank_of_peak = rank[peaks].tolist()
        for u, v, position in zip(
            a[order].tolist(), b[order].tolist(), level[order].tolist(), strict=True
        ):
            elder, younger = _root(parent, u), _root(parent, v)
            if elder == younger:  # they met at a higher pass
                continue
            if rank_of_peak[elder] > rank_of_peak[younger]:  # the elder has the higher peak
                elder, younger = younger, elder
            parent[younger] = elder
            births.append(peaks[younger])
            deaths.append(by_rank[position])
        return np.array(births, dtype=np.int64), np.array(deaths, dtype=np.int64)


def _root(parent: list[int], node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
