"""Distances along mesh edges, from sources and between near neighbours, never as an n x n table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from nho.geometry.mesh import Mesh
from nho.runtime.cache import Cache

_TINY = np.finfo(np.float64).tiny


def edge_graph(mesh: Mesh) -> sp.csr_matrix:
    """Symmetric sparse matrix of edge lengths."""
    return _symmetric(mesh.n_vertices, mesh.edges, mesh.edge_lengths)


def unfolded_graph(mesh: Mesh) -> sp.csr_matrix:
    """The edge graph with, across every inner edge, the straight way between opposite corners.

    The two triangles are laid flat; where the straight line leaves them, nothing is added. Paths
    come out a few percent shorter, and depend less on how a surface is meshed.
    """
    directed = mesh.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    opposite = mesh.faces[:, [2, 0, 1]].ravel()
    ends = np.sort(directed, axis=1)
    order = np.lexsort((opposite, ends[:, 1], ends[:, 0]))
    ends, opposite = ends[order], opposite[order]
    inner = np.flatnonzero((ends[1:] == ends[:-1]).all(axis=1))
    start, p, q = mesh.vertices[ends[inner, 0]], opposite[inner], opposite[inner + 1]
    along = mesh.vertices[ends[inner, 1]] - start
    length = np.maximum(np.linalg.norm(along, axis=1), _TINY)

    def flattened(corner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        leg = mesh.vertices[corner] - start
        foot = (leg * along).sum(axis=1) / length
        return foot, np.sqrt(np.maximum((leg**2).sum(axis=1) - foot**2, 0))

    (foot_p, height_p), (foot_q, height_q) = flattened(p), flattened(q)
    heights = np.maximum(height_p + height_q, _TINY)
    crossing = foot_p + (foot_q - foot_p) * height_p / heights
    straight = (crossing > 0) & (crossing < length) & (p != q)
    ways = np.sqrt((foot_p - foot_q) ** 2 + (height_p + height_q) ** 2)[straight]
    i = np.concatenate([mesh.edges[:, 0], p[straight]])
    j = np.concatenate([mesh.edges[:, 1], q[straight]])
    lengths = np.maximum(np.concatenate([mesh.edge_lengths, ways]), _TINY)
    # The shortest of several ways between two vertices.
    low, high = np.minimum(i, j), np.maximum(i, j)
    order = np.lexsort((lengths, high, low))
    low, high, lengths = low[order], high[order], lengths[order]
    first = np.r_[True, (low[1:] != low[:-1]) | (high[1:] != high[:-1])]
    ends = np.stack([low[first], high[first]], axis=1)
    return _symmetric(mesh.n_vertices, ends, lengths[first])


def distances_from(graph: sp.csr_matrix, sources: np.ndarray, limit: float = np.inf) -> np.ndarray:
    """(len(sources), n) edge-graph distances; inf where there is no path within the limit."""
    indices = np.asarray(sources)
    return np.atleast_2d(dijkstra(graph, directed=False, indices=indices, limit=limit))


def distance_to_nearest(graph: sp.csr_matrix, sources: np.ndarray) -> np.ndarray:
    """(n,) edge-graph distances to the nearest source; inf where there is no path."""
    return np.asarray(dijkstra(graph, directed=False, indices=sources, min_only=True))


def nearest_source(graph: sp.csr_matrix, sources: np.ndarray) -> np.ndarray:
    """(n,) the source nearest to every vertex in the edge graph; -1 where there is no path."""
    _, _, source = dijkstra(
        graph, directed=False, indices=sources, min_only=True, return_predecessors=True
    )
    return np.maximum(source, -1)


@dataclass(frozen=True)
class Neighbourhoods:
    """The nearest vertices of every vertex by edge-graph distance, itself excluded.

    Attributes
    ----------
    index : (n, count) int array
        Nearest first; -1 pads where a component has too few vertices.
    distance : (n, count) float array
        inf at the padding.
    """

    index: np.ndarray
    distance: np.ndarray


def neighbourhoods(graph: sp.csr_matrix, count: int) -> Neighbourhoods:
    """The ``count`` nearest vertices of every vertex, exactly.

    If u is among the nearest of v, it is among the nearest of every vertex on their shortest path.
    So lists of nearest vertices, passed along edges and trimmed, converge to the exact answer in
    as many sweeps as the longest such path has edges.
    """
    n = graph.shape[0]
    keep = count + 1  # the vertex itself, at distance 0
    index = np.full((n, keep), -1, dtype=np.int64)
    distance = np.full((n, keep), np.inf)
    index[:, 0], distance[:, 0] = np.arange(n), 0.0
    active = np.arange(n)  # vertices whose list changed in the last sweep
    while len(active):
        touched = np.zeros(n, dtype=bool)
        touched[graph[active].indices] = True
        rows = np.flatnonzero(touched)
        new_index, new_distance = _relax(graph, rows, index, distance)
        changed = (new_distance < distance[rows]).any(axis=1)
        active = rows[changed]
        index[active], distance[active] = new_index[changed], new_distance[changed]
    return Neighbourhoods(index[:, 1:], distance[:, 1:])


def cached_neighbourhoods(cache: Cache, mesh: Mesh, count: int) -> Neighbourhoods:
    """`neighbourhoods` along the edges of a mesh, kept on disk between runs."""
    inputs = {"vertices": mesh.vertices, "faces": mesh.faces}

    def compute() -> dict[str, np.ndarray]:
        near = neighbourhoods(edge_graph(mesh), count)
        return {"index": near.index, "distance": near.distance}

    return Neighbourhoods(**cache.get_or_compute("near", inputs, {"count": count}, compute))


def _symmetric(n: int, ends: np.ndarray, lengths: np.ndarray) -> sp.csr_matrix:
    # A zero-length edge would vanish from a sparse graph; the least positive length stands in.
    lengths = np.maximum(lengths, _TINY)
    i, j = ends.T
    return sp.csr_matrix((np.r_[lengths, lengths], (np.r_[i, j], np.r_[j, i])), shape=(n, n))


def _relax(
    graph: sp.csr_matrix, rows: np.ndarray, index: np.ndarray, distance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Merge the lists of the neighbours of ``rows`` into theirs; keep the nearest."""
    n, keep = index.shape
    block = graph[rows]
    degree = np.diff(block.indptr)
    owner = np.repeat(np.arange(len(rows)), degree)
    via = block.indices
    candidate = np.concatenate([index[rows].ravel(), index[via].ravel()])
    reach = np.concatenate([distance[rows].ravel(), (distance[via] + block.data[:, None]).ravel()])
    owner = np.concatenate([np.repeat(np.arange(len(rows)), keep), np.repeat(owner, keep)])
    # Cut what cannot survive: farther than the last entry the list already has.
    alive = (candidate >= 0) & (reach <= distance[rows, -1][owner])
    candidate, reach, owner = candidate[alive], reach[alive], owner[alive]
    # The shortest way to each candidate ...
    key = owner * n + candidate
    order = np.lexsort((reach, key))
    key, owner, candidate, reach = key[order], owner[order], candidate[order], reach[order]
    first = np.r_[True, key[1:] != key[:-1]]
    owner, candidate, reach = owner[first], candidate[first], reach[first]
    # ... and of those the nearest, ties by index.
    order = np.lexsort((candidate, reach, owner))
    owner, candidate, reach = owner[order], candidate[order], reach[order]
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    within = place < keep
    new_index = np.full((len(rows), keep), -1, dtype=np.int64)
    new_distance = np.full((len(rows), keep), np.inf)
    new_index[owner[within], place[within]] = candidate[within]
    new_distance[owner[within], place[within]] = reach[within]
    return new_index, new_distance
