"""Distances to the anchors, ZoomOut, then as-rigid-as-possible onto the full surface.

The partial surface starts at its images and is relaxed by 30 local-global iterations; closest
points are soft targets of rising weight and the anchors are held.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.closest import FacingSearch
from nho.geometry.elastic import Elastic
from nho.geometry.surface import SurfacePoints
from nho.lab.baselines.anchor_distance import distance_map
from nho.lab.baselines.readout import answer_of
from nho.lab.baselines.zoomout import zoomed_map
from nho.problem.preparation import Problem
from nho.problem.solution import Answer
from nho.progress import Progress, ProgressCallback
from nho.runtime.parallel import Workers
from nho.runtime.stopwatch import Stopwatch
from nho.settings import Settings

# Weights in units of the mean diagonal of the elastic Laplacian.
_PULLS = np.linspace(0.02, 0.3, 30)  # of the closest points, one an iteration
_HOLD = 100.0  # of the anchors: as good as fixed


def solve(
    problem: Problem,
    settings: Settings,
    pool: Workers,
    clock: Stopwatch,
    progress: ProgressCallback,
) -> Answer:
    """Closest points of the relaxed surface."""
    target = distance_map(problem, pool, clock, progress)
    target = zoomed_map(problem, target, settings, pool, clock, progress)
    with clock.time("bending"):
        points = relaxed(problem, target, progress)
    return answer_of(problem, points, settings)


def relaxed(problem: Problem, target: np.ndarray, progress: ProgressCallback) -> SurfacePoints:
    """Points on the full shape, one per partial vertex, after relaxing the image of a map."""
    full = problem.full.mesh
    elastic, closest_points = Elastic(problem.partial.mesh), FacingSearch(full)
    held, goal = problem.anchors[:, 0], full.vertices[problem.anchors[:, 1]]
    positions = full.vertices[target]
    for number, pull in enumerate(_PULLS, start=1):
        _, goals = closest_points(positions)
        weights = np.full(len(positions), pull * elastic.unit)
        goals[held], weights[held] = goal, _HOLD * elastic.unit
        right = elastic.local_step(positions) + weights[:, None] * goals
        positions = elastic.solver(weights).solve(right)
        progress(Progress("bending", number, len(_PULLS)))
    return closest_points(positions)[0]
