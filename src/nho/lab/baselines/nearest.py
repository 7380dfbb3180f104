"""Plain nearest neighbours: lay the partial shape on the full one, take the closest points.

The anchors fix the similarity. It is right for rigid shapes, and shows what a change of pose costs.
"""

from __future__ import annotations

from nho.geometry.alignment import similarity
from nho.geometry.surface import project
from nho.lab.baselines.readout import solution_of
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run


def solve(problem: Problem, run: Run) -> Solution:
    """Closest points on the full surface after a similarity from the anchors."""
    partial, full = problem.partial.mesh, problem.full.mesh
    start, goal = partial.vertices[problem.anchors[:, 0]], full.vertices[problem.anchors[:, 1]]
    with run.stage("nearest"):
        scale, rotation, shift = similarity(start, goal)
        points, _ = project(full, scale * partial.vertices @ rotation.T + shift)
    return solution_of(problem, points, run.settings, scale)
