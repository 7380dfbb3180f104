"""Similarity of the anchors, then trimmed point-to-plane ICP: what anyone does with rigid scans.

With the scale of the anchors held, their errors would stay in it, and the part would be shifted
instead: docs/baselines.md has the measurements.
"""

from __future__ import annotations

from nho.geometry.icp import STEPS, aligned_by_icp
from nho.lab.baselines.nearest import placed, read_off
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run


def solve(problem: Problem, run: Run) -> Solution:
    """Closest points after the last step."""
    positions, scale = placed(problem)
    with run.stage("icp", STEPS) as stage:
        positions, growth = aligned_by_icp(positions, problem.full.mesh, watch=stage.step)
    return read_off(problem, run, positions, scale * growth)
