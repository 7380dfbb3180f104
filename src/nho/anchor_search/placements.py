"""Place the partial shape on the full one by a set of anchors, and score the placement.

Nothing but the two shapes is needed to score: a right set bends the surface without strain, and
every place comes to lie on one that looks like it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.anchor_search.coarse_surface import NO_ANCHORS, CoarseSurface
from nho.geometry.relief import standardised
from nho.geometry.sampling import sample_vertices
from nho.geometry.surface import SurfacePoints
from nho.recipes.guided.bending import Bending
from nho.recipes.guided.distance_evidence import AnchorDistances, first_map

_AROUND = 0.06  # radius within which the quality of a place is averaged
_MOST_UNLIKE = 4.0  # more does not count
_GOOD = 0.7  # share of the places, the best ones, that may become anchors
_SHARES = ((0.7,), (0.5, 0.5), (0.2, 0.2))  # the same while improving, round by round
_OFF_RIM = 0.03  # anchors keep away from the boundary, where little is known


@dataclass(frozen=True)
class Placement:
    """The partial shape, placed on the full one.

    Attributes
    ----------
    anchors : (m, 2) int array
        That it was placed by.
    points : SurfacePoints
        On the coarse full shape, one per place of the partial one.
    image : (n_partial,) int array
        Nearest places of the full shape.
    strain : (n_partial,) float array
        Distortion of the surface around each place.
    unlike : (n_partial,) float array
        How unlike each place and its image are.
    score : float
        Mean strain times mean unlikeness, weighted by area; lower is better.
    """

    anchors: np.ndarray
    points: SurfacePoints
    image: np.ndarray
    strain: np.ndarray
    unlike: np.ndarray
    score: float


class Placer:
    """Makes placements of one pair of shapes.

    Parameters
    ----------
    unlike : (n_partial, n_full) float array
        Their `unlikeness`.
    given : (k, 2) int array
        Anchors that every placement keeps.
    """

    def __init__(
        self,
        partial: CoarseSurface,
        full: CoarseSurface,
        unlike: np.ndarray,
        given: np.ndarray = NO_ANCHORS,
    ) -> None:
        self._partial, self._full, self._unlike = partial, full, unlike
        self._given = given
        self._curvatures = standardised(partial.relief, full.relief)
        near = np.exp(-((partial.distance / _AROUND) ** 2)) * partial.area
        self._around = near / near.sum(axis=1, keepdims=True)

    def place(self, anchors: np.ndarray) -> Placement:
        """Place by (m, 2) anchors: distances, then bending, as preset `default`."""
        partial, full = self._partial, self._full
        distances = AnchorDistances(
            anchors, partial.distance[anchors[:, 0]], full.distance[anchors[:, 1]]
        )
        orientation = distances.orientation(partial.mesh, full.mesh)
        target = first_map(distances, orientation, self._curvatures)
        bending = Bending(partial.mesh, full.mesh, distances, self._curvatures)
        pose = bending.from_images(bending.images(target))
        points = bending.read_off(pose)
        image = points.nearest_vertex(full.mesh)
        strain = bending.elastic.distortion(pose)
        unlike = self._unlike[np.arange(len(image)), image]
        score = np.average(strain, weights=partial.area) * np.average(unlike, weights=partial.area)
        return Placement(anchors, points, image, strain, unlike, float(score))

    def improved(self, placement: Placement, count: int) -> Placement:
        """The best of a placement and those by anchors taken from its good places.

        Few places, the very best, mend what is wrong in part; many of them settle the rest.
        """
        best = placement
        for shares in _SHARES:
            last = placement
            for share in shares:
                last = self.place(self.good_places(last, count, share))
                best = min(best, last, key=lambda each: each.score)
        return best

    def good_places(self, placement: Placement, count: int, share: float = _GOOD) -> np.ndarray:
        """(count, 2) anchors far apart, at places of little strain whose images look like them.

        Of the best ``share`` of all places; fewer if there are fewer such places. Given anchors
        come first, and nothing near them.
        """
        mean_unlike = self._around @ np.minimum(placement.unlike, _MOST_UNLIKE)
        mean_strain = self._around @ placement.strain
        tiny = np.finfo(float).tiny
        poor = mean_unlike / max(2 * np.median(placement.unlike), tiny)
        poor += mean_strain / max(np.median(placement.strain), tiny)
        inner = self._partial.rim >= min(_OFF_RIM, np.median(self._partial.rim))
        good = np.flatnonzero((poor <= np.quantile(poor, share)) & inner)
        if len(good) < count:
            good = np.argsort(poor, kind="stable")[: max(count, len(good))]
        if len(self._given):
            to_given = self._partial.distance[self._given[:, 0]].min(axis=0)
            good = good[to_given[good] > _AROUND]
        count = min(count - len(self._given), len(good))
        if not count:  # a small piece: everything is near a given anchor
            return self._given
        places = sample_vertices(self._partial.mesh, count, candidates=good)
        return np.concatenate([self._given, np.stack([places, placement.image[places]], axis=1)])

    def between(self, one: Placement, other: Placement) -> float:
        """Mean distance between the images of two placements."""
        apart = self._full.distance[one.image, other.image]
        return float(np.average(apart, weights=self._partial.area))
