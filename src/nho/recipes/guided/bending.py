"""Bend the partial surface onto the full one, starting from a map.

Intrinsic methods assume isometry; fitting the surface in space does not. The partial surface is
laid onto the full one at the images of the present map, so pose, orientation and scale do not
matter, and then relaxed: as rigid as possible, drawn to the closest points that face the same way
and have like relief, pinned weakly by the anchors. What runs over the rim of the full shape is not
drawn back to it. Weights of targets are shares of the elastic unit (`Elastic.unit`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nho.geometry.closest import FacingSearch
from nho.geometry.coverage import on_boundary
from nho.geometry.elastic import Elastic
from nho.geometry.kept import kept_with
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.recipes.guided.distance_evidence import AnchorDistances
from nho.runtime.parallel import SERIAL, Workers

# Pull of the closest points, one number an iteration: long gentle phases let the surface slide
# into place, short firm ones bring it down onto the target.
GENTLE, FIRM = ((0.02,) * 6,) * 3, ((0.1,) * 4, (0.3,) * 4)
ITERATIONS = sum(len(phase) for phase in GENTLE + FIRM)  # of a bend with every phase

_ANCHOR_PULL = 0.1  # weak: what is left at the anchors is interpolated by kriging after each phase
_ANCHOR_NOISE = 0.4  # mean edges: what an anchor may be off; no more than that is taken for noise
_FIELD_PULL = 1.0  # of many anchors on the field that brings the surface to them
_IMAGE_PULL = 0.05  # of the images while they are being smoothed
_IMAGE_WIDTH = 3.0  # mean edges: images farther from the smooth surface lose their pull
_MOMENTUM = 0.7
_KEEP = 3  # iterations between factorisations, and between searches for near triangles
_TOLERATED = 0.2  # relative distortion above which a vertex lets go of its target
_OVER_RIM = 0.7  # mean edges over the rim of the full shape, where it lets go as well
_LEAST_PULL = 1e-4  # share of the pull that is left where a vertex lets go
NORMAL_WEIGHT = 1.4  # mean edges: how far a vertex goes to find a surface that faces its way
_RELIEF_WEIGHT = 1.0  # mean edges a standard deviation: the same for one of like relief


class Bending:
    """A partial surface to be bent onto a full one, again and again from different maps.

    Parameters
    ----------
    curvatures : pair of (n_partial, s) and (n_full, s) float arrays, optional
        Relief of both shapes in standard deviations; in gentle phases like is drawn to like.
    pin : bool
        Pin the surface at the anchors. If not, they only led to the map it starts from.
    """

    def __init__(
        self,
        partial: Mesh,
        full: Mesh,
        distances: AnchorDistances,
        curvatures: tuple[np.ndarray, np.ndarray] | None = None,
        pin: bool = True,
    ) -> None:
        self._partial, self._full = partial, full
        self.elastic = kept_with(partial, Elastic, lambda: Elastic(partial))
        edge = full.mean_edge_length
        weight = NORMAL_WEIGHT * edge
        self._facing = kept_with(full, FacingSearch, lambda: FacingSearch(full, weight))
        self._alike, self._curvatures = self._facing, None
        if curvatures is not None:
            own, other = curvatures
            self._curvatures = _RELIEF_WEIGHT * edge * own
            # Kept with it, `other` lives on, so that no other array gets its number.
            self._alike, _ = kept_with(
                full,
                (FacingSearch, id(other)),
                lambda: (
                    FacingSearch(full, weight, curvatures=_RELIEF_WEIGHT * edge * other),
                    other,
                ),
            )
        pinned = np.concatenate([distances.anchors, distances.others])[: None if pin else 0]
        self.pinned = pinned[:, 0]
        self.goal = full.vertices[pinned[:, 1]]
        self._rimmed = bool(full.boundary_vertices.any())
        self._sources, self._krige = len(distances.anchors), distances.krige

    def from_images(
        self,
        images: np.ndarray,
        gentle: int = len(GENTLE),
        pool: Workers = SERIAL,
        watch: Callable[[float], None] = lambda gap: None,
        relief: bool = True,
        partner: np.ndarray | None = None,
        smoothing: int = 8,
    ) -> np.ndarray:
        """(n_partial, 3) positions after bending from where a map takes the vertices.

        Parameters
        ----------
        images : (n_partial, 3) float array
        gentle : int
            Gentle phases before the firm ones; fewer are enough from a map that is nearly right.
        watch : callable
            Called after every iteration with the mean distance to the closest points.
        relief : bool
            In gentle phases like is drawn to like, if the relief is known.
        partner : (n_partial,) bool array, optional
            Vertices that have a partner; the others are carried along. By default all have.
        smoothing : int
            Rounds of fitting the surface to the images; one is enough for those of a pose.
        """
        share = 1.0 if partner is None else np.where(partner, 1.0, _LEAST_PULL)
        positions = self._smoothed(images, share, smoothing)
        phases = GENTLE[:gentle] + FIRM
        for number, phase in enumerate(phases, start=1):
            alike = relief and number <= gentle
            positions = self._relaxed(positions, phase, alike, pool, watch, share)
            if len(self.pinned):
                noise = _ANCHOR_NOISE * self._full.mean_edge_length
                positions = positions + self._krige(self._missed(positions)[: self._sources], noise)
            if len(self.pinned) > self._sources:
                positions = positions + self._interpolated(self._missed(positions))
        return positions

    def images(self, target: np.ndarray) -> np.ndarray:
        """(n_partial, 3) positions of a vertex map."""
        return np.asarray(self._full.vertices[target])

    def _missed(self, positions: np.ndarray) -> np.ndarray:
        """(k, 3) what is left to the goals of the anchors."""
        return np.asarray(self.goal - positions[self.pinned])

    def _interpolated(self, missed: np.ndarray) -> np.ndarray:
        """(n_partial, 3) smooth field from what is missed at many anchors, as the surface yields.

        One sparse solve, where kriging takes a dense one; where anchors are few it has peaks.
        """
        weights = np.zeros(self._partial.n_vertices)
        weights[self.pinned] = _FIELD_PULL * self.elastic.unit
        right = np.zeros((len(weights), 3))
        right[self.pinned] = _FIELD_PULL * self.elastic.unit * missed
        return self.elastic.solver(weights).solve(right)

    def read_off(self, positions: np.ndarray) -> SurfacePoints:
        """The map of a pose: closest points that face the same way."""
        return self._facing(positions, self._normals(positions))[0]

    def distortion(self, positions: np.ndarray) -> float:
        """Mean distortion of a pose: the unsupervised score, lower is better."""
        return float(self.elastic.distortion(positions).mean())

    def _smoothed(self, images: np.ndarray, share: np.ndarray | float, rounds: int) -> np.ndarray:
        """Fit the surface to noisy images; Cauchy weights let outliers go."""
        pull = np.full(len(images), _IMAGE_PULL * self.elastic.unit) * share
        width = _IMAGE_WIDTH * self._full.mean_edge_length
        positions = images
        for _ in range(rounds):
            gap = ((positions - images) ** 2).sum(axis=1)
            step = _Step(self, pull / (1 + gap / width**2), 1.0)
            positions = step(positions, self.elastic.rotations(positions), images)
        return positions

    def _relaxed(
        self,
        positions: np.ndarray,
        phase: tuple[float, ...],
        alike: bool,
        pool: Workers,
        watch: Callable[[float], None],
        share: np.ndarray | float,
    ) -> np.ndarray:
        """Closest points, of like relief if ``alike``, and elastic steps in turn, with momentum."""
        search = self._alike if alike else self._facing
        moved_last = np.zeros_like(positions)
        for number, pull in enumerate(phase):
            ahead = positions + _MOMENTUM * moved_last
            rotations = self.elastic.rotations(ahead)
            place = [ahead, self._normals(ahead)]
            if alike and self._curvatures is not None:
                place.append(self._curvatures)
            if number % _KEEP == 0:
                excess = self.elastic.distortion(ahead, rotations=rotations) / _TOLERATED
                near = _by_rows(pool, search.candidates, *place)
                weights = pull * share * self.elastic.unit / (1 + excess**2) ** 2
                if self._rimmed:
                    weights = weights * self._inside(ahead, *search.among(near, *place))
                step = _Step(self, weights, _ANCHOR_PULL)
            closest = _by_rows(pool, lambda *rows: search.among(*rows)[1], near, *place)
            moved = step(ahead, rotations, closest)
            watch(float(np.linalg.norm(ahead - closest, axis=1).mean()))
            moved_last, positions = moved - positions, moved
        return positions

    def _inside(
        self, positions: np.ndarray, points: SurfacePoints, closest: np.ndarray
    ) -> np.ndarray:
        """(n_partial,) 1, less where the closest point is on the rim of the full shape."""
        over = np.linalg.norm(positions - closest, axis=1) / self._full.mean_edge_length
        over[~on_boundary(self._full, points)] = 0
        return np.asarray(np.maximum(1 / (1 + (over / _OVER_RIM) ** 2) ** 2, _LEAST_PULL))

    def _normals(self, positions: np.ndarray) -> np.ndarray:
        """(n, 3) unit vertex normals of the partial surface at other positions."""
        a, b, c = (positions[self._partial.faces[:, corner]] for corner in range(3))
        crosses = np.cross(b - a, c - a)
        normals = np.stack(
            [
                np.bincount(
                    self._partial.faces.ravel(),
                    np.repeat(crosses[:, axis], 3),
                    minlength=len(positions),
                )
                for axis in range(3)
            ],
            axis=1,
        )
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        return np.asarray(normals / np.maximum(length, np.finfo(float).tiny))


class _Step:
    """A global elastic step with fixed weights, factorised once."""

    def __init__(self, bending: Bending, pull: np.ndarray, anchor_pull: float) -> None:
        self._bending, self._pull = bending, pull[:, None]
        self._anchor_pull = anchor_pull * bending.elastic.unit
        weights = pull.copy()
        weights[bending.pinned] += self._anchor_pull
        self._solver = bending.elastic.solver(weights)

    def __call__(
        self, positions: np.ndarray, rotations: np.ndarray, targets: np.ndarray
    ) -> np.ndarray:
        right = self._bending.elastic.local_step(positions, rotations) + self._pull * targets
        right[self._bending.pinned] += self._anchor_pull * self._bending.goal
        return self._solver.solve(right)


def _by_rows(pool: Workers, function: Callable[..., np.ndarray], *tables: np.ndarray) -> np.ndarray:
    """A function of the rows of some tables, evaluated in blocks side by side."""
    return np.concatenate(
        pool.over_rows(lambda rows: function(*(t[rows] for t in tables)), len(tables[0]))
    )
