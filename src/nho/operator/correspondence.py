"""From eigenspaces and anchors to a map, and how far to trust it (Sec. 4.2).

Maps go from the partial shape to the full one: ``target[p]`` is a vertex of the full shape.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.geodesics import Neighbourhoods
from nho.runtime.parallel import SERIAL, Workers
from nho.settings.recipes import Misses

_TABLE_BYTES = 32e6  # of one block of pairwise products


def align(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Matrix C of least Frobenius norm that minimises |source C - target| (Eq. 19)."""
    return np.asarray(np.linalg.pinv(source) @ target)


def nearest_rows(queries: np.ndarray, rows: np.ndarray, pool: Workers = SERIAL) -> np.ndarray:
    """(n,) index of the row nearest to each query (Eq. 20); ties go to the lowest index.

    By blocked matrix products in float32, which no tree beats in 20 to 100 dimensions.
    """
    centre = queries.mean(axis=0)  # small numbers where they matter keep float32 accurate
    rows32 = np.ascontiguousarray((rows - centre).T, dtype=np.float32)
    queries32 = np.ascontiguousarray(queries - centre, dtype=np.float32)
    half_square = (rows32**2).sum(axis=0) / 2

    def block(part: slice) -> np.ndarray:
        closeness = queries32[part] @ rows32
        closeness -= half_square
        return np.asarray(closeness.argmax(axis=1))

    rows_per_block = max(64, int(_TABLE_BYTES / 4 / rows32.shape[1]))
    return np.concatenate(pool.over_rows(block, len(queries32), rows_per_block))


def local_distortion(
    target: np.ndarray,
    partial: Neighbourhoods,
    partial_mass: np.ndarray,
    full: Neighbourhoods,
    misses: Misses = "largest",
) -> np.ndarray:
    """(n,) local mapping distortion (LMD) of a map: how much it bends distances nearby.

    ``LMD(p) = sum_j a_j |d(p, j) - d(T(p), T(j))| / (r_p sum_j a_j)`` over the neighbours j of p,
    with r_p the largest d(p, j).

    The paper leaves open how far T(j) is from T(p) if it is not among the nearest vertices of
    T(p) in ``full``: as far as the farthest in any such neighbourhood of the shape (``"largest"``,
    which the cited method has, and has for T(j) = T(p) too), or in that of T(p) (``"local"``).
    """
    known = partial.index >= 0
    neighbours = np.where(known, partial.index, 0)
    image = _distances_between(full, target, target[neighbours], misses)
    own = np.where(known, partial.distance, 0)
    weights = partial_mass[neighbours] * known
    radius = own.max(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        distortion = (weights * np.abs(own - image)).sum(axis=1) / (radius * weights.sum(axis=1))
    return np.where(np.isfinite(distortion), distortion, np.inf)


def _distances_between(
    full: Neighbourhoods, start: np.ndarray, end: np.ndarray, misses: Misses
) -> np.ndarray:
    """(n, j) distances from start[p] to end[p, j]; beyond a neighbourhood as ``misses`` says."""
    n = len(full.index)
    farthest = np.where(np.isfinite(full.distance), full.distance, 0).max(axis=1)
    # All (vertex, neighbour) pairs as sorted keys: a look-up by bisection.
    keys = (np.arange(n)[:, None] * n + full.index)[full.index >= 0]
    values = full.distance[full.index >= 0]
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    wanted = start[:, None] * n + end
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found = keys[place] == wanted
    if misses == "largest":
        return np.asarray(np.where(found, values[place], farthest.max()))
    distance = np.where(found, values[place], farthest[start][:, None])
    return np.where(end == start[:, None], 0.0, distance)


def reliable_matches(
    target: np.ndarray, distortion: np.ndarray, threshold: float, anchors: np.ndarray
) -> np.ndarray:
    """(m', 2) pairs with distortion below the threshold, none in conflict (Eq. 21).

    The given (m, 2) anchors are fixed: a match that shares a vertex with one of them is dropped.
    Where several matches share a full vertex, the least distorted is kept; ties by index.
    """
    kept = np.flatnonzero(distortion < threshold)
    fixed = np.isin(kept, anchors[:, 0]) | np.isin(target[kept], anchors[:, 1])
    kept = kept[~fixed]
    kept = kept[np.lexsort((kept, distortion[kept]))]
    _, first = np.unique(target[kept], return_index=True)
    kept = np.sort(kept[first])
    return np.stack([kept, target[kept]], axis=1)
