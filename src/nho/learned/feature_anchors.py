"""Features of a prepared pair and anchors from them (App. C): "Ours (DPFM)", and for `match`.

Nobody marks anything. Nearest features give a map, and local mapping distortion (LMD) says where it
can be trusted. The two purposes of anchors get sets of their own: where the region is (A_H) must be
right, and what aligns the eigenspaces (A_C) must cover the shape.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nho.errors import InputError
from nho.geometry.geodesics import cached_neighbourhoods
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.learned.checkpoints import matcher_for
from nho.learned.functional_maps import mutual_rows
from nho.learned.matcher import Features
from nho.operator.correspondence import local_distortion
from nho.problem.anchors import FEWEST
from nho.problem.preparation import Problem, prepare
from nho.problem.prepared_shape import PreparedShape
from nho.problem.solution import Solution
from nho.recipes import paper
from nho.recipes.guided.anchor_checks import trusted
from nho.recipes.guided.distance_evidence import AnchorDistances
from nho.runtime.cache import Cache
from nho.runtime.parallel import SERIAL, Workers
from nho.runtime.run import Run, started
from nho.settings import GuidedRecipe, PaperRecipe, Settings

_TRUSTED = 0.42  # delta_H: LMD below which a match says where the region is
_ALIGNING = 1.5  # delta_C: and below which a mutual match aligns
# The reading of LMD that does not depend on the whole shape; noise passes it.
_LENIENT = PaperRecipe(distortion_front=30, distortion_misses="local")
# Least `neighbourhood_preservation` of a match that `feature_anchors` trusts. On real pairs it
# leaves out little; it is there to refuse noise, which passes the test of LMD.
_PRESERVED = 0.5
_NEIGHBOURS = 30  # of a partial vertex; twice as many of a full one, whose mesh may be finer
MOST_ANCHORS = 25  # of `feature_anchors`


def solve(problem: Problem, run: Run) -> Solution:
    """The reciprocal loop of the preset ``paper`` from features of DPFM instead of anchors."""
    recipe = PaperRecipe(laplacian=run.settings.recipe.laplacian)
    run = run.with_settings(run.settings.replace(recipe=recipe))
    with run.stage("features"):
        region, aligning = two_sets(problem, run)
    return paper.solve(replace(problem, anchors=region), run, aligning)


def two_sets(problem: Problem, run: Run) -> tuple[np.ndarray, np.ndarray]:
    """(m, 2) and (m', 2) pairs: A_H for the operator and A_C for the alignment."""
    target, mutual = nearest_features(features_of("dpfm", problem, run), run.pool)
    distortion = distortion_of(problem, target, PaperRecipe())
    sets = []
    for kept in (distortion < _TRUSTED, mutual & (distortion < _ALIGNING)):
        found = np.flatnonzero(kept)
        _check_count(problem, "dpfm", len(found))
        sets.append(np.stack([found, target[found]], axis=1))
    return sets[0], sets[1]


def feature_anchors(partial: Mesh, full: Mesh, method: str, settings: Settings) -> np.ndarray:
    """Anchors that a learned method finds by itself.

    Parameters
    ----------
    partial, full : Mesh
        In one unit. Networks that were trained on coordinates also want them upright in the same
        way as what they were trained on.
    method : str
        A name in `nho.learned.methods.METHODS`.
    settings : Settings
        ``checkpoints``, ``laplacian`` and ``threads`` count.

    Returns
    -------
    (m, 2) int array
        Vertices of the partial and of the full mesh, at most 25, far apart where the map can be
        trusted: it distorts little there.
    """
    with started(settings, None) as run:
        problem = prepare(partial, full, None)
        features = features_of(method, problem, run)
    reliable = distortion_of(problem, features.target) < _TRUSTED
    reliable &= neighbourhood_preservation(problem, features.target) > _PRESERVED
    found = np.flatnonzero(reliable & features.mutual)
    # A mutual match is more often right, but a short list of them leaves most of a shape out.
    found = found if len(found) >= MOST_ANCHORS else np.flatnonzero(reliable)
    _check_count(problem, method, len(found))
    sampled = _far_apart(problem, found, 2 * MOST_ANCHORS)
    pairs = np.stack([sampled, features.target[sampled]], axis=1)
    pairs = pairs[_agreeing(problem, pairs)]
    chosen = _far_apart(problem, pairs[:, 0], MOST_ANCHORS)
    sides = (problem.partial, chosen), (problem.full, features.target[chosen])
    return np.stack([side.given_of_solver[vertices] for side, vertices in sides], axis=1)


def _far_apart(problem: Problem, found: np.ndarray, most: int) -> np.ndarray:
    """(m,) some of the partial vertices, each next one the farthest from those before."""
    return sample_vertices(problem.partial.mesh, min(most, len(found)), candidates=found)


def _agreeing(problem: Problem, pairs: np.ndarray) -> np.ndarray:
    """(m,) bool: pairs whose distances to the others are the same on both shapes, as `match` asks.

    Nothing else reveals a patch that lies undistorted on the wrong limb.
    """
    distances = AnchorDistances.measure(problem.partial.mesh, problem.full.mesh, pairs)
    return trusted(distances, GuidedRecipe.anchor_limit)


def _check_count(problem: Problem, method: str, count: int) -> None:
    if count < FEWEST:
        raise InputError(
            f"{problem.partial.given.name}: features of {method} give {count} matches that can be "
            f"believed, at least {FEWEST} are needed; mark anchors by hand, or turn the shapes the "
            "way up that the network was trained on"
        )


def features_of(method: str, problem: Problem, run: Run) -> Features:
    """Features of a pair by a method, on the solver's meshes."""
    matcher = matcher_for(method, run.settings.checkpoints)
    partial, full = at_given_origin(problem.partial), at_given_origin(problem.full)
    return matcher.features(partial, full, run.settings.recipe.laplacian, run.pool)


def at_given_origin(side: PreparedShape) -> Mesh:
    """The solver's mesh at the origin of the file: networks of coordinates depend on it.

    It stays in the solver's unit.
    """
    given = side.given.vertices[side.given_of_solver]
    origin = given.mean(axis=0)
    unit = np.linalg.norm(side.mesh.vertices) / np.linalg.norm(given - origin)
    return side.mesh.moved(side.mesh.vertices + unit * origin)


def nearest_features(
    features: Features, workers: Workers = SERIAL
) -> tuple[np.ndarray, np.ndarray]:
    """`mutual_rows` of the features, by the angle between them (Eq. 22 and 24)."""
    own, other = (_unit(rows) for rows in (features.partial, features.full))
    return mutual_rows(own, other, workers)


def distortion_of(
    problem: Problem, target: np.ndarray, recipe: PaperRecipe = _LENIENT
) -> np.ndarray:
    """(n_partial,) local mapping distortion of a vertex map, as a recipe reads it."""
    partial, full = problem.partial.mesh, problem.full.mesh
    counts = recipe.distortion_neighbours, recipe.distortion_front
    own, other = (
        cached_neighbourhoods(Cache.default(), mesh, count)
        for mesh, count in zip((partial, full), counts, strict=True)
    )
    return local_distortion(target, own, partial.vertex_areas, other, recipe.distortion_misses)


def neighbourhood_preservation(problem: Problem, target: np.ndarray) -> np.ndarray:
    """(n_partial,) share of a vertex's neighbours whose images are near its own.

    Distortion alone does not tell a map from noise: distances beyond a neighbourhood count as its
    radius there, so where all neighbours are scattered, most of them are off by little.
    """
    own, other = (
        cached_neighbourhoods(Cache.default(), side.mesh, count).index
        for side, count in ((problem.partial, _NEIGHBOURS), (problem.full, 2 * _NEIGHBOURS))
    )
    known = own >= 0
    images = target[np.where(known, own, 0)]
    count = problem.full.mesh.n_vertices
    near = (np.arange(count)[:, None] * count + other)[other >= 0]
    found = np.isin(target[:, None] * count + images, near) | (images == target[:, None])
    return np.asarray((found & known).sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def _unit(rows: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1))
