"""The same problem between coarser surfaces: large meshes are solved there, few anchors placed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nho.errors import InputError
from nho.geometry.coarsening import Coarse, coarsened
from nho.geometry.mesh import Mesh
from nho.problem.preparation import Problem
from nho.problem.prepared_shape import PreparedShape
from nho.runtime.parallel import Workers

_FEWEST_SHARE = 0.2  # of the vertices allowed, for however small a partial shape
_ASKED = 200  # anchors that the rough unit is told from


@dataclass(frozen=True)
class CoarsePair:
    """Both shapes made coarse where they are large, and the problem between them.

    Attributes
    ----------
    unit : float
        That of the problem's shapes in that of the coarse ones.
    """

    partial: Coarse
    full: Coarse
    problem: Problem
    unit: float


def coarse_pair(problem: Problem, most: int, pool: Workers) -> CoarsePair:
    """The same problem with at most about ``most`` vertices per shape; its anchors keep their rows.

    The partial shape gets as many as make it as dense as the full one.
    """
    anchored = problem.anchors.T
    partial, full = pool.together(
        lambda: _coarse(problem.partial.mesh, most, _equally_dense(problem, most), anchored[0]),
        lambda: _coarse(problem.full.mesh, most, most, anchored[1]),
    )
    anchors = np.stack(
        [partial.cell[problem.anchors[:, 0]], full.cell[problem.anchors[:, 1]]], axis=1
    )
    for column, side in enumerate((problem.partial, problem.full)):
        if (anchors[:, column] < 0).any():
            name = problem.anchor_names[problem.anchor_rows[np.argmin(anchors[:, column])]]
            raise InputError(
                f"{side.given.name}: the part of it that holds anchor {name} is too small for a "
                "coarse surface; set solve_vertices=0 to match all vertices directly"
            )
    # Chords are shorter than the surface: the unit is the area of the coarse full shape.
    unit = 1 / np.sqrt(full.mesh.area)
    sides = [
        _coarse_side(side, coarse, unit)
        for side, coarse in ((problem.partial, partial), (problem.full, full))
    ]
    between = replace(problem, partial=sides[0], full=sides[1], anchors=anchors)
    return CoarsePair(partial, full, between, unit)


def _coarse(mesh: Mesh, most: int, count: int, anchored: np.ndarray) -> Coarse:
    """The mesh with about ``count`` vertices; as it is if it has no more than ``most``."""
    if len(mesh.vertices) <= most:
        every = np.arange(len(mesh.vertices))
        return Coarse(mesh, every, every, np.arange(len(mesh.faces)))
    return coarsened(mesh, count, anchored)


def _equally_dense(problem: Problem, most: int) -> int:
    """Vertices that make the partial shape as dense as the full one will be."""
    partial, full = problem.partial.mesh, problem.full.mesh
    density = min(most, len(full.vertices)) / full.area
    wanted = density * partial.area * _unit(problem) ** 2
    return int(np.clip(wanted, _FEWEST_SHARE * most, most))


def _unit(problem: Problem) -> float:
    """Rough unit of the partial shape in that of the full one; 1 where they seem to agree."""
    own, other = (
        side.mesh.vertices[problem.anchors[:, column]]
        for column, side in enumerate((problem.partial, problem.full))
    )
    some = np.linspace(0, len(own) - 1, min(len(own), _ASKED)).astype(np.int64)
    apart = np.linalg.norm(own[some, None] - own, axis=2)
    apart[apart == 0] = np.inf
    near = apart.argmin(axis=1)  # near anchors, since poses differ
    ratio = np.median(np.linalg.norm(other[some] - other[near], axis=1) / apart.min(axis=1))
    return 1.0 if 0.5 < ratio < 2 else float(ratio)


def _coarse_side(side: PreparedShape, coarse: Coarse, unit: float) -> PreparedShape:
    known = side.solver_of_given >= 0
    return PreparedShape(
        given=side.given,
        mesh=coarse.mesh.scaled(unit),
        solver_of_given=np.where(known, coarse.cell[side.solver_of_given], -1),
        given_of_solver=side.given_of_solver[coarse.vertex],
        given_face=side.given_face[coarse.face],
    )
