"""Plain nearest neighbours: lay the partial shape on the full one, take the closest points.

The anchors fix the similarity (rotation, translation, scale; no reflection) of least squares
(Umeyama 1991). It is right for rigid shapes, and shows what a change of pose costs.
"""

from __future__ import annotations

import numpy as np

from nho.answer import Answer
from nho.baselines.readout import answer_of
from nho.parallel import Workers
from nho.problem import Problem
from nho.progress import Progress, ProgressCallback
from nho.settings import Settings
from nho.stopwatch import Stopwatch
from nho.surface import project


def solve(
    problem: Problem,
    settings: Settings,
    pool: Workers,
    clock: Stopwatch,
    progress: ProgressCallback,
) -> Answer:
    """Closest points on the full surface after a similarity from the anchors."""
    partial, full = problem.partial.mesh, problem.full.mesh
    start, goal = partial.vertices[problem.anchors[:, 0]], full.vertices[problem.anchors[:, 1]]
    with clock.time("nearest"):
        scale, rotation, shift = similarity(start, goal)
        points, _ = project(full, scale * partial.vertices @ rotation.T + shift)
        progress(Progress("nearest", 1, 1))
    return answer_of(problem, points, settings, scale)


def similarity(start: np.ndarray, goal: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Scale s, rotation R (3, 3) and shift t (3,) that minimise ``|s R start + t - goal|^2``."""
    start_centre, goal_centre = start.mean(axis=0), goal.mean(axis=0)
    u, strength, vt = np.linalg.svd((goal - goal_centre).T @ (start - start_centre))
    signs = np.array([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    rotation = (u * signs) @ vt
    scale = float(strength @ signs / ((start - start_centre) ** 2).sum())
    return scale, rotation, goal_centre - scale * rotation @ start_centre
