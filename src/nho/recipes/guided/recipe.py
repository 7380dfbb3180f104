"""The recipe of preset `default`: distances guide, geometry bends, the operator looks again.

1. Distances to the anchors, orientation and relief give a first dense map (`distance_evidence`);
   anchors that contradict the others are named and left out, different units and opposite
   orientations are found and undone (`common_ground`).
2. The partial surface is bent onto the full one from that map (`bending`). Anchors that strain it
   are left out as well, and it is bent again.
3. As in the paper, map and operator help each other: what the bent surface covers is evidence for
   the neural field, the field is the potential of a Hamiltonian, its eigenfunctions are
   coordinates for a second look at the whole map (`second_look`). The new map is bent as well,
   round by round, and kept if it is less distorted, so no round makes the answer worse. With many
   anchors bending has nothing left to mend, and there is no second look.
4. The region is what the bent surface covers (`coverage`); confidence weighs distances,
   distortion and the second look (`confidence`).
"""

from __future__ import annotations

import numpy as np

from nho.errors import SolverError
from nho.geometry.alignment import similarity
from nho.geometry.coverage import coverage
from nho.geometry.relief import relief, standardised
from nho.geometry.spectrum import Laplacian, laplacian
from nho.geometry.surface import SurfacePoints, project
from nho.operator.spectra import fit_to_size
from nho.problem.preparation import Problem
from nho.problem.solution import Answer, advice_on, status_of
from nho.progress import Progress, ProgressCallback, ignore
from nho.recipes.guided.anchor_checks import strained
from nho.recipes.guided.bending import Bending
from nho.recipes.guided.comparable import CommonGround, common_ground
from nho.recipes.guided.confidence import confidence, signals, where_to_add
from nho.recipes.guided.distance_evidence import first_map
from nho.recipes.guided.spectral_proposal import SecondLook
from nho.runtime.parallel import Workers
from nho.runtime.stopwatch import Stopwatch
from nho.settings import Settings

Looks = tuple[np.ndarray, np.ndarray]  # relief of the partial and of the full shape

_ATTEMPTS = 4  # bends at most, each with fewer anchors
_RESTART = 2  # gentle phases after a second look
_SMOOTHING = 60  # rounds of averaging of the distortion that confidence looks at


def solve(
    problem: Problem,
    settings: Settings,
    pool: Workers,
    clock: Stopwatch,
    progress: ProgressCallback,
) -> Answer:
    """Region, map and confidence from distances, bending and operator in turn."""
    settings, warnings = fit_to_size(settings, problem.partial.mesh, problem.full.mesh)
    with clock.time("distances"):
        progress(Progress("distances", 0, 1))
        ground = common_ground(problem, settings, pool)
        operators, looks = _operators_and_relief(ground, settings, pool)
    ground, bending, target, pose = _laid(ground, looks, settings, pool, clock, progress)
    partial, full, distances = ground.partial, ground.full, ground.distances
    curve = [{"distortion": bending.distortion(pose)}]
    curves = {"bending": curve}
    looked, troubles = target, []
    few = len(distances.anchors) < settings.many_anchors
    if few and settings.bend and settings.rounds and settings.coordinates != "none":
        try:
            with clock.time("spectra"):
                progress(Progress("spectra", 0, 1))
                anchored = distances.anchors[:, 1]
                look = SecondLook((partial, full), operators, anchored, settings, pool, progress)
                progress(Progress("spectra", 1, 1))
            pose, looked = _looked_at_again(pose, bending, look, curve, clock)
            curves.update(look.curves)
            troubles += look.troubles
        except SolverError as failure:  # the bent surface is an answer without it as well
            troubles.append(f"no second look: {failure}")
    with clock.time("region"):
        points = (
            bending.read_off(pose) if settings.bend else SurfacePoints.at_vertices(full, target)
        )
        images = points.positions(full)
        covered = coverage(partial, images, full)
    with clock.time("confidence"):
        told = signals(
            distances,
            bending.elastic.distortion(pose, _SMOOTHING),
            np.linalg.norm(full.vertices[target] - images, axis=1),
            np.linalg.norm(full.vertices[looked] - images, axis=1),
        )
        trust = confidence(told, settings.hold_anchors)
        next_anchor = where_to_add(trust, distances, partial)
    return Answer(
        points=points,
        confidence=trust,
        region_score=covered.score(),
        settings=settings,
        status=status_of(troubles),
        warnings=(*warnings, *ground.named_suspects(problem), *ground.notes, *advice_on(troubles)),
        curves=curves,
        suspects=ground.suspects,
        scale=ground.scale,
        next_anchor=next_anchor,
        signals=told,
    )


def _laid(
    ground: CommonGround,
    looks: Looks | None,
    settings: Settings,
    pool: Workers,
    clock: Stopwatch,
    progress: ProgressCallback,
) -> tuple[CommonGround, Bending, np.ndarray, np.ndarray]:
    """The first map and the pose bent from it, by anchors that the bent surface does not deny.

    Anchors it follows only under strain are left out, and all is done again without them.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        with clock.time("distances"):
            targets = _first_maps(ground, settings, looks, pool)
            progress(Progress("distances", 1, 1))
        hold = settings.hold_anchors
        bending = Bending(ground.partial, ground.full, ground.distances, looks, hold)
        with clock.time("bending"):
            target, pose = _bent(bending, targets, settings, pool, progress)
            judging = settings.bend and settings.anchor_limit and ground.judging
            if not judging or attempt == _ATTEMPTS:
                break
            images = bending.read_off(pose).nearest_vertex(ground.full)
            bent = bending.elastic.distortion(pose, 4)
            wrong = strained(ground.distances, images, bent, len(ground.suspects) > 0)
        fewer = ground.without(wrong, pool)
        if fewer is ground:
            break
        ground, progress = fewer, ignore  # bars do not run backwards
    return ground, bending, target, pose


def _first_maps(
    ground: CommonGround, settings: Settings, looks: Looks | None, pool: Workers
) -> list[np.ndarray]:
    """Vertex maps to bend from, of which the best will be kept.

    Relief may mislead where there are few anchors and the shapes are unlike each other, so the map
    without it is tried as well.
    """
    partial, full, distances = ground.partial, ground.full, ground.distances
    if settings.start == "similarity":
        from_anchor, to_anchor = distances.anchors.T
        scale, rotation, shift = similarity(partial.vertices[from_anchor], full.vertices[to_anchor])
        laid = scale * partial.vertices @ rotation.T + shift
        return [project(full, laid)[0].nearest_vertex(full)]
    calibrate, turn = settings.calibrate_distances, settings.turn_weight
    few = len(distances.anchors) < settings.many_anchors
    starts = [looks, None] if few and looks is not None else [looks]
    return [first_map(distances, ground.turning, of, calibrate, turn, pool) for of in starts]


def _bent(
    bending: Bending,
    targets: list[np.ndarray],
    settings: Settings,
    pool: Workers,
    progress: ProgressCallback,
) -> tuple[np.ndarray, np.ndarray]:
    """The first map and pose: of several maps, the one whose pose is least distorted."""
    if not settings.bend:
        return targets[0], bending.images(targets[0])
    if len(targets) == 1:
        return targets[0], bending.from_map(targets[0], pool=pool, progress=progress)
    poses = pool.together(*[lambda t=t: bending.from_map(t, progress=progress) for t in targets])
    best = int(np.argmin([bending.distortion(pose) for pose in poses]))
    return targets[best], poses[best]


def _operators_and_relief(
    ground: CommonGround, settings: Settings, pool: Workers
) -> tuple[tuple[Laplacian, Laplacian], Looks | None]:
    """Laplacians of both shapes, and their relief if it is wanted."""
    meshes = (ground.partial, ground.full)
    tasks = [lambda mesh=mesh: laplacian(mesh, settings.laplacian) for mesh in meshes]
    of_partial, of_full = operators = pool.together(*tasks)
    if not settings.relief:
        return (of_partial, of_full), None
    both = zip(meshes, operators, strict=True)
    reliefs = pool.together(*[lambda pair=pair: relief(*pair) for pair in both])
    return (of_partial, of_full), standardised(*reliefs)


def _looked_at_again(
    pose: np.ndarray,
    bending: Bending,
    look: SecondLook,
    curve: list[dict[str, float]],
    clock: Stopwatch,
) -> tuple[np.ndarray, np.ndarray]:
    """The pose of least distortion over the rounds, and the last map seen from a pose kept.

    Each round starts from the last one's pose. A round without gain ends it, but the first may
    fail, since the second looks through finer coordinates only.
    """
    settings = look.settings
    best, last = curve[0]["distortion"], pose
    for number in range(1, settings.rounds + 1):
        with clock.time("operator"):
            target = look.map(bending, last, number)
        if number == 1:
            looked = target
        look.progress(Progress(f"round {number}", 0, 1))
        with clock.time("bending"):
            last = bending.from_map(target, _RESTART, look.pool)
        score = bending.distortion(last)
        curve.append({"distortion": score})
        look.progress(Progress(f"round {number}", 1, 1, score))
        if score < (1 - settings.gain_needed) * best:
            pose, best, looked = last, score, target
        elif number > 1:
            break
    return pose, looked
