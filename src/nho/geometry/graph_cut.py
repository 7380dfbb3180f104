"""The cheapest cut of a graph that separates some vertices from others, and what it leaves."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components, maximum_flow

from nho.geometry.mesh import BoolArray

_STEPS = 1000  # costs are whole numbers to the solver: so many are one
_NEVER = 1 << 24  # cost of a link that is never cut


def connected_after_cut(
    edges: np.ndarray, costs: np.ndarray, sources: np.ndarray, penalties: np.ndarray
) -> BoolArray:
    """(n,) bool: vertices that are still connected to a source after the cheapest cut.

    The cut pays the cost of every edge that it severs, and the penalty of every vertex that it
    leaves connected, or the other way round where that is negative. What neither pays for is cut
    off.

    Parameters
    ----------
    edges : (e, 2) int array
    costs : (e,) float array
        Of cutting each edge, 0 to 1000.
    sources : (k,) int array
        Vertices that are never cut off.
    penalties : (n,) float array
        Of leaving a vertex connected, -1000 to 1000; negative: of cutting it off.
    """
    n = len(penalties)
    source, sink = n, n + 1
    wanted = np.unique(sources)
    unwanted = np.setdiff1d(np.flatnonzero(penalties > 0), wanted)
    liked = np.setdiff1d(np.flatnonzero(penalties < 0), wanted)
    links = [
        (edges[:, 0], edges[:, 1], costs * _STEPS),
        (edges[:, 1], edges[:, 0], costs * _STEPS),
        (np.full(len(wanted), source), wanted, np.full(len(wanted), _NEVER)),
        (unwanted, np.full(len(unwanted), sink), penalties[unwanted] * _STEPS),
        (np.full(len(liked), source), liked, -penalties[liked] * _STEPS),
    ]
    start, end, cost = (np.concatenate(column) for column in zip(*links, strict=True))
    whole = np.round(cost).astype(np.int32)
    capacity = sp.coo_array((whole, (start, end)), shape=(n + 2, n + 2)).tocsr()
    left = capacity - maximum_flow(capacity, source, sink).flow
    left.data = np.maximum(left.data, 0)
    left.eliminate_zeros()
    reached = np.zeros(n + 2, dtype=bool)
    reached[breadth_first_order(left, source, return_predecessors=False)] = True
    return reached[:n]


def patches(edges: np.ndarray, vertices: BoolArray) -> np.ndarray:
    """(n,) number of the patch of each of the vertices; every other vertex is one of its own."""
    inside, n = edges[vertices[edges].all(axis=1)], len(vertices)
    links = sp.coo_array((np.ones(len(inside)), (inside[:, 0], inside[:, 1])), shape=(n, n))
    return np.asarray(connected_components(links, directed=False)[1])
