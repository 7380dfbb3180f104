"""Bend the partial surface onto the full one by the anchors, and leave out what strains it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.problem.solution import Curve
from nho.recipes.guided.anchor_checks import strained
from nho.recipes.guided.bending import ITERATIONS, Bending
from nho.recipes.guided.comparable import ComparablePair
from nho.recipes.guided.starts import Curvatures, Start, starts
from nho.runtime.parallel import SERIAL
from nho.runtime.run import Run
from nho.settings import GuidedRecipe

_ATTEMPTS = 4  # bends at most, each with fewer anchors


@dataclass(frozen=True)
class Pose:
    """The partial surface, bent onto the full one.

    Attributes
    ----------
    positions : (n_partial, 3) float array
    start : (n_partial, 3) float array
        Images by distances or, after a second look, those it was bent from: confidence asks how
        far the surface lies from them.
    points : SurfacePoints
        What it lies on.
    """

    positions: np.ndarray
    start: np.ndarray
    points: SurfacePoints


@dataclass(frozen=True)
class FirstPose:
    """The answer of bending alone.

    Attributes
    ----------
    pair : ComparablePair
        With the anchors that did not strain the surface.
    course : list of dict
        Of the bending, iteration by iteration.
    """

    pair: ComparablePair
    bending: Bending
    pose: Pose
    course: Curve


def first_pose(pair: ComparablePair, curvatures: Curvatures | None, run: Run) -> FirstPose:
    """Bend by the anchors; those followed only under strain are left out, and all is done again."""
    recipe = run.recipe(GuidedRecipe)
    for attempt in range(1, _ATTEMPTS + 1):
        with run.clock.time("distances"):
            tried = starts(pair, curvatures, run)
        with run.clock.time("bending"):
            bending = Bending(
                pair.partial, pair.full, pair.distances, curvatures, recipe.pin_anchors
            )
        pose, course = _best_pose(bending, pair.full, tried, run)
        judging = recipe.bend and recipe.anchor_limit and pair.judging
        if not judging or attempt == _ATTEMPTS:
            break
        with run.clock.time("bending"):
            images = pose.points.nearest_vertex(pair.full)
            distortion = bending.elastic.distortion(pose.positions, 4)
            wrong = strained(pair.distances, images, distortion, len(pair.suspects) > 0)
        fewer = pair.without(pair.unconfirmed(wrong), run.pool)
        if fewer is pair:
            break
        pair, run = fewer, run.quiet()  # bars do not run backwards
    return FirstPose(pair, bending, pose, course)


def _best_pose(bending: Bending, full: Mesh, tried: list[Start], run: Run) -> tuple[Pose, Curve]:
    """The least distorted of the poses bent from all starts, and its course.

    Another start than the first must lead to a pose that is clearly less distorted.
    """
    first = bending.images(tried[0].target)
    if not run.recipe(GuidedRecipe).bend:
        return Pose(first, first, SurfacePoints.at_vertices(full, tried[0].target)), []
    courses: list[Curve] = [[] for _ in tried]
    with run.stage("bending", ITERATIONS * len(tried)) as stage:

        def bent(number: int) -> np.ndarray:
            def watch(gap: float) -> None:
                courses[number].append({"gap": gap})
                stage.step()

            start = tried[number]
            images = bending.images(start.target)
            return bending.from_images(images, pool=pool, watch=watch, relief=start.relief)

        # Side by side if there are several, else by rows: a pool is not shared within itself.
        pool = run.pool if len(tried) == 1 else SERIAL
        tasks = [lambda number=number: bent(number) for number in range(len(tried))]
        poses = [bent(0)] if len(tried) == 1 else run.pool.together(*tasks)
        scores = np.array([bending.distortion(pose) for pose in poses])
        scores[0] *= 1 - run.recipe(GuidedRecipe).gain_needed
        best = int(np.argmin(scores))
    return Pose(poses[best], first, bending.read_off(poses[best])), courses[best]
