"""Anchors from learned features (App. C): the paper's "Ours (DPFM)", and anchors for `match`.

Nobody marks anything. Nearest features give a map, and local mapping distortion (LMD) says where it
can be believed. The two things that anchors do get sets of their own: where the region is (A_H)
must be right, and what aligns the eigenspaces (A_C) must cover the shape.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.learned.pairs import Nearest, distortion_of, features_of, kept_together
from nho.problem.anchors import FEWEST
from nho.problem.preparation import Problem, prepare
from nho.problem.solution import Solution
from nho.recipes import paper
from nho.recipes.guided.anchor_checks import trusted
from nho.recipes.guided.distance_evidence import AnchorDistances
from nho.runtime.run import Run, started
from nho.settings import GuidedRecipe, PaperRecipe, Settings

_TRUSTED = 0.42  # delta_H: LMD below which a match says where the region is
_ALIGNING = 1.5  # delta_C: and below which a mutual match aligns
# Share of neighbours that must stay near each other for `feature_anchors` to believe a match. On
# real pairs it leaves out little; it is there to refuse noise, which passes the test of LMD.
_TOGETHER = 0.5
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
    nearest = Nearest.of(features_of("dpfm", problem, run), run.pool)
    distortion = distortion_of(problem, nearest.target)
    sets = []
    for kept in (distortion < _TRUSTED, nearest.mutual & (distortion < _ALIGNING)):
        found = np.flatnonzero(kept)
        if len(found) < FEWEST:
            raise _too_few(problem, "dpfm", len(found))
        sets.append(np.stack([found, nearest.target[found]], axis=1))
    return sets[0], sets[1]


def feature_anchors(partial: Mesh, full: Mesh, method: str, settings: Settings) -> np.ndarray:
    """Anchors that a learned method finds by itself.

    Parameters
    ----------
    partial, full : Mesh
        In one unit. Networks that were trained on coordinates also want them to stand the same
        way up as what they were trained on.
    method : str
        A name in `nho.learned.methods.METHODS`.
    settings : Settings
        ``checkpoints``, ``laplacian`` and ``threads`` count.

    Returns
    -------
    (m, 2) int array
        Vertices of the partial and of the full mesh, at most 25, well spread over what can be
        believed: the map distorts little there.
    """
    with started(settings, None) as run:
        problem = prepare(partial, full, None)
        features = features_of(method, problem, run)
        mutual = Nearest.of(features, run.pool).mutual
    believed = distortion_of(problem, features.target) < _TRUSTED
    believed &= kept_together(problem, features.target) > _TOGETHER
    found = np.flatnonzero(believed & mutual)
    # A mutual match is more often right, but a short list of them leaves most of a shape out.
    found = found if len(found) >= MOST_ANCHORS else np.flatnonzero(believed)
    if len(found) < FEWEST:
        raise _too_few(problem, method, len(found))
    spread = _spread(problem, found, 2 * MOST_ANCHORS)
    pairs = np.stack([spread, features.target[spread]], axis=1)
    pairs = pairs[_agreeing(problem, pairs)]
    chosen = _spread(problem, pairs[:, 0], MOST_ANCHORS)
    sides = (problem.partial, chosen), (problem.full, features.target[chosen])
    return np.stack([side.given_of_solver[vertices] for side, vertices in sides], axis=1)


def _spread(problem: Problem, found: np.ndarray, most: int) -> np.ndarray:
    """(m,) some of the partial vertices, each next one the farthest from those before."""
    return sample_vertices(problem.partial.mesh, min(most, len(found)), candidates=found)


def _agreeing(problem: Problem, pairs: np.ndarray) -> np.ndarray:
    """(m,) bool: pairs whose distances to the others are the same on both shapes, as `match` asks.

    A patch that lies undistorted on the wrong limb betrays itself by nothing else.
    """
    distances = AnchorDistances.measure(problem.partial.mesh, problem.full.mesh, pairs)
    return trusted(distances, GuidedRecipe.anchor_limit)


def _too_few(problem: Problem, method: str, count: int) -> InputError:
    return InputError(
        f"{problem.partial.given.name}: features of {method} give {count} matches that can be "
        f"believed, at least {FEWEST} are needed; mark anchors by hand, or turn the shapes the "
        "way up that the network was trained on"
    )
