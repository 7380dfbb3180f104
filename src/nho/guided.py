"""The recipe of preset `default`: distances guide, geometry bends, the operator gives second looks.

1. Distances to the anchors give a first dense map (`distance_evidence`); anchors that contradict
   the others are named and left out, different units are found and undone (`anchor_checks`).
2. The partial surface is bent onto the full one from that map (`bending`).
3. In rounds, as in the paper, map and operator help each other: what the bent surface covers is
   evidence for the neural field, the field is the potential of a Hamiltonian, its eigenfunctions
   are coordinates for a second look at the whole map, and the new map is bent again. The candidate
   of least distortion is kept, so no round makes the answer worse.
4. The region is what the bent surface covers (`coverage`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nho.anchor_checks import consistent, relative_scale
from nho.answer import Answer
from nho.bending import RESTART_PHASES, Bending
from nho.confidence import confidence, where_to_add
from nho.coverage import coverage
from nho.distance_evidence import AnchorDistances, first_map
from nho.errors import InputError
from nho.parallel import Workers
from nho.problem import Problem
from nho.progress import Progress, ProgressCallback
from nho.second_looks import SecondLooks
from nho.settings import Settings
from nho.shapes import fit_to_size
from nho.stopwatch import Stopwatch
from nho.surface import SurfacePoints

_FEWEST_TO_JUDGE = 8  # anchors; fewer cannot outvote a wrong one


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
        problem, distances, scale, unit_notes = _common_unit(problem, settings)
        distances, suspects, notes = _trusted(problem, distances, settings)
        partial, full = problem.partial.mesh, problem.full.mesh
        target = first_map(
            partial, full, distances, settings.calibrate_distances, settings.turn_weight, pool
        )
        progress(Progress("distances", 1, 1))
    bending = Bending(partial, full, distances)
    with clock.time("bending"):
        pose = full.vertices[target]
        if settings.bend:
            pose = bending.from_map(target, progress=progress)
    curves = {"bending": [{"distortion": bending.distortion(pose)}]}
    if settings.bend and settings.rounds and settings.coordinates != "none":
        with clock.time("spectra"):
            anchored = distances.anchors[:, 1]
            looks = SecondLooks(problem, bending, anchored, settings, pool, progress)
        few = len(distances.anchors) < settings.many_anchors
        pose = _looked_at_again(pose, bending, looks, few, curves["bending"], clock)
        curves.update(looks.curves)
    with clock.time("region"):
        points = (
            bending.read_off(pose) if settings.bend else SurfacePoints.at_vertices(full, target)
        )
        covered = coverage(partial, points.positions(full), full)
    trust = confidence(bending.elastic.distortion(pose, 4), distances)
    return Answer(
        points=points,
        confidence=trust,
        region_score=covered.score(),
        settings=settings,
        warnings=(*warnings, *unit_notes, *notes),
        curves=curves,
        suspects=suspects,
        scale=scale,
        next_anchor=where_to_add(trust, distances),
    )


def _looked_at_again(
    pose: np.ndarray,
    bending: Bending,
    looks: SecondLooks,
    few_anchors: bool,
    curve: list[dict[str, float]],
    clock: Stopwatch,
) -> np.ndarray:
    """The pose of least distortion over the rounds; each starts from the last one's best.

    A round without gain ends it; with few anchors the first may fail, since the second looks
    through finer coordinates only.
    """
    settings, pool = looks.settings, looks.pool
    best, last = curve[0]["distortion"], pose
    for number in range(1, settings.rounds + 1):
        looks.progress(Progress(f"round {number}", 0, 1))
        with clock.time("operator"):
            targets = looks.maps(last, number)
        with clock.time("bending"):
            bends = [lambda t=t: bending.from_map(t, RESTART_PHASES) for t in targets]
            poses = pool.together(*bends)
        scores = [bending.distortion(candidate) for candidate in poses]
        last, score = poses[int(np.argmin(scores))], min(scores)
        curve.append({"distortion": score})
        looks.progress(Progress(f"round {number}", 1, 1, score))
        if score < (1 - settings.gain_needed) * best:
            pose, best = last, score
        elif number > 1 or not few_anchors:
            break
    return pose


def _common_unit(
    problem: Problem, settings: Settings
) -> tuple[Problem, AnchorDistances, float, list[str]]:
    """Measure distances; rescale the partial shape if it comes in another unit."""
    partial, full = problem.partial.mesh, problem.full.mesh
    distances = AnchorDistances.measure(partial, full, problem.anchors)
    scale = relative_scale(distances)
    if not np.isfinite(scale):
        raise InputError(
            f"no two anchors are apart on both {partial.name} and {full.name}; spread them out"
        )
    if 1 / settings.unit_factor < scale < settings.unit_factor:
        return problem, distances, 1.0, []
    side = replace(problem.partial, mesh=partial.scaled(scale))
    warning = (
        f"{partial.name} is in another unit than {full.name}: its coordinates were multiplied by "
        f"{scale:.4g}, estimated from the anchors"
    )
    return replace(problem, partial=side), distances.scaled_partial(scale), scale, [warning]


def _trusted(
    problem: Problem, distances: AnchorDistances, settings: Settings
) -> tuple[AnchorDistances, np.ndarray, list[str]]:
    """Leave out anchors that contradict the others."""
    if not settings.anchor_limit or len(distances.anchors) < _FEWEST_TO_JUDGE:
        return distances, np.empty(0, dtype=np.int64), []
    kept = consistent(distances, settings.anchor_limit)
    suspects = np.flatnonzero(~kept)
    rows = sorted(problem.anchor_rows[suspects].tolist())
    notes = [
        f"anchor {row} (partial vertex {problem.given_anchors[row, 0]}, full vertex "
        f"{problem.given_anchors[row, 1]}) contradicts its neighbours and was not used"
        for row in rows
    ]
    return distances.subset(kept), suspects, notes
