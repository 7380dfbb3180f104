"""Farthest-point sampling: evenly distributed vertices, as places for anchors (App. F)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nho.errors import InputError
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import FloatArray, IntArray, Mesh

METHODS = ("geodesic", "euclidean", "random")


def sample_vertices(
    mesh: Mesh,
    count: int,
    method: str = "geodesic",
    seed: int = 0,
    candidates: np.ndarray | None = None,
) -> np.ndarray:
    """(count,) distinct vertices by farthest-point sampling or at random.

    Parameters
    ----------
    method : {"geodesic", "euclidean", "random"}
        Each next vertex is the one farthest from those chosen, by edge-graph or straight
        distance; or uniform random.
    seed : int
        Draws the first vertex (or all of them).
    candidates : (c,) int array, optional
        Vertices to choose among; all that belong to a face by default.
    """
    if candidates is None:
        candidates = np.unique(mesh.faces)
    candidates = np.asarray(candidates, dtype=np.int64)
    if method not in METHODS:
        raise InputError(f"sampling method {method!r} is unknown; choose {', '.join(METHODS)}")
    if not 1 <= count <= len(candidates):
        raise InputError(
            f"cannot sample {count} vertices of {mesh.name}: choose 1 to {len(candidates)}"
        )
    if seed < 0:
        raise InputError(f"seed {seed} is negative; choose 0 or more")
    random = np.random.default_rng(seed)
    if method == "random":
        return random.choice(candidates, count, replace=False)
    first = int(random.integers(len(candidates)))
    if method == "euclidean":
        places = mesh.vertices[candidates]
        order = _farthest(
            first, count, lambda place: np.linalg.norm(places - places[place], axis=1)
        )
    else:
        graph = edge_graph(mesh)
        order = _farthest(
            first, count, lambda place: distances_from(graph, candidates[[place]])[0, candidates]
        )
    return candidates[order]


def farthest_points(points: np.ndarray, count: int) -> IntArray:
    """(count,) rows of (n, 3) points by straight distance, whatever their order.

    The first is the point farthest from the mean.
    """
    first = int(((points - points.mean(axis=0)) ** 2).sum(axis=1).argmax())
    columns = np.ascontiguousarray(points.T)

    def squared(place: int) -> FloatArray:
        x, y, z = columns - columns[:, place, None]
        gaps: FloatArray = x * x + y * y + z * z
        return gaps

    return _farthest(first, count, squared)


def _farthest(first: int, count: int, distances: Callable[[int], FloatArray]) -> IntArray:
    """(count,) places, each next one the farthest from those before; (n,) distances from one."""
    chosen, nearest = [first], np.array(np.inf)
    while len(chosen) < count:
        nearest = np.minimum(nearest, distances(chosen[-1]))
        nearest[chosen[-1]] = -1.0  # never twice, even where places coincide
        chosen.append(int(nearest.argmax()))
    return np.array(chosen)
