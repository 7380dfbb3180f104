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

Where something has no partner, the fields of both shapes learn what they have in common
(`two_regions`), and what the field denies is cheaper to cut off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

from nho.errors import SolverError
from nho.geometry.coverage import on_boundary
from nho.geometry.elastic import Elastic
from nho.geometry.graph_cut import connected_after_cut
from nho.geometry.mesh import BoolArray, FloatArray, Mesh
from nho.geometry.surface import SurfacePoints
from nho.recipes.guided.bending import Bending
from nho.recipes.guided.comparable import ComparablePair
from nho.recipes.guided.first_pose import Pose
from nho.recipes.guided.starts import Curvatures
from nho.recipes.guided.two_regions import TwoRegions

_GAP = (0.015, 0.04)  # from the full surface, which has area one: no misfit, full misfit
_FAR = 0.05  # a gap that has to be explained
_OVER = 0.5  # mean edges of the full shape: as far over its rim has to be explained, too
_AGREEMENT = (0.5, -0.2)  # cosine between the normals: no misfit, full misfit
_DISTORTION = (0.3, 0.6)  # relative
_SMOOTHING = 4  # rounds of averaging of the distortion
# How much likelier it is that there is no partner: docs/decisions.md
_LOG_ODDS = (9.15, 1.17, 0.945)  # constant, of the logarithms of gap and angle
_MOST_DOUBT = 2.0
_DOUBT_COUNTS = 0.02  # of an off vertex: much that lies a little badly has no partner either
_LOG_ODDS_LET_GO = (10.56, 2.532, 1.817)  # constant, of the logarithms of gap and relief
_RELIEF_SMOOTHING = 10  # rounds of averaging
_DOUBT_COUNTS_LET_GO = 0.1
_DOUBTED = 1.0  # log odds from which a vertex teaches the field that it has no partner
_FIELD_COUNTS = 0.1  # the field's log odds, of an off vertex
_STAYED = (0.015, 0.7)  # gap at most, agreement at least, of what stayed in place when let go
_ROUNDS = 20  # in which what stayed is held as well, so that the rest is let go nearer to it
_NEWS = 0.0005  # share of the vertices: a round that adds fewer is the last
_TINY = 1e-6
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

    @property
    def doubt(self) -> FloatArray:
        """(n_partial,) 0 to 2, how much likelier it is to have no partner, by gap and normals."""
        constant, of_gap, of_angle = _LOG_ODDS
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


class PartnerSearch:
    """Finds which vertices of the partial shape have a partner, in one pose after the other.

    Parameters
    ----------
    curvatures : pair of (n_partial, s) and (n_full, s) float arrays, optional
        Relief of both shapes. Without it nobody asks what springs away.
    regions : TwoRegions, optional
        Fields on both shapes, asked where something has no partner.
    """

    def __init__(
        self,
        pair: ComparablePair,
        bending: Bending,
        curvatures: Curvatures | None,
        regions: TwoRegions | None,
    ) -> None:
        self._pair, self._bending, self._curvatures = pair, bending, curvatures
        self._regions = regions

    def __call__(self, pose: Pose, reach: float) -> BoolArray:
        """(n_partial,) bool: what the cheapest cut leaves connected to the anchors.

        With few anchors it would be cheapest to cut these off. So what lies well around each, as
        far as a share ``reach`` of their spacing, is never cut off.
        """
        partial, distances = self._pair.partial, self._pair.distances
        anchored = distances.anchors[:, 0]
        fit = self._fit(pose.positions, pose.points)
        sure = surely_with_partner(partial, fit, anchored, reach * distances.spacing)
        doubt = self._let_go(pose, fit, sure)
        if not (fit.off.any() or doubt.any()):
            return np.ones(partial.n_vertices, dtype=bool)
        partner = connected_part(partial, fit, sure, doubt)
        if partner.all() or self._regions is None:
            return partner
        outside = (fit.off | (doubt > _DOUBTED)) & ~sure
        try:
            s = self._regions.of_partial(pose.points, sure, outside, partner)
        except SolverError:  # the cut is an answer without it as well
            return partner
        by_field = np.clip(np.log((1 - s + _TINY) / (s + _TINY)), 0, _MOST_DOUBT)
        denied = np.where(sure, 0.0, _FIELD_COUNTS * by_field)
        return connected_part(partial, fit, sure, doubt, denied)

    def _fit(self, positions: np.ndarray, points: SurfacePoints) -> Fit:
        return fit_of(self._pair.partial, positions, self._pair.full, points, self._bending.elastic)

    def _let_go(self, pose: Pose, fit: Fit, sure: BoolArray) -> FloatArray:
        """(n_partial,) 0 to 2, how much likelier it is to have no partner, as it sprang away.

        Held are what is sure and, round by round, what stayed in place: a limb far from every
        anchor may have bent.
        """
        if self._curvatures is None:
            return np.zeros(len(sure))
        own, others = self._curvatures
        unlike = np.abs(own - others[pose.points.nearest_vertex(self._pair.full)]).mean(axis=1)
        unlike = self._bending.elastic.averaged(unlike, _RELIEF_SMOOTHING)
        constant, of_gap, of_relief = _LOG_ODDS_LET_GO
        held = sure
        for last in [False] * (_ROUNDS - 1) + [True]:
            positions = self._bending.elastic.released(pose.positions, held)
            loose = self._fit(positions, self._bending.read_off(positions))
            doubt = constant + of_gap * np.log(2e-3 + loose.gap) + of_relief * np.log(0.1 + unlike)
            doubt = np.where(sure, 0.0, np.clip(doubt, 0, _MOST_DOUBT))
            if last or not doubt[~held].any():
                break
            stayed = (loose.gap < _STAYED[0]) & (loose.agreement > _STAYED[1])
            more = held | (stayed & (fit.misfit < _WELL))
            more = _connected_to(self._pair.partial, more, held)
            if np.count_nonzero(more) - np.count_nonzero(held) < _NEWS * len(held):
                break
            held = more
        return np.asarray(doubt)


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


def connected_part(
    partial: Mesh,
    fit: Fit,
    sure: BoolArray,
    doubt: np.ndarray | float = 0.0,
    denied: np.ndarray | float = 0.0,
) -> BoolArray:
    """(n_partial,) bool: what the cheapest cut leaves connected to what surely has a partner.

    Parameters
    ----------
    doubt : (n_partial,) float array
        0 to 2, by how it springs away when let go.
    denied : (n_partial,) float array
        Further penalties.
    """
    misfit = np.maximum(fit.misfit, doubt / _MOST_DOUBT)
    costs = 1 - _EASE * misfit[partial.edges].max(axis=1)
    penalties = fit.off + _DOUBT_COUNTS * fit.doubt + _DOUBT_COUNTS_LET_GO * doubt + denied
    kept = connected_after_cut(partial.edges, costs, np.flatnonzero(sure), penalties)
    return np.asarray(kept | _specks(partial, ~kept))


def surely_with_partner(partial: Mesh, fit: Fit, sources: np.ndarray, reach: float) -> BoolArray:
    """(n_partial,) bool: the sources, and vertices that lie well within reach of one.

    Reach is measured along edges whose ends lie well.
    """
    well = fit.misfit < _WELL
    edges = partial.edges[well[partial.edges].all(axis=1)]
    lengths = np.linalg.norm(np.diff(partial.vertices[edges], axis=1)[:, 0], axis=1)
    n = partial.n_vertices
    graph = sp.coo_array((lengths, (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    away = dijkstra(graph, directed=False, indices=sources, min_only=True, limit=reach)
    sure = np.isfinite(away) & ~fit.off
    sure[sources] = True
    return np.asarray(sure)


def _specks(partial: Mesh, without: BoolArray) -> BoolArray:
    """(n_partial,) bool: vertices of patches that are too small to be more than noise."""
    patch = _patches(partial, without)
    areas = np.bincount(patch, np.where(without, partial.vertex_areas, 0.0))
    small = (areas < _SPECK) | (np.bincount(patch) < _FEW)
    return np.asarray(without & small[patch])


def overlap(partner: BoolArray, elastic: Elastic, claimed: np.ndarray | float = 1.0) -> FloatArray:
    """(n_partial,) probability of a partner: uncertain along the cut, on its side of one half.

    Where an anchor alone claims a partner, it is no more than the chance of that, ``claimed``.
    """
    blurred = elastic.averaged(partner.astype(np.float64), _FRINGE)
    below = np.nextafter(0.5, 0)
    sided = np.where(partner, np.maximum(blurred, 0.5), np.minimum(blurred, below))
    return np.asarray(np.where(partner.all(), 1.0, sided).clip(max=claimed))
