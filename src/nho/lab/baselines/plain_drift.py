"""Thin-plate spline of the anchors, then coherent point drift as pycpd has it.

pycpd 2 knows no landmarks, so the anchors enter by the spline alone; and it holds a few dense
matrices of all points, so points are sampled and the others carried along by its own smoothing.
What of the full shape lies far from the part has no partner and would pull the part apart: it is
left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from nho.geometry.sampling import farthest_points
from nho.lab.baselines.nearest import placed, read_off
from nho.lab.baselines.packages import failures_in_words
from nho.lab.baselines.spline import splined
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run

_POINTS = 1000  # of either shape, at most
_NEAR = 3.0  # mean edges of the full shape: what is farther from the part is left out
_ALPHA, _BETA = 2.0, 0.3  # weight and width of the smoothing, at unit root mean square radius
_OUTLIERS = 0.1


def solve(problem: Problem, run: Run) -> Solution:
    """Closest points after the drift."""
    positions, scale = placed(problem)
    with run.stage("spline"):
        positions = splined(problem, positions)
    with run.stage("drift"), failures_in_words("pycpd", problem.partial.mesh.name):
        positions = _drifted(problem, positions)
    return read_off(problem, run, positions, scale)


def _drifted(problem: Problem, positions: np.ndarray) -> np.ndarray:
    from pycpd import DeformableRegistration

    full = problem.full.mesh
    near, _ = cKDTree(positions).query(full.vertices)
    others = full.vertices[near < _NEAR * full.mean_edge_length]
    centre = positions.mean(axis=0)
    unit = np.sqrt(((positions - centre) ** 2).sum(axis=1).mean())
    every, target = (positions - centre) / unit, (others - centre) / unit
    chosen = farthest_points(every, min(_POINTS, len(every)))
    target = target[farthest_points(target, min(_POINTS, len(target)))]
    gaps = np.asarray(cKDTree(target).query(every[chosen])[0])
    register: Any = DeformableRegistration
    fitted = register(
        X=target,
        Y=every[chosen],
        sigma2=float((gaps**2).mean() / 3),  # that of its own choice is as large as the part
        alpha=_ALPHA,
        beta=_BETA,
        w=_OUTLIERS,
        tolerance=1e-8,
    )
    fitted.register()
    kernel = np.exp(-cdist(every, every[chosen], "sqeuclidean") / (2 * _BETA**2))
    moved: np.ndarray = unit * (every + kernel @ fitted.W) + centre
    return moved
