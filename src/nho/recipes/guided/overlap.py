"""Which part of the partial shape has a partner on the full one at all.

A scan may show more than the template has: the plinth of a bust, clothes, or what is missing from
the template itself. Where the template ends, the bent surface runs over its rim; where it has
nothing alike, the surface floats, faces elsewhere, or is torn out of shape. What fits by chance on
the far side of such a place has no partner either: to get there from the anchors, one leaves the
template. So the part with a partner is what is still connected to the anchors after the cheapest
cut along places that do not fit.

Drawn to a template that is closed, a plinth lies on it as well as anything. So the surface is let
go, all but what lies well around the anchors: what belongs to the template stays near it, and what
does not springs away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

from nho.geometry.coverage import on_boundary
from nho.geometry.elastic import Elastic
from nho.geometry.graph_cut import connected_after_cut
from nho.geometry.mesh import BoolArray, FloatArray, Mesh
from nho.geometry.surface import SurfacePoints
from nho.recipes.guided.bending import Bending
from nho.recipes.guided.comparable import ComparablePair
from nho.recipes.guided.first_pose import Pose

_GAP = (0.015, 0.04)  # from the full surface, which has area one: no misfit, full misfit
_FAR = 0.05  # a gap that has to be explained
_OVER = 0.5  # mean edges of the full shape: as far over its rim has to be explained, too
_AGREEMENT = (0.5, -0.2)  # cosine between the normals: no misfit, full misfit
_DISTORTION = (0.3, 0.6)  # relative
_SMOOTHING = 4  # rounds of averaging of the distortion
# Constant, and coefficients of the logarithms of gap and angle: docs/decisions.md
_LOG_ODDS = (9.15, 1.17, 0.945)
_LOG_ODDS_LET_GO = (8.86, 1.957, 1.011)
_MOST_DOUBT = 2.0
_DOUBT_COUNTS = 0.02  # of an off vertex: much that lies a little badly has no partner either
_DOUBT_COUNTS_LET_GO = 0.05
_STAYED = (0.007, 0.8)  # gap at most, agreement at least, of what stayed in place when let go
_ROUNDS = 4  # in which what stayed is held as well, so that the rest is let go nearer to it
_NEWS = 0.005  # share of the vertices: a round that adds fewer is the last
_WELL = 0.5  # misfit of a vertex that lies well
_SPECK = 0.003  # area of a patch that is noise; the full shape has area one
_FEW = 4  # vertices; a patch of fewer is noise as well
_EASE = 0.9  # by how much a misfit makes it cheaper to cut there
_FRINGE = 4  # rounds of averaging: how far around the cut the answer is uncertain


@dataclass(frozen=True)
class Fit:
    """How well every vertex of a pose lies on the full shape.

    Attributes
    ----------
    gap, agreement : (n_partial,) float arrays
        Distance to the full surface, and cosine between the normals there.
    misfit : (n_partial,) float array
        0 to 1.
    off : (n_partial,) bool array
        It lies over the rim of the full shape, or far from its surface.
    """

    gap: FloatArray
    agreement: FloatArray
    misfit: FloatArray
    off: BoolArray

    def doubt(self, log_odds: tuple[float, float, float]) -> FloatArray:
        """(n_partial,) 0 to 2, how much likelier it is to have no partner, by gap and normals."""
        constant, of_gap, of_angle = log_odds
        doubt = constant + of_gap * np.log(2e-3 + self.gap)
        doubt += of_angle * np.log(1e-2 + np.maximum(1 - self.agreement, 0))
        return np.asarray(np.clip(doubt, 0, _MOST_DOUBT))


def fit_of(
    partial: Mesh, positions: np.ndarray, full: Mesh, points: SurfacePoints, elastic: Elastic
) -> Fit:
    """Fit of a pose with these positions, which lies on these points."""
    gap = np.linalg.norm(positions - points.positions(full), axis=1)
    on_rim = on_boundary(full, points)
    normals = partial.moved(positions).vertex_normals
    agreement = (normals * full.face_normals[points.face]).sum(axis=1)
    distortion = elastic.distortion(positions, _SMOOTHING)
    signals = (gap, _GAP), (agreement, _AGREEMENT), (distortion, _DISTORTION)
    ramps = [np.clip((of - low) / (high - low), 0, 1) for of, (low, high) in signals]
    off = (gap > _FAR) | (on_rim & (gap > _OVER * full.mean_edge_length))
    misfit = np.maximum.reduce([on_rim.astype(np.float64), *ramps])
    return Fit(gap, agreement, misfit, off)


def has_partner(pose: Pose, pair: ComparablePair, bending: Bending, reach: float) -> BoolArray:
    """(n_partial,) bool: what the cheapest cut leaves connected to the anchors.

    With few anchors it would be cheapest to cut these off. So what lies well around each, as far
    as a share of their spacing, is never cut off.
    """
    partial, anchored = pair.partial, pair.distances.anchors[:, 0]
    fit = fit_of(partial, pose.positions, pair.full, pose.points, bending.elastic)
    sure = np.zeros(partial.n_vertices, dtype=bool)
    sure[_lying_well_around(partial, fit, anchored, reach * pair.distances.spacing)] = True
    sure[anchored] = True
    loose = _let_go(pose, fit, sure, pair, bending)
    doubt = np.where(sure, 0.0, loose.doubt(_LOG_ODDS_LET_GO))
    if not (fit.off.any() or doubt.any()):
        return np.ones(partial.n_vertices, dtype=bool)
    misfit = np.maximum(fit.misfit, loose.misfit)
    costs = 1 - _EASE * misfit[partial.edges].max(axis=1)
    penalties = fit.off + _DOUBT_COUNTS * fit.doubt(_LOG_ODDS) + _DOUBT_COUNTS_LET_GO * doubt
    kept = connected_after_cut(partial.edges, costs, np.flatnonzero(sure), penalties)
    return np.asarray(kept | _specks(partial, ~kept))


def _let_go(pose: Pose, fit: Fit, sure: BoolArray, pair: ComparablePair, bending: Bending) -> Fit:
    """Fit of the surface after it was let go, all but what is sure and what stayed in place."""
    held = sure
    for last in [False] * (_ROUNDS - 1) + [True]:
        positions = bending.elastic.released(pose.positions, held)
        points = bending.read_off(positions)
        loose = fit_of(pair.partial, positions, pair.full, points, bending.elastic)
        if last or not loose.doubt(_LOG_ODDS_LET_GO)[~held].any():
            break
        stayed = (loose.gap < _STAYED[0]) & (loose.agreement > _STAYED[1]) & (fit.misfit < _WELL)
        more = _connected_to(pair.partial, held | stayed, held)
        if np.count_nonzero(more) - np.count_nonzero(held) < _NEWS * len(held):
            break
        held = more
    return loose


def _connected_to(mesh: Mesh, vertices: BoolArray, seeds: BoolArray) -> BoolArray:
    """(n,) bool: those of the vertices that are connected to a seed among them."""
    patch = _patches(mesh, vertices)
    seeded = np.zeros(mesh.n_vertices, dtype=bool)
    seeded[patch[seeds]] = True
    return np.asarray(vertices & seeded[patch])


def _patches(mesh: Mesh, vertices: BoolArray) -> np.ndarray:
    """(n,) number of the patch of each of the vertices; every other vertex is one of its own."""
    edges = mesh.edges[vertices[mesh.edges].all(axis=1)]
    n = mesh.n_vertices
    links = sp.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    return np.asarray(connected_components(links, directed=False)[1])


def _lying_well_around(partial: Mesh, fit: Fit, sources: np.ndarray, reach: float) -> np.ndarray:
    """Vertices within reach of a source along edges whose ends lie well."""
    well = fit.misfit < _WELL
    edges = partial.edges[well[partial.edges].all(axis=1)]
    lengths = np.linalg.norm(np.diff(partial.vertices[edges], axis=1)[:, 0], axis=1)
    n = partial.n_vertices
    graph = sp.coo_array((lengths, (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    away = dijkstra(graph, directed=False, indices=sources, min_only=True, limit=reach)
    return np.flatnonzero(np.isfinite(away) & ~fit.off)


def _specks(partial: Mesh, without: BoolArray) -> BoolArray:
    """(n_partial,) bool: vertices of patches that are too small to be more than noise."""
    patch = _patches(partial, without)
    areas = np.bincount(patch, np.where(without, partial.vertex_areas, 0.0))
    small = (areas < _SPECK) | (np.bincount(patch) < _FEW)
    return np.asarray(without & small[patch])


def overlap(partner: BoolArray, elastic: Elastic) -> FloatArray:
    """(n_partial,) probability of a partner: uncertain along the cut, on its side of one half."""
    if partner.all():
        return np.ones(len(partner))
    blurred = elastic.averaged(partner.astype(np.float64), _FRINGE)
    below = np.nextafter(0.5, 0)
    return np.asarray(np.where(partner, np.maximum(blurred, 0.5), np.minimum(blurred, below)))
