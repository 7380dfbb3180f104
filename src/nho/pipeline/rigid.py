"""A rigid scan stays rigid: if a similarity explains the whole map, it is the map.

Range scans of the thing itself differ from the template by a motion and by noise. An elastic
surface bends a little to every bump of the noise, and a coarse one misses a little of everything.
So the similarity that comes nearest to the map is refined on all vertices, and taken if what it
leaves open is noise.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nho.geometry.alignment import similarity
from nho.geometry.closest import FacingSearch
from nho.geometry.coverage import coverage, part_within
from nho.geometry.icp import aligned_by_icp
from nho.geometry.mesh import FloatArray, Mesh
from nho.problem.preparation import Problem
from nho.problem.solution import Solution

_NEAR = 0.02  # root mean square to the map, in the square root of the full area: worth refining
_NOISE = 0.0015  # gap of four fifths of the vertices after that, in the same unit: noise
_QUANTILE = 0.8
_ASKED = 2000  # vertices that are paired while it is refined
_TRIMMINGS = 3
# A first try with few vertices and steps; if it leaves so many times the noise, more will not help.
_TRIED, _TRIED_STEPS, _HOPELESS = 300, 10, 3.0
_FACES = 600_000  # of the full shape, beyond which its region stays as it is: bounds the memory


def as_rigid(problem: Problem, solution: Solution) -> Solution:
    """The solution, or its map by a similarity if that explains it."""
    partial, full = problem.partial.mesh, problem.full.mesh
    unit = np.sqrt(full.area)
    has = np.ones(partial.n_vertices, dtype=bool)
    if solution.overlap is not None:
        has = solution.overlap >= 0.5
    own = np.flatnonzero(has & (solution.points.face >= 0))
    images = solution.points[own].positions(full)
    kept = np.arange(len(own))
    for _ in range(_TRIMMINGS):
        scale, rotation, shift = similarity(partial.vertices[own[kept]], images[kept])
        positions = scale * partial.vertices @ rotation.T + shift
        away = np.linalg.norm(positions[own] - images, axis=1)
        kept = np.flatnonzero(away <= np.quantile(away, _QUANTILE))
    if np.sqrt((away[kept] ** 2).mean()) > _NEAR * unit:
        return solution
    if _hopeless(positions[own], full, unit):
        return solution
    asked = own[:: max(1, len(own) // _ASKED)]
    positions, growth = aligned_by_icp(positions, full, asked=asked)
    moved = partial.moved(positions)
    points, closest = FacingSearch(full, full.mean_edge_length)(positions, moved.vertex_normals)
    gap = np.linalg.norm(positions - closest, axis=1)
    if np.quantile(gap[own], _QUANTILE) > _NOISE * unit:
        return solution
    if problem.partial.given.of_points or problem.full.given.of_points:
        # Surfaces through points may be inside out here and there; a rigid motion needs no normals.
        points, _ = FacingSearch(full)(positions)
    score = solution.region_score
    if solution.region_is_coverage and full.n_faces <= _FACES:
        part = part_within(partial, has)
        score = coverage(part, points.positions(full), full).score()
    return replace(
        solution,
        points=points,
        region_score=score,
        scale=scale * growth,
    )


def _hopeless(positions: FloatArray, full: Mesh, unit: float) -> bool:
    """Whether (n, 3) positions are surely no rigid motion and noise away from the surface."""
    some = positions[:: max(1, len(positions) // _TRIED)]
    refined, _ = aligned_by_icp(some, full, steps=_TRIED_STEPS)
    gap = np.linalg.norm(refined - FacingSearch(full)(refined)[1], axis=1)
    return bool(np.quantile(gap, _QUANTILE) > _HOPELESS * _NOISE * unit)
