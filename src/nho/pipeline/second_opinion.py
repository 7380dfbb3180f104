"""Few anchors that seem to lay the partial shape in a wrong place: ask the search for anchors.

Three right anchors must never be worse than none. So where the answer is in doubt, anchors are
sought as if there were none, and the likeliest of their answers that agrees with the anchors given
is taken if its place is the likelier one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nho.geometry.mesh import Mesh
from nho.pipeline.automatic_anchors import AUTO, found_rivals
from nho.pipeline.rivals import Placed, solved_by_found
from nho.problem.solution import Solver
from nho.recipes.guided.placement import DOUBTFUL_BELOW
from nho.runtime.run import Run
from nho.settings import GuidedRecipe

_AGREES = 0.1  # sqrt(area): median distance between given partners and where the other answer is


def second_opinion(
    given: Placed, meshes: tuple[Mesh, Mesh], run: Run, solver: Solver
) -> list[Placed]:
    """What the given anchors lead to, or what anchors do that were found without a person.

    ``meshes`` are the two shapes as given.
    """
    recipe, problem = run.settings.recipe, given.problem
    if not isinstance(recipe, GuidedRecipe) or given.solution.chance >= DOUBTFUL_BELOW:
        return [given]
    if len(problem.given_anchors) >= recipe.many_anchors:
        return [given]
    with run.clock.time("anchors"):
        rivals = found_rivals(AUTO, *meshes, run)
    # Rivals do not count here: the given anchors have decided between them.
    found = [solved_by_found([each], meshes, [], run.quiet(), solver)[0] for each in rivals]
    agreeing = [each for each in found if _apart(given, each) <= _AGREES]
    best = max(agreeing, key=lambda each: each.solution.chance, default=given)
    if best.solution.chance <= given.solution.chance:
        warning = (
            "a search without the given anchors lays the partial shape elsewhere, or no better: "
            "check the anchors, or compare with --anchors auto"
        )
        warnings = (*given.solution.warnings, warning)
        return [replace(given, solution=replace(given.solution, warnings=warnings))]
    note = (
        f"the {len(problem.given_anchors)} anchors given were too few; further ones were found, "
        "which agree with them"
    )
    solution = replace(
        best.solution,
        notes=(note, *best.solution.notes),
        suspects=np.empty(0, dtype=np.int64),
    )
    other = replace(
        best.problem,
        given_anchors=problem.given_anchors,
        anchor_names=problem.anchor_names,
        notes=problem.notes,
        warnings=problem.warnings,
    )
    return [Placed(other, solution)]


def _apart(given: Placed, found: Placed) -> float:
    """Median distance from the partners of the given anchors to their images in the other answer.

    Infinite if none of them has one.
    """
    own, partner = given.problem.given_anchors.T
    other, full = found.problem, found.problem.full.mesh
    rows, goals = other.partial.solver_of_given[own], other.full.solver_of_given[partner]
    known = (rows >= 0) & (goals >= 0)
    if not known.any():
        return np.inf
    images = found.solution.points[rows[known]].positions(full)
    return float(np.median(np.linalg.norm(images - full.vertices[goals[known]], axis=1)))
