"""Which part of the partial shape has a partner on the full one at all.

A scan may show more than the template has: the plinth of a bust, clothes, or what is missing from
the template itself. Where the template ends, the bent surface runs over its rim; where it has
nothing alike, the surface floats, faces elsewhere, or is torn out of shape. What fits by chance on
the far side of such a place has no partner either: to get there from the anchors, one leaves the
template. So the part with a partner is what is still connected to the anchors after the cheapest
cut along places that do not fit.

Drawn to a template that is closed, a plinth lies on it as well as anything: `foreign_matter` tells
it by what springs away when the surface is let go.

Where something has no partner, the fields of both shapes learn what they have in common
(`two_regions`), and what the field denies is cheaper to cut off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from nho.errors import SolverError
from nho.geometry.elastic import Elastic
from nho.geometry.graph_cut import connected_after_cut, patches
from nho.geometry.mesh import BoolArray, FloatArray, Mesh
from nho.recipes.guided.bending import Bending
from nho.recipes.guided.comparable import ComparablePair
from nho.recipes.guided.first_pose import Pose
from nho.recipes.guided.foreign_matter import ForeignMatter
from nho.recipes.guided.pose_fit import MOST_DOUBT, Fit, fit_of
from nho.recipes.guided.starts import Curvatures
from nho.recipes.guided.two_regions import TwoRegions

_DOUBT_COUNTS = 0.02  # of an off vertex: much that lies a little badly has no partner either
_DOUBTED = 1.0  # log odds from which a vertex teaches the field that it has no partner
_FIELD_COUNTS = 0.1  # the field's log odds, of an off vertex
_INSIDE = 6  # rings from what has no partner: held when the surface is let go again
_TINY = 1e-6
_WELL = 0.5  # misfit of a vertex that lies well
_SPECK = 0.003  # area of a patch that is noise; the full shape has area one
_FEW = 4  # vertices; a patch of fewer is noise as well
_EASE = 0.9  # by how much a misfit makes it cheaper to cut there
_FRINGE = 4  # rounds of averaging: how far around the cut the answer is uncertain


@dataclass(frozen=True)
class Partners:
    """What was found in a pose.

    Attributes
    ----------
    partner : (n_partial,) bool array
        It has a partner.
    creases : (n_partial,) float array or None
        How much the surface was flattened, if there is foreign matter.
    """

    partner: BoolArray
    creases: FloatArray | None = None


class PartnerSearch:
    """Finds which vertices of the partial shape have a partner, in one pose after the other.

    Parameters
    ----------
    curvatures : pair of (n_partial, s) and (n_full, s) float arrays, optional
        Relief of both shapes. Without it foreign matter is not sought.
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
        self._pair, self._bending, self._regions = pair, bending, regions
        self._foreign = None if curvatures is None else ForeignMatter(pair, bending, curvatures)

    def __call__(self, pose: Pose, reach: float, last: Partners | None = None) -> Partners:
        """What the cheapest cut leaves connected to the anchors, without foreign matter.

        With few anchors it would be cheapest to cut these off. So what lies well around each, as
        far as a share ``reach`` of their spacing, is never cut off.

        Parameters
        ----------
        last : Partners, optional
            What was found before the surface was bent to this pose without the rest. Where that
            was no foreign matter, none is sought.
        """
        partial, distances = self._pair.partial, self._pair.distances
        anchored = distances.anchors[:, 0]
        fit = fit_of(partial, pose.positions, self._pair.full, pose.points, self._bending.elastic)
        sure = surely_with_partner(partial, fit, anchored, reach * distances.spacing)
        partner = np.ones(partial.n_vertices, dtype=bool)
        if fit.off.any():
            partner = connected_part(partial, fit, sure)
        foreign, creases, outside = np.zeros_like(partner), None, fit.off
        if self._foreign is not None and (last is None or last.creases is not None):
            foreign, creases, odds = self._told(self._foreign, pose, fit, sure, partner, last)
            foreign = self._foreign.likely(pose, foreign, last is None)
            outside = outside | (odds > _DOUBTED)
        partner = partner & ~foreign
        partner = partner | _specks(partial, ~partner)
        found = Partners(partner, creases if foreign.any() else None)
        if partner.all() or self._regions is None:
            return found
        try:
            s = self._regions.of_partial(pose.points, sure, outside & ~sure, partner)
        except SolverError:  # the cut is an answer without it as well
            return found
        by_field = np.clip(np.log((1 - s + _TINY) / (s + _TINY)), 0, MOST_DOUBT)
        denied = np.where(sure, 0.0, _FIELD_COUNTS * by_field)
        return replace(found, partner=connected_part(partial, fit, sure, denied) & ~foreign)

    def _told(
        self,
        matter: ForeignMatter,
        pose: Pose,
        fit: Fit,
        sure: BoolArray,
        partner: BoolArray,
        last: Partners | None,
    ) -> tuple[BoolArray, FloatArray, FloatArray]:
        """(n_partial,) arrays: may be foreign matter, creases, log odds of being foreign.

        At first, what has no partner anyway does not count: there has to be more. Later all of it
        counts, since foreign matter that is no longer drawn to the full shape is off it.
        """
        held = sure
        if last is None or last.creases is None:
            creases = matter.creases(pose)
        else:
            creases = last.creases
            without = (~last.partner).astype(np.float64)
            inside = self._bending.elastic.averaged(without, _INSIDE) == 0
            held = sure | (inside & (fit.misfit < _WELL))
        odds = matter.log_odds(pose, held, creases)
        foreign = ~matter.own_part(fit, sure, odds, creases)
        if last is None:
            foreign &= partner
        return foreign, creases, odds


def connected_part(
    partial: Mesh,
    fit: Fit,
    sure: BoolArray,
    denied: np.ndarray | float = 0.0,
) -> BoolArray:
    """(n_partial,) bool: what the cheapest cut leaves connected to what surely has a partner.

    Parameters
    ----------
    denied : (n_partial,) float array
        Further penalties.
    """
    costs = 1 - _EASE * fit.misfit[partial.edges].max(axis=1)
    penalties = fit.off + _DOUBT_COUNTS * fit.doubt + denied
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
    patch = patches(partial.edges, without)
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
