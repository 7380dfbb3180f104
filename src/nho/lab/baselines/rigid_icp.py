"""Similarity of the anchors, then trimmed point-to-plane ICP (Chen and Medioni 1992).

What anyone does with rigid scans. Each step pairs the vertices with their closest points, drops
the farthest fifth (Chetverikov et al. 2002) and takes the similarity that brings the rest onto the
planes of their triangles. With the scale of the anchors held, their errors would stay in it, and
the part would be shifted instead: docs/baselines.md has the measurements.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from nho.geometry.closest import FacingSearch
from nho.geometry.mesh import FloatArray, Mesh
from nho.lab.baselines.nearest import placed, read_off
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run, Stage

_STEPS = 30
_KEPT = 0.8  # share of the pairs that count
_OPEN = 1e-6  # share of the largest singular value below which a motion is left open


def solve(problem: Problem, run: Run) -> Solution:
    """Closest points after the last step."""
    positions, scale = placed(problem)
    with run.stage("icp", _STEPS) as stage:
        positions, growth = aligned(positions, problem.full.mesh, stage)
    return read_off(problem, run, positions, scale * growth)


def aligned(positions: FloatArray, full: Mesh, stage: Stage) -> tuple[FloatArray, float]:
    """(n, 3) positions after similarities onto the surface, and how much they grew."""
    growth = 1.0
    closest_points = FacingSearch(full)
    for _ in range(_STEPS):
        points, goals = closest_points(positions)
        away = goals - positions
        distance = np.linalg.norm(away, axis=1)
        kept = distance <= np.quantile(distance, _KEPT)
        normals = full.face_normals[points.face[kept]]
        centre = positions[kept].mean(axis=0)
        arms = positions[kept] - centre
        growing = (arms * normals).sum(axis=1, keepdims=True)
        equations = np.concatenate([np.cross(arms, normals), normals, growing], axis=1)
        gaps = (away[kept] * normals).sum(axis=1)
        # Least norm: what the planes leave open, as on a ball, does not move.
        motion = np.linalg.lstsq(equations, gaps, rcond=_OPEN)[0]
        factor = float(np.exp(motion[6]))
        rotated = Rotation.from_rotvec(motion[:3]).apply(positions - centre)
        positions, growth = factor * rotated + centre + motion[3:6], factor * growth
        stage.step()
    return positions, growth
