"""Trimmed point-to-plane ICP (Chen and Medioni 1992, Chetverikov et al. 2002).

Each step pairs points with their closest ones on a surface, drops the farthest and takes the motion
that brings the rest onto the planes of their triangles.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

from nho.geometry.closest import FacingSearch
from nho.geometry.mesh import FloatArray, Mesh

STEPS = 30
_KEPT = 0.8  # share of the pairs that count
_OPEN = 1e-6  # share of the largest singular value below which a motion is left open


def aligned_by_icp(
    positions: FloatArray,
    surface: Mesh,
    growing: bool = True,
    asked: np.ndarray | None = None,
    watch: Callable[[], None] = lambda: None,
    steps: int = STEPS,
) -> tuple[FloatArray, float]:
    """(n, 3) positions after motions onto a surface, and the factor by which they grew.

    Parameters
    ----------
    growing : bool
        Similarities; rigid motions if not.
    asked : int array, optional
        The points that are paired; all if not given.
    watch : callable
        Called after every step.
    """
    growth = 1.0
    closest_points = FacingSearch(surface)
    asked = np.arange(len(positions)) if asked is None else asked
    for _ in range(steps):
        own = positions[asked]
        points, goals = closest_points(own)
        away = goals - own
        distance = np.linalg.norm(away, axis=1)
        kept = distance <= np.quantile(distance, _KEPT)
        normals = surface.face_normals[points.face[kept]]
        centre = own[kept].mean(axis=0)
        arms = own[kept] - centre
        equations = [np.cross(arms, normals), normals]
        if growing:
            equations.append((arms * normals).sum(axis=1, keepdims=True))
        gaps = (away[kept] * normals).sum(axis=1)
        # Least norm: what the planes leave open, as on a ball, does not move.
        motion = np.linalg.lstsq(np.concatenate(equations, axis=1), gaps, rcond=_OPEN)[0]
        factor = float(np.exp(motion[6])) if growing else 1.0
        rotated = Rotation.from_rotvec(motion[:3]).apply(positions - centre)
        positions, growth = factor * rotated + centre + motion[3:6], factor * growth
        watch()
    return positions, growth
