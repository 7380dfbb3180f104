"""Region and confidence of a baseline, the same simple way for all of them."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import dijkstra

from nho.answer import Answer
from nho.geodesics import distances_from, edge_graph
from nho.mesh import Mesh
from nho.problem import Problem
from nho.settings import Settings
from nho.surface import SurfacePoints

_REGION_REACH = 2.0  # mean edges of the full shape by which the image is grown


def answer_of(
    problem: Problem, points: SurfacePoints, settings: Settings, scale: float = 1.0
) -> Answer:
    """The answer of a map: its grown image is the region, nearness to anchors the confidence."""
    partial, full = problem.partial.mesh, problem.full.mesh
    return Answer(
        points=points,
        confidence=nearness(partial, problem.anchors[:, 0]),
        region_score=image_score(full, points.nearest_vertex(full)),
        settings=settings,
        scale=scale,
    )


def image_score(full: Mesh, image: np.ndarray) -> np.ndarray:
    """(n_full,) 0 to 1: one at the image vertices, one half at the reach, along edges."""
    gap = dijkstra(edge_graph(full), directed=False, indices=np.unique(image), min_only=True)
    return 1 / (1 + (gap / (_REGION_REACH * full.mean_edge_length)) ** 2)


def nearness(mesh: Mesh, anchored: np.ndarray) -> np.ndarray:
    """(n,) ``exp(-d / spacing)``: d to the nearest anchor, spacing between anchors (median)."""
    distance = distances_from(edge_graph(mesh), anchored)
    between = distance[:, anchored] + np.diag(np.full(len(anchored), np.inf))
    spacing = float(np.median(between.min(axis=1)))
    if not np.isfinite(spacing):  # anchors on pieces of their own: none has a neighbour
        spacing = np.sqrt(mesh.area)
    return np.exp(-distance.min(axis=0) / spacing)
