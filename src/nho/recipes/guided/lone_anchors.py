"""Anchors that alone claim a partner for a part of the partial shape.

Between such a part and the other anchors the surface does not fit the full shape: without its
anchor it would be cut off. Let go, the surface does not take the anchor to its partner either.
Mostly it was set where the full shape has nothing at all. But it may be right: a foot is there, and
the knee is not. So it is used, and named; and what it claims is in doubt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.geometry.mesh import BoolArray
from nho.recipes.guided.bending import Bending
from nho.recipes.guided.comparable import ComparablePair
from nho.recipes.guided.first_pose import Pose
from nho.recipes.guided.overlap import connected_part, surely_with_partner
from nho.recipes.guided.pose_fit import Fit, fit_of

_AWAY = 0.1  # from its partner when let go; the full shape has area one. Right ones: 0.06 and less
CREDIT = 0.5  # chance that the claim is right


@dataclass(frozen=True)
class LoneAnchor:
    """An anchor and what it claims.

    Attributes
    ----------
    row : int
        Of the anchors that distances are measured from.
    part : (n_partial,) bool array
        Vertices that are cut off without it.
    """

    row: int
    part: BoolArray


def lone_anchors(
    pair: ComparablePair, bending: Bending, pose: Pose, reach: float
) -> list[LoneAnchor]:
    """Those of a pose, if there are enough anchors to judge one by the others.

    Parameters
    ----------
    reach : float
        Share of the anchors' spacing, around which what lies well surely has a partner.
    """
    partial, full = pair.partial, pair.full
    fit = fit_of(partial, pose.positions, full, pose.points, bending.elastic)
    if not (pair.judging and fit.off.any()):
        return []
    own, other = pair.distances.anchors.T
    found = []
    for row in _cut_off_alone(pair, fit, reach):
        kept = _without(pair, fit, np.delete(own, row), reach)
        if kept[own[row]]:
            continue
        released = bending.elastic.released(pose.positions, kept)
        if np.linalg.norm(released[own[row]] - full.vertices[other[row]]) > _AWAY:
            found.append(LoneAnchor(int(row), ~kept))
    return found


def _cut_off_alone(pair: ComparablePair, fit: Fit, reach: float) -> np.ndarray:
    """Rows of anchors that may be cut off without themselves.

    More sources never keep less. So an anchor that one half of the anchors keeps, without being
    among them, needs no cut of its own.
    """
    own = pair.distances.anchors[:, 0]
    even = np.arange(len(own)) % 2 == 0
    kept = np.empty(len(own), dtype=bool)
    for half in (even, ~even):
        kept[~half] = _without(pair, fit, own[half], reach)[own[~half]]
    return np.flatnonzero(~kept)


def _without(pair: ComparablePair, fit: Fit, sources: np.ndarray, reach: float) -> BoolArray:
    """(n_partial,) bool: what the cheapest cut leaves connected to these anchors alone."""
    sure = surely_with_partner(pair.partial, fit, sources, reach * pair.distances.spacing)
    return connected_part(pair.partial, fit, sure)
