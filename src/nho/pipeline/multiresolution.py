"""Large meshes: solve between coarse surfaces, then carry the answer up to every vertex."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nho.geometry.coverage import Cover, part_within
from nho.geometry.mesh import Mesh
from nho.geometry.upsampling import carried_images, facing, located, on_surface
from nho.problem.coarse_pair import CoarsePair, coarse_pair
from nho.problem.preparation import Problem
from nho.problem.solution import Solution, Solver
from nho.runtime.parallel import Workers
from nho.runtime.run import Run

_FAR = 0.05  # region score of the coarse answer below which a vertex is surely outside
_LEAST_SCORE = 1e-100  # of a vertex however far outside
_ASKED_AT_ONCE = 1 << 15  # vertices of the full shape, when it is covered: bounds the memory


def solve_at_size(problem: Problem, run: Run, solver: Solver) -> Solution:
    """Directly up to ``solve_vertices`` a mesh, beyond that through coarse ones."""
    most = run.settings.solve_vertices
    sizes = [len(side.mesh.vertices) for side in (problem.partial, problem.full)]
    if not most or max(sizes) <= most:
        return solver(problem, run)
    with run.stage("coarsening"):
        pair = coarse_pair(problem, most, run.pool)
    solution = solver(pair.problem, run)
    with run.stage("carrying"):
        return upsample(problem, pair, solution, run.pool)


def upsample(problem: Problem, pair: CoarsePair, solution: Solution, pool: Workers) -> Solution:
    """A solution between the coarse shapes as one between the fine ones."""
    partial, full = problem.partial.mesh, problem.full.mesh
    places = located(partial, pair.partial, pool)
    coarse_images = solution.points.positions(pair.full.mesh)
    images = carried_images(partial, pair.partial, places, coarse_images, solution.scale)
    side = facing(pair.partial.mesh, coarse_images, solution.points, pair.full.mesh)
    points = on_surface(partial, images, full, side, pool)
    score = located(full, pair.full, pool).interpolate(pair.full.mesh, solution.region_score)
    overlap = solution.overlap
    if overlap is not None and (overlap < 1).any():
        overlap = places.interpolate(pair.partial.mesh, overlap)
    elif overlap is not None:
        overlap = np.ones(partial.n_vertices)
    if solution.region_is_coverage:
        coarse_edge = pair.full.mesh.mean_edge_length
        part = partial if overlap is None else part_within(partial, overlap >= 0.5)
        score = _covered_anew(part, points.positions(full), full, score, coarse_edge, pool)
    last, signals = solution.next_anchor, solution.signals
    sizes = [
        f"{len(coarse.vertex)} of {len(mesh.vertices)} vertices of {mesh.name}"
        for coarse, mesh in ((pair.partial, partial), (pair.full, full))
    ]
    note = (
        f"solved between {sizes[0]} and {sizes[1]} (setting solve_vertices), then carried to "
        "every vertex"
    )
    return replace(
        solution,
        points=points,
        confidence=places.interpolate(pair.partial.mesh, solution.confidence),
        region_score=score,
        notes=(*solution.notes, note),
        next_anchor=int(pair.partial.vertex[last]) if last >= 0 else -1,
        signals=None if signals is None else places.interpolate(pair.partial.mesh, signals),
        overlap=overlap,
    )


def _covered_anew(
    partial: Mesh,
    positions: np.ndarray,
    full: Mesh,
    score: np.ndarray,
    coarse_edge: float,
    pool: Workers,
) -> np.ndarray:
    """(n_full,) region score by the rule of `coverage` between the fine surfaces.

    The rim of the fine partial surface is sharper than that of the coarse one. Vertices that the
    (n_full,) score of the coarse surfaces puts far outside keep their gap.
    """
    near = np.zeros(len(full.vertices), dtype=bool)
    near[full.faces[(score > _FAR)[full.faces].any(axis=1)]] = True
    asked, edge = np.flatnonzero(near), full.mean_edge_length
    cover = Cover(partial, positions)

    def block(rows: slice) -> np.ndarray:
        at = asked[rows]
        return cover.over(full.vertices[at], full.vertex_normals[at], edge).score()

    score = _per_edge(score, coarse_edge, edge)
    score[asked] = np.concatenate(pool.over_rows(block, len(asked), _ASKED_AT_ONCE))
    return score


def _per_edge(score: np.ndarray, mean_edge: float, other_edge: float) -> np.ndarray:
    """A score of gaps measured in one mean edge, as if they had been measured in another."""
    odds = np.maximum(score, _LEAST_SCORE)
    return np.asarray(1 / (1 + (1 / odds - 1) * (mean_edge / other_edge) ** 2))
