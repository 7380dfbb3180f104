"""Lay one set of points onto another: the similarity of least squares (Umeyama 1991)."""

from __future__ import annotations

import numpy as np


def similarity(start: np.ndarray, goal: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Scale s, rotation R (3, 3) and shift t (3,) that minimise ``|s R start + t - goal|^2``.

    No reflection.
    """
    start_centre, goal_centre = start.mean(axis=0), goal.mean(axis=0)
    u, strength, vt = np.linalg.svd((goal - goal_centre).T @ (start - start_centre))
    signs = np.array([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    rotation = (u * signs) @ vt
    scale = float(strength @ signs / ((start - start_centre) ** 2).sum())
    return scale, rotation, goal_centre - scale * rotation @ start_centre
