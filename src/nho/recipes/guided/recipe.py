"""The recipe of preset `default`: distances guide, geometry bends, the operator proposes.

1. Distances to the anchors, orientation and relief give a first dense map (`distance_evidence`);
   anchors that contradict the others are named and left out, different units and opposite
   orientations are found and undone (`comparable`).
2. The partial surface is bent onto the full one from that map (`bending`), and from a warp of space
   where the pose changes little (`starts`). Anchors that strain it are left out as well, and it is
   bent again. Where a warp of space does nearly all, the rest is smoothed (`settling`).
3. As in the paper, map and operator help each other: what the bent surface covers is evidence for
   the neural field, the field is the potential of a Hamiltonian, and its eigenfunctions are
   coordinates in which another map is proposed (`spectral_proposal`). That map is bent as well,
   round by round, and kept if it is less distorted, so no round makes the answer worse. With many
   anchors bending has nothing left to mend, and nothing is proposed.
4. The region is what the bent surface covers (`coverage`); confidence weighs distances,
   distortion and the proposal (`confidence`), and the chance that the surface lies in the right
   place at all (`placement`).
"""

from __future__ import annotations

import numpy as np

from nho.errors import SolverError
from nho.geometry.coverage import coverage
from nho.geometry.relief import relief, standardised
from nho.geometry.spectrum import Laplacian, laplacian
from nho.geometry.surface import SurfacePoints
from nho.operator.spectra import check_size
from nho.problem.preparation import Problem
from nho.problem.solution import Curve, Solution, advice_on, status_of
from nho.recipes.guided.anchor_checks import strained
from nho.recipes.guided.bending import ITERATIONS, Bending
from nho.recipes.guided.comparable import ComparablePair, normalise_pair
from nho.recipes.guided.confidence import confidence, signals, where_to_add
from nho.recipes.guided.placement import (
    DOUBTFUL,
    chance_of_right_place,
    doubts_of,
    placement_signals,
)
from nho.recipes.guided.settling import settled
from nho.recipes.guided.spectral_proposal import SpectralProposal
from nho.recipes.guided.starts import Curvatures, Start, starts
from nho.runtime.parallel import SERIAL
from nho.runtime.run import Run
from nho.settings import GuidedRecipe

_ATTEMPTS = 4  # bends at most, each with fewer anchors
_RESTART = 2  # gentle phases after a proposal
_SMOOTHING = 60  # rounds of averaging of the distortion that confidence is computed from


def solve(problem: Problem, run: Run) -> Solution:
    """Region, map and confidence from distances, bending and operator in turn."""
    check_size(problem.partial.mesh, problem.full.mesh)
    recipe = run.recipe(GuidedRecipe)
    with run.stage("distances"):
        pair = normalise_pair(problem, recipe, run.pool)
        laplacians, curvatures = _laplacians_and_relief(pair, run)
        tried = starts(pair, curvatures, run)
    pair, bending, target, pose, course = _fit_pose(pair, tried, curvatures, run)
    partial, full, distances = pair.partial, pair.full, pair.distances
    curves = {"bending": course} if course else {}
    proposed, troubles, warnings = target, [], []
    few = len(distances.anchors) < recipe.many_anchors
    if few and recipe.bend and recipe.rounds and recipe.coordinates != "none":
        try:
            with run.stage("spectra"):
                anchored = distances.anchors[:, 1]
                proposal = SpectralProposal((partial, full), laplacians, anchored, run)
        except SolverError as error:  # the bent surface is an answer without it as well
            troubles = [f"no proposal by the operator: {error}"]
        else:
            pose, proposed, curves["rounds"] = _improved(pose, target, bending, proposal, run)
            curves.update(proposal.curves)
            troubles, warnings = proposal.troubles, proposal.warnings
    if recipe.bend and recipe.start != "distances":
        with run.clock.time("bending"):
            pose = settled(pose, pair, bending, laplacians[0])
    with run.clock.time("region"):
        points = bending.read_off(pose) if recipe.bend else SurfacePoints.at_vertices(full, target)
        images = points.positions(full)
        covered = coverage(partial, images, full)
    with run.clock.time("confidence"):
        found = signals(
            distances.to_nearest(partial),
            bending.elastic.distortion(pose, _SMOOTHING),
            np.linalg.norm(full.vertices[target] - images, axis=1),
            np.linalg.norm(full.vertices[proposed] - images, axis=1),
        )
        trust = confidence(found, recipe.pin_anchors)
        next_anchor = where_to_add(trust, distances, partial)
        place, chance, doubts = None, 1.0, []
        if curvatures is not None and recipe.bend:
            place = placement_signals(partial, full, points, curvatures)
            chance, doubts = chance_of_right_place(place), doubts_of(place)
    return Solution(
        points=points,
        confidence=chance * trust,
        region_score=covered.score(),
        region_is_coverage=True,
        settings=run.settings,
        status=status_of([*(DOUBTFUL for _ in doubts), *troubles]),
        warnings=(
            *doubts,
            *advice_on(troubles),
            *pair.notes,
            *pair.named_suspects(problem),
            *warnings,
        ),
        curves=curves,
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


def _fit_pose(
    pair: ComparablePair, tried: list[Start], curvatures: Curvatures | None, run: Run
) -> tuple[ComparablePair, Bending, np.ndarray, np.ndarray, Curve]:
    """Pair, bending, first map, pose bent from it and course of the bending.

    Anchors that the bent surface follows only under strain are left out, and all is done again
    without them.
    """
    recipe = run.recipe(GuidedRecipe)
    for attempt in range(1, _ATTEMPTS + 1):
        with run.clock.time("bending"):
            bending = Bending(
                pair.partial, pair.full, pair.distances, curvatures, recipe.pin_anchors
            )
        target, pose, course = _best_pose(bending, tried, run)
        judging = recipe.bend and recipe.anchor_limit and pair.judging
        if not judging or attempt == _ATTEMPTS:
            break
        with run.clock.time("bending"):
            images = bending.read_off(pose).nearest_vertex(pair.full)
            distortion = bending.elastic.distortion(pose, 4)
            wrong = strained(pair.distances, images, distortion, len(pair.suspects) > 0)
        fewer = pair.without(pair.unconfirmed(wrong), run.pool)
        if fewer is pair:
            break
        pair, run = fewer, run.quiet()  # bars do not run backwards
        with run.stage("distances"):
            tried = starts(pair, curvatures, run)
    return pair, bending, target, pose, course


def _best_pose(
    bending: Bending, tried: list[Start], run: Run
) -> tuple[np.ndarray, np.ndarray, Curve]:
    """The first map, the least distorted of the poses bent from all starts, and its course.

    Another start than the first must lead to a pose that is clearly less distorted.
    """
    if not run.recipe(GuidedRecipe).bend:
        return tried[0].target, bending.images(tried[0].target), []
    courses: list[Curve] = [[] for _ in tried]
    with run.stage("bending", ITERATIONS * len(tried)) as stage:

        def bent(number: int) -> np.ndarray:
            def watch(gap: float) -> None:
                courses[number].append({"gap": gap})
                stage.step()

            start = tried[number]
            return bending.from_map(start.target, pool=pool, watch=watch, relief=start.relief)

        # Side by side if there are several, else by rows: a pool is not shared within itself.
        pool = run.pool if len(tried) == 1 else SERIAL
        if len(tried) == 1:
            return tried[0].target, bent(0), courses[0]
        tasks = [lambda number=number: bent(number) for number in range(len(tried))]
        poses = run.pool.together(*tasks)
        scores = np.array([bending.distortion(pose) for pose in poses])
        scores[0] *= 1 - run.recipe(GuidedRecipe).gain_needed
        best = int(np.argmin(scores))
    return tried[0].target, poses[best], courses[best]


def _improved(
    pose: np.ndarray, target: np.ndarray, bending: Bending, proposal: SpectralProposal, run: Run
) -> tuple[np.ndarray, np.ndarray, Curve]:
    """The pose of least distortion over the rounds, the map proposed for it, and the distortions.

    ``target`` is the map that the pose was bent from. Each round starts from the last one's pose. A
    round without gain ends it, but the first may fail, since the second uses finer coordinates
    only. So does one whose operator cannot be solved.
    """
    recipe = run.recipe(GuidedRecipe)
    best, last, proposed = bending.distortion(pose), pose, target
    curve = [{"distortion": best}]
    for number in range(1, recipe.rounds + 1):
        try:
            with run.clock.time("operator"):
                target = proposal.map(bending, last, number)
        except SolverError as error:
            proposal.troubles.append(f"no proposal by the operator in round {number}: {error}")
            break
        if number == 1:
            proposed = target
        with run.stage(f"round {number}", part_of="bending") as stage:
            last = bending.from_map(target, _RESTART, run.pool)
            score = bending.distortion(last)
            curve.append({"distortion": score})
            stage.step(score)
        if score < (1 - recipe.gain_needed) * best:
            pose, best, proposed = last, score, target
        elif number > 1:
            break
    return pose, proposed, curve
