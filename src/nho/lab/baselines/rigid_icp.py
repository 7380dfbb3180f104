"""Similarity of the anchors, then trimmed point-to-plane ICP (Chen and Medioni 1992).

What anyone does with rigid scans. Each step pairs the vertices with their closest points, drops
the farthest fifth (Chetverikov et al. 2002) and takes the rotation and shift that bring the rest
onto the planes of their triangles. The scale stays that of the anchors: a part that is nearly flat
could shrink at no cost.
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


def solve(problem: Problem, run: Run) -> Solution:
    """Closest points after the last step."""
    positions, scale = placed(problem)
    with run.stage("icp", _STEPS) as stage:
        positions = aligned(positions, problem.full.mesh, stage)
    return read_off(problem, run, positions, scale)


def aligned(positions: FloatArray, full: Mesh, stage: Stage) -> FloatArray:
    """(n, 3) positions after rotations and shifts onto the surface."""
    closest_points = FacingSearch(full)
    for _ in range(_STEPS):
        points, goals = closest_points(positions)
        away = goals - positions
        distance = np.linalg.norm(away, axis=1)
        kept = distance <= np.quantile(distance, _KEPT)
        normals = full.face_normals[points.face[kept]]
        centre = positions[kept].mean(axis=0)
        arms = np.cross(positions[kept] - centre, normals)
        gaps = (away[kept] * normals).sum(axis=1)
        # Least norm: what the planes leave open, as on a ball, does not move.
        motion = np.linalg.lstsq(np.concatenate([arms, normals], axis=1), gaps, rcond=1e-6)[0]
        turned = Rotation.from_rotvec(motion[:3]).apply(positions - centre)
        positions = turned + centre + motion[3:]
        stage.step()
    return positions
