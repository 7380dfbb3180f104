"""Which part of the partial shape has a partner on the full one at all.

A scan may show more than the template has: the plinth of a bust, clothes, or what is missing from
the template itself. Where the template ends, the bent surface runs over its rim; where it has
nothing alike, the surface floats, faces elsewhere, or is torn out of shape. What fits by chance on
the far side of such a place has no partner either: to get there from the anchors, one leaves the
template. So the part with a partner is what is still connected to the anchors after the cheapest
cut along places that do not fit.
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
from nho.recipes.guided.distance_evidence import AnchorDistances

_GAP = (0.015, 0.04)  # from the full surface, which has area one: no misfit, full misfit
_FAR = 0.05  # a gap that has to be explained
_OVER = 0.5  # mean edges of the full shape: as far over its rim has to be explained, too
_AGREEMENT = (0.5, -0.2)  # cosine between the normals: no misfit, full misfit
_DISTORTION = (0.3, 0.6)  # relative
_SMOOTHING = 4  # rounds of averaging of the distortion
_LOG_ODDS = (9.15, 1.17, 0.945)  # constant, of the logarithms of gap and angle: docs/decisions.md
_MOST_DOUBT = 2.0
_DOUBT_COUNTS = 0.02  # of an off vertex: much that lies a little badly has no partner either
_WELL = 0.5  # misfit of a vertex that lies well
_SPECK = 0.003  # area of a patch that is noise; the full shape has area one
_FEW = 4  # vertices; a patch of fewer is noise as well
_EASE = 0.9  # by how much a misfit makes it cheaper to cut there
_FRINGE = 4  # rounds of averaging: how far around the cut the answer is uncertain


@dataclass(frozen=True)
class Fit:
    """How well every vertex of a bent surface lies on the full one.

    Attributes
    ----------
    misfit : (n_partial,) float array
        0 to 1.
    off : (n_partial,) bool array
        It lies over the rim of the full shape, or far from its surface.
    doubt : (n_partial,) float array
        0 to 2, how much likelier it is to have no partner, by gap and normals (log odds).
    """

    misfit: FloatArray
    off: BoolArray
    doubt: FloatArray


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
    doubt = _LOG_ODDS[0] + _LOG_ODDS[1] * np.log(2e-3 + gap)
    doubt += _LOG_ODDS[2] * np.log(1e-2 + np.maximum(1 - agreement, 0))
    misfit = np.maximum.reduce([on_rim.astype(np.float64), *ramps])
    return Fit(misfit, off, np.clip(doubt, 0, _MOST_DOUBT))


def has_partner(partial: Mesh, fit: Fit, distances: AnchorDistances) -> BoolArray:
    """(n_partial,) bool: what the cheapest cut leaves connected to the anchors.

    With few anchors it would be cheapest to cut these off. So what lies well around each, as far
    as half of their spacing, is never cut off.
    """
    if not fit.off.any():
        return np.ones(partial.n_vertices, dtype=bool)
    anchored = distances.anchors[:, 0]
    around = _lying_well_around(partial, fit, anchored, distances.spacing / 2)
    costs = 1 - _EASE * fit.misfit[partial.edges].max(axis=1)
    penalties = fit.off + _DOUBT_COUNTS * fit.doubt
    kept = connected_after_cut(partial.edges, costs, np.union1d(around, anchored), penalties)
    return np.asarray(kept | _specks(partial, ~kept))


def _lying_well_around(partial: Mesh, fit: Fit, sources: np.ndarray, reach: float) -> np.ndarray:
    """Vertices within reach of a source along edges whose ends lie well."""
    well = fit.misfit < _WELL
    edges = partial.edges[well[partial.edges].all(axis=1)]
    lengths = np.linalg.norm(np.diff(partial.vertices[edges], axis=1)[:, 0], axis=1)
    n = partial.n_vertices
    graph = sp.coo_array((lengths, (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    away = dijkstra(graph, directed=False, indices=sources, min_only=True, limit=reach)
    return np.flatnonzero(np.isfinite(away) & ~fit.off)


def _specks(partial: Mesh, without: np.ndarray) -> BoolArray:
    """(n_partial,) bool: vertices of patches that are too small to be more than noise."""
    edges = partial.edges[without[partial.edges].all(axis=1)]
    n = partial.n_vertices
    links = sp.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    patch = connected_components(links, directed=False)[1]
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
