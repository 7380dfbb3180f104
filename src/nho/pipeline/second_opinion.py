"""Few anchors that seem to lay the partial shape in a wrong place: ask the search for anchors.

Three right anchors must never be worse than none. So where the answer is in doubt, anchors are
sought as if there were none, and their answer is taken if its place is the likelier one and it
agrees with the anchors given.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nho.geometry.mesh import Mesh
from nho.pipeline.automatic_anchors import AUTO, found_anchors
from nho.pipeline.multiresolution import solve_at_size
from nho.problem.preparation import Problem, prepare
from nho.problem.solution import Solution, Solver
from nho.recipes.guided.placement import DOUBTFUL_BELOW
from nho.runtime.run import Run
from nho.settings import GuidedRecipe

_AGREES = 0.1  # sqrt(area): median distance between given partners and where the other answer is


def second_opinion(
    problem: Problem, solution: Solution, meshes: tuple[Mesh, Mesh], run: Run, solver: Solver
) -> tuple[Problem, Solution]:
    """The problem and its solution, or those of anchors that were found without a person.

    ``meshes`` are the two shapes as given.
    """
    recipe = run.settings.recipe
    if not isinstance(recipe, GuidedRecipe) or solution.chance >= DOUBTFUL_BELOW:
        return problem, solution
    if len(problem.given_anchors) >= recipe.many_anchors:
        return problem, solution
    with run.clock.time("anchors"):
        found = found_anchors(AUTO, *meshes, run.settings, run.progress)
    other = prepare(*meshes, found, keep_loose=True)
    unpinned = run.settings.replace(pin_anchors=False)  # what was found is a little off
    proposed = solve_at_size(other, run.quiet().with_settings(unpinned), solver)
    if proposed.chance <= solution.chance or _apart(problem, other, proposed) > _AGREES:
        note = (
            "a search without the given anchors lays the partial shape elsewhere, or no better: "
            "check the anchors, or compare with --anchors auto"
        )
        return problem, replace(solution, warnings=(*solution.warnings, note))
    note = (
        f"the {len(problem.given_anchors)} anchors given were too few; further ones were found, "
        "which agree with them"
    )
    other = replace(other, given_anchors=problem.given_anchors, warnings=problem.warnings)
    return other, replace(
        proposed, warnings=(note, *proposed.warnings), suspects=np.empty(0, dtype=np.int64)
    )


def _apart(problem: Problem, other: Problem, proposed: Solution) -> float:
    """Median distance from the partners of the given anchors to their images in the other answer.

    Infinite if none of them has one.
    """
    own, partner = problem.given_anchors.T
    full = other.full.mesh
    rows, goals = other.partial.solver_of_given[own], other.full.solver_of_given[partner]
    known = (rows >= 0) & (goals >= 0)
    if not known.any():
        return np.inf
    images = proposed.points[rows[known]].positions(full)
    return float(np.median(np.linalg.norm(images - full.vertices[goals[known]], axis=1)))
