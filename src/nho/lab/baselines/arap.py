"""Distances to the anchors, ZoomOut, then as-rigid-as-possible onto the full surface.

The partial surface starts at its images and is relaxed by 30 local-global iterations; closest
points are soft targets of rising weight and the anchors are pinned.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.closest import FacingSearch
from nho.geometry.elastic import Elastic
from nho.geometry.surface import SurfacePoints
from nho.lab.baselines.anchor_distance import distance_map
from nho.lab.baselines.readout import solution_of
from nho.lab.baselines.zoomout import zoomed_map
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run, Stage

# Weights in units of the mean diagonal of the elastic Laplacian.
_PULLS = np.linspace(0.02, 0.3, 30)  # of the closest points, one an iteration
_PIN = 100.0  # of the anchors: as good as fixed


def solve(problem: Problem, run: Run) -> Solution:
    """Closest points of the relaxed surface."""
    target = distance_map(problem, run)
    target = zoomed_map(problem, target, run)
    with run.stage("bending", len(_PULLS)) as stage:
        points = relaxed(problem, target, stage)
    return solution_of(problem, points, run.settings)


def relaxed(problem: Problem, target: np.ndarray, stage: Stage) -> SurfacePoints:
    """Points on the full shape, one per partial vertex, after relaxing the image of a map."""
    full = problem.full.mesh
    elastic, closest_points = Elastic(problem.partial.mesh), FacingSearch(full)
    pinned, goal = problem.anchors[:, 0], full.vertices[problem.anchors[:, 1]]
    positions = full.vertices[target]
    for pull in _PULLS:
        _, goals = closest_points(positions)
        weights = np.full(len(positions), pull * elastic.unit)
        goals[pinned], weights[pinned] = goal, _PIN * elastic.unit
        right = elastic.local_step(positions) + weights[:, None] * goals
        positions = elastic.solver(weights).solve(right)
        stage.step()
    return closest_points(positions)[0]
