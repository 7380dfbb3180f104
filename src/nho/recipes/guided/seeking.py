"""Where the partial surface lies: a first pose and further looks, or that on coarse surfaces first.

With few anchors, or found ones, many poses are tried. Between coarse surfaces that takes a fraction
of the time, and a coarse surface slides more easily into its place. The likeliest pose is carried
to the surfaces as given and bent once more.
"""

from __future__ import annotations

import numpy as np

from nho.errors import InputError
from nho.geometry.relief import relief, standardised
from nho.geometry.spectrum import Laplacian, laplacian
from nho.geometry.upsampling import carried_images, located
from nho.problem.coarse_pair import CoarsePair, coarse_pair
from nho.problem.preparation import Problem
from nho.recipes.guided.bending import Bending
from nho.recipes.guided.comparable import ComparablePair, normalise_pair
from nho.recipes.guided.first_pose import FirstPose, Pose, first_pose
from nho.recipes.guided.second_looks import RESTART, Propose, SecondLooks
from nho.recipes.guided.starts import Curvatures
from nho.runtime.run import Run
from nho.settings import GuidedRecipe

_CLEARLY_FINER = 1.5  # times the vertices of a coarse surface, from which on one is made


def sought(problem: Problem, run: Run, propose: Propose | None = None) -> SecondLooks:
    """The likeliest pose, and what it was found with."""
    if not _on_coarse(problem, run.recipe(GuidedRecipe)):
        return _sought_directly(problem, run, propose)
    try:
        with run.stage("coarsening"):
            coarse = coarse_pair(problem, run.recipe(GuidedRecipe).seek_vertices, run.pool)
    except InputError:  # an anchor is on a part too small for a coarse surface
        return _sought_directly(problem, run, propose)
    found = _sought_directly(coarse.problem, run, propose)
    return _carried(problem, coarse, found, run.quiet())


def _on_coarse(problem: Problem, recipe: GuidedRecipe) -> bool:
    """Whether poses are sought between coarse surfaces."""
    few = len(problem.anchors) < recipe.many_anchors
    if not (recipe.bend and recipe.seek_vertices and (few or not recipe.pin_anchors)):
        return False
    most = max(side.mesh.n_vertices for side in (problem.partial, problem.full))
    return most > _CLEARLY_FINER * recipe.seek_vertices


def _sought_directly(problem: Problem, run: Run, propose: Propose | None) -> SecondLooks:
    with run.stage("distances"):
        pair = normalise_pair(problem, run.recipe(GuidedRecipe), run.pool)
        laplacians, curvatures = _laplacians_and_relief(pair, run)
    first = first_pose(pair, curvatures, run)
    looks = SecondLooks(problem, first, laplacians, curvatures, run, propose)
    looks.take()
    return looks


def _carried(problem: Problem, coarse: CoarsePair, found: SecondLooks, run: Run) -> SecondLooks:
    """What was found between coarse surfaces, between the given ones, bent once more."""
    recipe = run.recipe(GuidedRecipe)
    with run.clock.time("distances"):
        pair = normalise_pair(problem, recipe, run.pool)
        pair = pair.without(np.flatnonzero(~found.pair.used[pair.sources]), run.pool)
        laplacians, curvatures = _laplacians_and_relief(pair, run)
    fine, scale = problem.partial.mesh, found.pair.scale
    with run.clock.time("carrying"):
        places = located(fine, coarse.partial, run.pool)
        images = found.pose.points.positions(coarse.full.mesh)
        images = carried_images(fine, coarse.partial, places, images, scale)
    with run.clock.time("bending"):
        bending = Bending(pair.partial, pair.full, pair.distances, curvatures, recipe.pin_anchors)
        positions = bending.from_images(images, RESTART, run.pool)

    def on_fine(images: np.ndarray) -> np.ndarray:
        """(n_partial, 3) what is known at the coarse vertices."""
        return places.interpolate(coarse.partial.mesh, images) / coarse.unit

    pose = Pose(positions, on_fine(found.pose.start), bending.read_off(positions))
    looks = SecondLooks(
        problem, FirstPose(pair, bending, pose, found.course), laplacians, curvatures, run
    )
    looks.proposed = None if found.proposed is None else on_fine(found.proposed)
    looks.curves, looks.troubles, looks.notes = found.curves, found.troubles, found.notes
    return looks


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
