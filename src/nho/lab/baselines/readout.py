"""Region and confidence of a baseline, the same simple way for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra

from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.settings import Settings

_REGION_REACH = 2.0  # mean edges of the full shape by which the image is grown


def solution_of(
    problem: Problem, points: SurfacePoints, settings: Settings, scale: float = 1.0
) -> Solution:
    """The answer of a map: its grown image is the region, nearness to anchors the confidence."""
    partial, full = problem.partial.mesh, problem.full.mesh
    return Solution(
        points=points,
        confidence=nearness(partial, problem.anchors[:, 0]),
        region_score=image_score(full, points.nearest_vertex(full)),
        settings=settings,
        scale=scale,
    )


def solution_without_anchors(
    problem: Problem,
    points: SurfacePoints | None,
    settings: Settings,
    region_score: np.ndarray | None = None,
    confidence: np.ndarray | None = None,
    **more: Any,
) -> Solution:
    """The answer of a method that needs no anchors.

    Parameters
    ----------
    points : SurfacePoints or None
        One per partial vertex; None for a method that finds the region alone.
    region_score : (n_full,) float array, optional
        The grown image of the map if not given.
    confidence : (n_partial,) float array, optional
        One half everywhere if the method has nothing to say about it, and 0 without a map.
    more : further fields of `Solution`
    """
    count = problem.partial.mesh.n_vertices
    if points is None:
        points = SurfacePoints.none(count)
        confidence = np.zeros(count)
    if region_score is None:
        full = problem.full.mesh
        region_score = image_score(full, points.nearest_vertex(full))
    if confidence is None:
        confidence = np.full(count, 0.5)
    return Solution(points, confidence, region_score, settings, **more)


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
    near: np.ndarray = np.exp(-distance.min(axis=0) / spacing)
    return near
