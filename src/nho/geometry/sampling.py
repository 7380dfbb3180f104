"""Well-spread vertices of a mesh, as places for anchors (App. F)."""

from __future__ import annotations

import numpy as np

from nho.errors import InputError
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh

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
    graph = edge_graph(mesh)

    def distance(vertex: int) -> np.ndarray:
        if method == "geodesic":
            return distances_from(graph, np.array([vertex]))[0, candidates]
        return np.linalg.norm(mesh.vertices[candidates] - mesh.vertices[vertex], axis=1)

    chosen = [int(random.integers(len(candidates)))]
    nearest = distance(candidates[chosen[0]])
    while len(chosen) < count:
        nearest[chosen] = -1.0  # never twice, even where vertices coincide
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, distance(candidates[chosen[-1]]))
    return candidates[chosen]
