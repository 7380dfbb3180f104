"""Errors and scores of a match whose truth is known (Sec. 5).

Geodesic errors are edge-graph distances on the full shape divided by the square root of its area;
region scores are weighted by area.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from nho.evaluation.ground_truth import GroundTruth
from nho.geometry.geodesics import edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.spikes import without_spikes
from nho.geometry.surface import SurfacePoints
from nho.problem.result import HAS_PARTNER, MatchResult

_SOURCES_AT_ONCE = 256
_NEAR = 0.1  # of sqrt(area): how far the first search goes


@dataclass(frozen=True)
class Evaluation:
    """Summary of one match against the truth; errors x100 as in the paper, shares in percent."""

    geodesic_error: float  # mean over annotated, matched vertices, of the points in triangles
    geodesic_error_vertex: float  # the same for the nearest vertices
    geodesic_error_median: float
    geodesic_error_worst: float
    matched: float  # share of the annotated vertices that have a match
    iou: float
    precision: float
    recall: float
    f1: float
    # Of the partial shape: its vertices that have a partner; NaN if the truth does not tell.
    overlap_iou: float
    overlap_precision: float
    overlap_recall: float
    no_partner_f1: float  # of finding those that have none

    def as_dict(self) -> dict[str, float]:
        """Plain values by name."""
        return asdict(self)


def evaluate(result: MatchResult, full: Mesh, truth: GroundTruth) -> Evaluation:
    """Compare a result with the truth; ``full`` is the mesh as it was given to `match`.

    For region scores under another rule, give ``truth.under(rule, full)``.
    """
    known = truth.points.face >= 0
    matched = known & (result.face >= 0)

    def errors_of(points: SurfacePoints) -> np.ndarray:
        errors = 100 * geodesic_errors(full, points, truth.points)
        return errors[matched] if matched.any() else np.array([np.nan])

    errors = errors_of(result.points)
    vertex_errors = errors_of(SurfacePoints.at_vertices(full, result.vertex_map))
    region = region_scores(result.region, truth.region, without_spikes(full).vertex_areas)
    return Evaluation(
        geodesic_error=float(errors.mean()),
        geodesic_error_vertex=float(vertex_errors.mean()),
        geodesic_error_median=float(np.median(errors)),
        geodesic_error_worst=float(errors.max()),
        matched=100 * float(matched.sum() / max(known.sum(), 1)),
        **{name: 100 * value for name, value in region.items()},
        **overlap_scores(result, truth),
    )


def overlap_scores(result: MatchResult, truth: GroundTruth) -> dict[str, float]:
    """Scores, in percent, of telling which partial vertices have a partner; NaN if not known.

    Every vertex of which the truth knows either way counts once.
    """
    without = truth.unmatched
    names = "overlap_iou", "overlap_precision", "overlap_recall", "no_partner_f1"
    if without is None or not without.any():
        return dict.fromkeys(names, float("nan"))
    known = np.where(without | (truth.points.face >= 0), 1.0, 0.0)
    found = result.overlap >= HAS_PARTNER
    partner = region_scores(found, ~without, known)
    nothing = region_scores(~found, without, known)
    values = partner["iou"], partner["precision"], partner["recall"], nothing["f1"]
    return {name: 100 * value for name, value in zip(names, values, strict=True)}


def geodesic_errors(full: Mesh, predicted: SurfacePoints, truth: SurfacePoints) -> np.ndarray:
    """(n,) distances between paired points over sqrt(area); NaN where either is missing.

    Between points inside triangles: the shortest way over their corners, or straight where both
    lie in one triangle.
    """
    graph, unit = edge_graph(full), np.sqrt(without_spikes(full).area)
    errors = np.full(len(truth), np.nan)
    both = np.flatnonzero((predicted.face >= 0) & (truth.face >= 0))
    if not len(both):
        return errors
    goal, found = truth[both], predicted[both]
    goal_at, found_at = goal.positions(full), found.positions(full)
    goal_corner, goal_leg = _corners(full, goal, goal_at)
    found_corner, found_leg = _corners(full, found, found_at)
    straight = np.linalg.norm(goal_at - found_at, axis=1)
    best = np.where(_in_one_triangle(full, goal, found), straight, np.inf)
    if _searches(found_corner, found_leg) < _searches(goal_corner, goal_leg):  # a way has two ends
        goal_corner, found_corner = found_corner, goal_corner
        goal_leg, found_leg = found_leg, goal_leg
    # Most errors are small. A search that ends early is exact for what it finds within its reach:
    # any other way is longer than that.
    left = np.arange(len(both))
    for reach in (_NEAR * unit, np.inf):
        for corner in range(3):
            # A point at a vertex needs that corner only; it saves most of the Dijkstra runs.
            rows = left[np.isfinite(goal_leg[left, corner])]
            ways = _ways(graph, goal_corner[rows, corner], found_corner[rows], reach)
            ways = (ways + found_leg[rows]).min(axis=1) + goal_leg[rows, corner]
            best[rows] = np.minimum(best[rows], ways)
        left = left[best[left] > reach]
    errors[both] = best / unit
    return errors


def _searches(corners: np.ndarray, legs: np.ndarray) -> int:
    """Number of corners that ways have to start from."""
    return len(np.unique(corners[np.isfinite(legs)]))


def _ways(graph: csr_matrix, sources: np.ndarray, targets: np.ndarray, reach: float) -> np.ndarray:
    """(n, 3) distances from each source to its three targets; inf if beyond ``reach``."""
    found = np.full(targets.shape, np.inf)
    different, row_of = np.unique(sources, return_inverse=True)
    for first in range(0, len(different), _SOURCES_AT_ONCE):
        chunk = different[first : first + _SOURCES_AT_ONCE]
        lengths = dijkstra(graph, indices=chunk, limit=reach)
        rows = np.flatnonzero((row_of >= first) & (row_of < first + len(chunk)))
        found[rows] = lengths[row_of[rows, None] - first, targets[rows]]
    return found


def _in_one_triangle(mesh: Mesh, goal: SurfacePoints, found: SurfacePoints) -> np.ndarray:
    """(n,) bool: the triangle of one point holds the other (a vertex or edge is shared)."""

    def holds(faces: np.ndarray, points: SurfacePoints) -> np.ndarray:
        corners = mesh.faces[points.face]
        shared = (corners[:, :, None] == mesh.faces[faces][:, None, :]).any(axis=2)
        return np.asarray((shared | (points.barycentric <= 0)).all(axis=1))

    return np.asarray(holds(found.face, goal) | holds(goal.face, found))


def _corners(mesh: Mesh, points: SurfacePoints, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of each point's triangle (n, 3) and the way to them; inf where not needed."""
    corners = mesh.faces[points.face]
    legs = np.linalg.norm(mesh.vertices[corners] - at[:, None], axis=2)
    exact = points.barycentric.max(axis=1) == 1
    legs[exact] = np.where(points.barycentric[exact] == 1, 0.0, np.inf)
    return corners, legs


def region_scores(predicted: np.ndarray, truth: np.ndarray, areas: np.ndarray) -> dict[str, float]:
    """Area-weighted IoU, precision, recall and F1, each 0 to 1 (0 where undefined)."""
    both = areas[predicted & truth].sum()
    claimed, real = areas[predicted].sum(), areas[truth].sum()

    def ratio(part: float, whole: float) -> float:
        return float(part / whole) if whole > 0 else 0.0

    return {
        "iou": ratio(both, claimed + real - both),
        "precision": ratio(both, claimed),
        "recall": ratio(both, real),
        "f1": ratio(2 * both, claimed + real),
    }


def correct_share(errors: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """PCK: share of the (finite) errors that do not exceed each threshold."""
    errors = errors[np.isfinite(errors)]
    return _shares(errors[:, None] <= np.asarray(thresholds)[None])


def success_curve(scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Share of the scores (such as IoU of many pairs) that exceed each threshold."""
    return _shares(np.asarray(scores)[:, None] > np.asarray(thresholds)[None])


def _shares(table: np.ndarray) -> np.ndarray:
    """Share of true rows per column; zero if there are no rows."""
    return np.asarray(table.sum(axis=0) / max(len(table), 1))
