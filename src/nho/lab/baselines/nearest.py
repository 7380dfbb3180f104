"""Plain nearest neighbours: lay the partial shape on the full one, take the closest points.

The anchors fix the similarity. It is right for rigid shapes, and shows what a change of pose costs.
Methods that bend the partial shape begin and end here: with `placed` and with `read_off`.
"""

from __future__ import annotations

import numpy as np

from nho.errors import InputError
from nho.geometry.alignment import similarity
from nho.geometry.mesh import FloatArray
from nho.geometry.surface import project
from nho.lab.baselines.readout import solution_of
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run


def solve(problem: Problem, run: Run) -> Solution:
    """Closest points on the full surface after a similarity from the anchors."""
    with run.stage("nearest"):
        positions, scale = placed(problem)
        return read_off(problem, run, positions, scale)


def placed(problem: Problem) -> tuple[FloatArray, float]:
    """(n_partial, 3) partial vertices after the similarity that fits the anchors; its scale."""
    partial, full = problem.partial.mesh, problem.full.mesh
    start, goal = partial.vertices[problem.anchors[:, 0]], full.vertices[problem.anchors[:, 1]]
    scale, rotation, shift = similarity(start, goal)
    return scale * partial.vertices @ rotation.T + shift, scale


def read_off(problem: Problem, run: Run, positions: np.ndarray, scale: float) -> Solution:
    """The points of the full surface closest to where the partial vertices are now."""
    if not np.isfinite(positions).all():
        raise InputError(
            f"{problem.partial.mesh.name}: the method found no finite positions; use more anchors, "
            "or another method"
        )
    points, _ = project(problem.full.mesh, positions)
    return solution_of(problem, points, run.settings, scale)
