"""Anchors that were found may lay the partial shape in several places: all of them are judged.

A search on coarse surfaces cannot always tell left from right, or front from back. So its best
placements are solved on the meshes themselves, the likeliest is the answer, and the others are kept
as alternatives to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nho.geometry.mesh import Mesh
from nho.pipeline.multiresolution import solve_at_size
from nho.problem.anchors import Anchors
from nho.problem.preparation import Problem, prepare
from nho.problem.solution import Solution, Solver
from nho.recipes.guided.placement import DOUBTFUL, DOUBTFUL_BELOW, score_of
from nho.runtime.run import Run
from nho.settings import GuidedRecipe

_SAME = 0.05  # sqrt(area): answers whose images are nearer on average lie in the same place
_CLOSE = 0.5  # of the best chance: a rival above it makes the answer doubtful
_MENTIONED = 0.05  # chance from which an alternative is worth a sentence
_KEPT = 0.01  # and from which it is worth keeping


@dataclass(frozen=True)
class Placed:
    """A problem, which differs from its rivals by the anchors, and its solution."""

    problem: Problem
    solution: Solution


def solved_by_found(
    rivals: Sequence[Anchors],
    meshes: tuple[Mesh, Mesh],
    warnings: list[str],
    run: Run,
    solver: Solver,
) -> list[Placed]:
    """Solutions by sets of found anchors, the likeliest first.

    Confidence in each is multiplied by its chance among them, and what is less likely than not is
    called doubtful. The recipe of the paper does not judge places: it solves by the first set.
    """
    guided = isinstance(run.settings.recipe, GuidedRecipe)
    if guided:  # what was found is a little off, so it leads to the first map and pins nothing
        run = run.with_settings(run.settings.replace(pin_anchors=False))
    placed = []
    for anchors in rivals[: None if guided else 1]:
        with run.clock.time("prepare"):
            problem = prepare(*meshes, anchors, keep_loose=guided).with_warnings(warnings)
        placed.append(Placed(problem, solve_at_size(problem, run, solver)))
        run = run.quiet()  # bars do not run backwards
    return _weighed(placed)


def _weighed(placed: list[Placed]) -> list[Placed]:
    """The likeliest first, of each place one, with its chance among them."""
    order = sorted(placed, key=lambda each: -score_of(each.solution.placement))
    places: list[Placed] = []
    for each in order:
        if all(_apart(each, other) > _SAME for other in places):
            places.append(each)
    scores = np.array([score_of(each.solution.placement) for each in places])
    share = np.exp(scores - scores.max())
    share /= share.sum()
    first, *others = (_with_share(*each) for each in zip(places, share.tolist(), strict=True))
    others = [each for each in others if each.solution.chance > _KEPT]
    if not others or others[0].solution.chance < _MENTIONED:
        return [first, *others]
    return [_told_of(first, others[0].solution.chance), *others]


def _apart(one: Placed, other: Placed) -> float:
    """Mean distance between the images of two solutions; infinite if no vertex has both."""
    full = one.problem.full.given
    of_one, of_other = (each.problem.given_points(each.solution.points) for each in (one, other))
    both = np.flatnonzero((of_one.face >= 0) & (of_other.face >= 0))
    if not len(both):
        return np.inf
    away = of_one[both].positions(full) - of_other[both].positions(full)
    return float(np.linalg.norm(away, axis=1).mean() / np.sqrt(full.area))


def _with_share(placed: Placed, share: float) -> Placed:
    solution = placed.solution
    weighed = replace(
        solution, confidence=share * solution.confidence, chance=share * solution.chance
    )
    return replace(placed, solution=weighed)


def _told_of(placed: Placed, other: float) -> Placed:
    """The same, its warnings headed by one about a rival of some chance."""
    solution = placed.solution
    warning = (
        f"another placement of the partial shape is likely, too (chance {other:.2f} against "
        f"{solution.chance:.2f}), as when left and right or front and back are hard to tell apart: "
        "see the alternatives in the result; three anchors decide it"
    )
    status = solution.status
    close = solution.chance < DOUBTFUL_BELOW or other > _CLOSE * solution.chance
    if close and DOUBTFUL not in status:
        status = DOUBTFUL if status == "ok" else f"{DOUBTFUL}; {status}"
    return replace(
        placed, solution=replace(solution, status=status, warnings=(warning, *solution.warnings))
    )
