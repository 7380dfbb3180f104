"""Distances to the anchors, nothing else: ten lines that every method should be compared with.

A partial vertex is described by its edge-graph distances to the anchors, a full vertex by its
distances to their partners; near anchors count more, and the nearest row is the match.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.lab.baselines.readout import solution_of
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run

_SIGMA = 0.1  # of the weights, in units of sqrt(area of the full shape)


def solve(problem: Problem, run: Run) -> Solution:
    """The nearest row of distances."""
    target = distance_map(problem, run)
    return solution_of(problem, SurfacePoints.at_vertices(problem.full.mesh, target), run.settings)


def distance_map(problem: Problem, run: Run) -> np.ndarray:
    """(n_partial,) full vertex q of least ``sum_l w_l(p) (d_M(p, l) - d_N(q, l))^2``."""
    with run.stage("distances"):
        own = _distances(problem.partial.mesh, problem.anchors[:, 0])
        other = _distances(problem.full.mesh, problem.anchors[:, 1])
        squares = other**2

        def block(rows: slice) -> np.ndarray:
            here = own[:, rows]
            # Less the least distance: the same order of targets, and no underflow far away.
            weight = np.exp((here.min(axis=0) - here) / _SIGMA)
            cost = weight.T @ squares - 2 * (weight * here).T @ other
            best: np.ndarray = cost.argmin(axis=1)
            return best

        target = np.concatenate(run.pool.over_rows(block, own.shape[1], 512))
    return target


def _distances(mesh: Mesh, vertices: np.ndarray) -> np.ndarray:
    """(m, n) along edges; where there is no path, farther than anything that has one."""
    distance = distances_from(edge_graph(mesh), vertices)
    finite: np.ndarray = np.minimum(distance, 10 * distance[np.isfinite(distance)].max())
    return finite
