"""The recipe of preset `default`: distances guide, geometry bends, the operator proposes.

1. Distances to the anchors, orientation and relief give a first dense map (`distance_evidence`);
   anchors that contradict the others are named and left out, different units and opposite
   orientations are found and undone (`comparable`).
2. The partial surface is bent onto the full one from that map (`bending`), and from a warp of space
   where the pose changes little (`starts`). Anchors that strain it are left out as well, and it is
   bent again (`first_pose`).
3. Where anchors are few, or were found, maps are proposed that see the surface as a whole, and are
   bent as well; the pose that is likeliest to lie right is kept (`second_looks`). As in the paper,
   map and operator help each other: what the bent surface covers is evidence for the neural field,
   the field is the potential of a Hamiltonian, and its eigenfunctions are coordinates in which
   another map is proposed (`spectral_proposal`). And what lies well becomes anchors itself. With
   many anchors bending has nothing left to mend, and nothing is proposed.
4. Where a warp of space does nearly all, the rest is smoothed (`settling`).
5. The region is what the bent surface covers (`coverage`); confidence weighs distances,
   distortion and the proposal (`confidence`), and the chance that the surface lies in the right
   place at all (`placement`).
"""

from __future__ import annotations

import numpy as np

from nho.geometry.coverage import coverage
from nho.geometry.relief import relief, standardised
from nho.geometry.spectrum import Laplacian, laplacian
from nho.operator.spectra import check_size
from nho.problem.preparation import Problem
from nho.problem.solution import Solution, advice_on, status_of
from nho.recipes.guided.comparable import ComparablePair, normalise_pair
from nho.recipes.guided.confidence import confidence, where_to_add
from nho.recipes.guided.first_pose import Pose, first_pose
from nho.recipes.guided.placement import (
    DOUBTFUL,
    anchor_signals,
    chance_of_right_place,
    doubts_of,
    placement_signals,
)
from nho.recipes.guided.second_looks import SecondLooks
from nho.recipes.guided.settling import settled
from nho.recipes.guided.starts import Curvatures
from nho.runtime.run import Run
from nho.settings import GuidedRecipe


def solve(problem: Problem, run: Run) -> Solution:
    """Region, map and confidence from distances, bending and operator in turn."""
    check_size(problem.partial.mesh, problem.full.mesh)
    recipe = run.recipe(GuidedRecipe)
    with run.stage("distances"):
        pair = normalise_pair(problem, recipe, run.pool)
        laplacians, curvatures = _laplacians_and_relief(pair, run)
    first = first_pose(pair, curvatures, run)
    pair, bending = first.pair, first.bending
    looks = SecondLooks(problem, first, laplacians, curvatures, run)
    looks.take()
    pose, partial, full = looks.pose, pair.partial, pair.full
    if recipe.bend and recipe.start != "distances":
        with run.clock.time("bending"):
            positions = settled(pose.positions, pair, bending, laplacians[0])
            if positions is not pose.positions:
                looks.pose = pose = Pose(positions, pose.start, bending.read_off(positions))
    with run.clock.time("region"):
        covered = coverage(partial, pose.points.positions(full), full)
    with run.clock.time("confidence"):
        found = looks.signals
        trust = confidence(found, recipe.pin_anchors)
        next_anchor = where_to_add(trust, pair.distances, partial)
        place, chance, doubts = None, 1.0, []
        if curvatures is not None and recipe.bend:
            place = placement_signals(partial, full, pose.points, curvatures)
            if recipe.pin_anchors:
                orientation = pair.orientation
                if orientation is None:  # it was not wanted for the map
                    orientation = pair.distances.orientation(partial, full, run.pool)
                told = anchor_signals(pair.distances, orientation)
                place = np.concatenate([place, told])
            chance, doubts = chance_of_right_place(place), doubts_of(place)
    return Solution(
        points=pose.points,
        confidence=chance * trust,
        region_score=covered.score(),
        region_is_coverage=True,
        settings=run.settings,
        status=status_of([*(DOUBTFUL for _ in doubts), *looks.troubles]),
        warnings=(
            *doubts,
            *advice_on(looks.troubles),
            *pair.warnings,
            *pair.named_suspects(problem),
        ),
        notes=(*pair.notes, *looks.notes),
        curves={**({"bending": first.course} if first.course else {}), **looks.curves},
        suspects=pair.suspects,
        scale=pair.scale,
        next_anchor=next_anchor,
        signals=found,
        chance=chance,
        placement=place,
    )


def _laplacians_and_relief(
    pair: ComparablePair, run: Run
) -> tuple[tuple[Laplacian, Laplacian], Curvatures | None]:
    """Laplacians of both shapes, and their relief if it is wanted."""
    recipe = run.recipe(GuidedRecipe)
    meshes = (pair.partial, pair.full)
    tasks = [lambda mesh=mesh: laplacian(mesh, recipe.laplacian) for mesh in meshes]
    of_partial, of_full = laplacians = run.pool.together(*tasks)
    if not recipe.relief:
        return (of_partial, of_full), None
    both = zip(meshes, laplacians, strict=True)
    reliefs = run.pool.together(*[lambda each=each: relief(*each) for each in both])
    return (of_partial, of_full), standardised(*reliefs)
