"""Pieces of a scan without an anchor: carried along by the rest of it, then refined.

Real scans come in pieces. Once those with anchors lie on the full shape, another piece moves as
its surroundings did: by the rotation and shift that fit the nearest matched vertices best, and then
by rigid motions onto the surface.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial import cKDTree

from nho.geometry.alignment import nearest_rotation
from nho.geometry.closest import FacingSearch
from nho.geometry.coverage import coverage, on_boundary
from nho.geometry.icp import aligned_by_icp
from nho.geometry.mesh import FloatArray, Mesh
from nho.geometry.surface import SurfacePoints
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.recipes.guided.bending import NORMAL_WEIGHT
from nho.runtime.parallel import Workers

_GUIDES = 400  # matched vertices that carry a piece, the nearest ones
_ASKED = 1000  # vertices of a piece that its pose is refined by
_HALF = 0.03  # sqrt(area): a piece that moved so far from where it was carried is half believed


def with_loose_pieces(
    problem: Problem, solution: Solution, pool: Workers
) -> tuple[Problem, Solution]:
    """The problem and its solution with the pieces that had no anchor; a note says how many."""
    loose = problem.partial.loose
    if loose is None:
        return problem, solution
    full = problem.full.mesh
    piece = loose.mesh.scaled(solution.scale)
    known = np.flatnonzero(solution.points.face >= 0)
    start = solution.scale * problem.partial.mesh.vertices[known]
    goal = solution.points[known].positions(full)
    trust = solution.confidence[known]
    labels = piece.components
    parts = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    done = pool.together(*[lambda of=of: _carried(piece, of, start, goal, full) for of in parts])
    positions, confidence = np.empty_like(piece.vertices), np.empty(piece.n_vertices)
    for of, (at, moved, guides) in zip(parts, done, strict=True):
        positions[of] = at
        confidence[of] = trust[guides].mean() / (1 + (moved / _HALF) ** 2)
    points, _ = FacingSearch(full, NORMAL_WEIGHT * full.mean_edge_length)(
        positions, piece.moved(positions).vertex_normals
    )
    images = points.positions(full)
    gap = np.linalg.norm(positions - images, axis=1)
    confidence /= 1 + (gap / _HALF) ** 2
    score = np.maximum(solution.region_score, coverage(piece, images, full).score())
    one = f"{len(parts)} component{'s' * (len(parts) != 1)} without an anchor"
    note = (
        f"{problem.partial.given.name}: {one} ({piece.n_vertices} vertices) moved with the rest; "
        "an anchor on each would be more certain"
    )
    overlap = solution.overlap
    if overlap is not None:
        over = on_boundary(full, points) & (gap > NORMAL_WEIGHT * full.mean_edge_length)
        overlap = np.concatenate([overlap, np.where(over | (gap > 2 * _HALF), 0.0, 1.0)])
    carried = replace(
        solution,
        points=SurfacePoints(
            np.concatenate([solution.points.face, points.face]),
            np.concatenate([solution.points.barycentric, points.barycentric]),
        ),
        confidence=np.concatenate([solution.confidence, confidence]),
        region_score=score,
        notes=(*solution.notes, note),
        overlap=overlap,
        signals=None,
    )
    return replace(problem, partial=problem.partial.with_loose()), carried


def _carried(
    piece: Mesh, of: np.ndarray, start: FloatArray, goal: FloatArray, full: Mesh
) -> tuple[FloatArray, float, np.ndarray]:
    """Positions of a component, how far refinement moved it, and the vertices that carried it."""
    own = piece.vertices[of]
    away, _ = cKDTree(own).query(start)
    guides = np.argsort(away, kind="stable")[:_GUIDES]
    centre, target = start[guides].mean(axis=0), goal[guides].mean(axis=0)
    rotation = nearest_rotation((goal[guides] - target).T @ (start[guides] - centre))
    placed = (own - centre) @ rotation.T + target
    some = np.linspace(0, len(own) - 1, min(len(own), _ASKED)).astype(np.int64)
    refined, _ = aligned_by_icp(placed, full, growing=False, asked=some)
    moved = float(np.linalg.norm(refined - placed, axis=1).mean())
    return (refined, moved, guides) if moved < 2 * _HALF else (placed, moved, guides)
