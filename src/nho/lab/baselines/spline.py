"""Thin-plate spline of the anchors (Bookstein 1989), as every morphometrics program has it.

The similarity comes first; the spline then moves every anchor onto its partner and bends what lies
between as little as it can. Nothing draws the surface to the other one but the closest points.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import RBFInterpolator

from nho.errors import InputError
from nho.geometry.mesh import FloatArray
from nho.lab.baselines.nearest import placed, read_off
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run

_FLAT = 1e-6  # thickness of the anchors over their extent; thinner ones lie in a plane


def solve(problem: Problem, run: Run) -> Solution:
    """Closest points after the spline."""
    with run.stage("spline"):
        positions, scale = placed(problem)
        return read_off(problem, run, splined(problem, positions), scale)


def splined(problem: Problem, positions: np.ndarray) -> FloatArray:
    """(n_partial, 3) positions moved by the spline that takes the anchors to their partners."""
    own, other = problem.anchors.T
    start, goal = positions[own], problem.full.mesh.vertices[other]
    extents = np.linalg.svd(start - start.mean(axis=0), compute_uv=False)
    if len(start) < 4 or extents[2] < _FLAT * extents[0]:
        raise InputError(
            f"{problem.partial.mesh.name}: a thin-plate spline needs four anchors that do not lie "
            f"in one plane, and these {len(start)} do; add anchors, or use baseline 'nearest'"
        )
    spline = RBFInterpolator(start, goal - start, kernel="thin_plate_spline")
    moved: FloatArray = positions + spline(positions)
    return moved
