"""Features of a prepared pair, and matches that both shapes agree on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.geometry.geodesics import cached_neighbourhoods
from nho.geometry.mesh import Mesh
from nho.learned.checkpoints import matcher_for
from nho.learned.matcher import Features
from nho.operator.correspondence import local_distortion, nearest_rows
from nho.problem.preparation import Problem, Side
from nho.runtime.cache import Cache
from nho.runtime.parallel import SERIAL, Workers
from nho.runtime.run import Run
from nho.settings import PaperRecipe

_NEIGHBOURS = 30  # of a partial vertex; twice as many of a full one, whose mesh may be finer


def features_of(method: str, problem: Problem, run: Run) -> Features:
    """What a method says about a pair, on the solver's meshes."""
    matcher = matcher_for(method, run.settings.checkpoints)
    partial, full = where_given(problem.partial), where_given(problem.full)
    return matcher.features(partial, full, run.settings.recipe.laplacian, run.pool)


def where_given(side: Side) -> Mesh:
    """The solver's mesh where the user put it: a network that sees coordinates wants to know.

    In the solver's unit; only the origin is that of the file again.
    """
    given = side.given.vertices[side.given_of_solver]
    origin = given.mean(axis=0)
    unit = np.linalg.norm(side.mesh.vertices) / np.linalg.norm(given - origin)
    return side.mesh.moved(side.mesh.vertices + unit * origin)


@dataclass(frozen=True)
class Nearest:
    """Nearest features in both directions, by the angle between them.

    Attributes
    ----------
    target : (n_partial,) int array
        Full vertex of every partial vertex.
    mutual : (n_partial,) bool array
        Whether the partner's nearest is the vertex itself.
    """

    target: np.ndarray
    mutual: np.ndarray

    @classmethod
    def of(cls, features: Features, workers: Workers = SERIAL) -> Nearest:
        """Of the features of a pair."""
        own, other = (_unit(rows) for rows in (features.partial, features.full))
        target = nearest_rows(own, other, workers)
        back = nearest_rows(other, own, workers)
        return cls(target, back[target] == np.arange(len(target)))


def distortion_of(problem: Problem, target: np.ndarray) -> np.ndarray:
    """(n_partial,) local mapping distortion of a vertex map."""
    partial, full = problem.partial.mesh, problem.full.mesh
    near = [
        cached_neighbourhoods(Cache.default(), mesh, PaperRecipe.distortion_neighbours)
        for mesh in (partial, full)
    ]
    return local_distortion(target, near[0], partial.vertex_areas, near[1])


def kept_together(problem: Problem, target: np.ndarray) -> np.ndarray:
    """(n_partial,) share of a vertex's neighbours whose images are near its own.

    Distortion alone does not tell a map from noise: distances beyond a neighbourhood count as its
    radius there, so where every neighbour flies apart, most of them are off by little.
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
    return (found & known).sum(axis=1) / np.maximum(known.sum(axis=1), 1)


def _unit(rows: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)
