"""A first dense map from distances to the anchors.

A point of the partial shape is described by its distances to the anchors, a point of the full one
by its distances to their partners. Three things make that far better than it sounds:

- *calibration*: between anchors the distances are known on both shapes, so the discrepancy (cuts
  and holes lengthen paths, bodies differ) is interpolated over the surface and taken out;
- *near anchors count more*, with the spacing of the anchors as the length scale;
- *orientation*: distances cannot tell a shape from its mirror image, angles between their
  gradients can (`orientation`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial as partial_of

import numpy as np

from nho.geometry.geodesics import distance_to_nearest, distances_from, unfolded_graph
from nho.geometry.kept import kept_with
from nho.geometry.mesh import Mesh
from nho.geometry.orientation import Orientation, near_pairs
from nho.runtime.parallel import SERIAL, Workers

_NUGGET = 1e-2  # of the kriging kernel: anchors are trusted to about a tenth
_RELIEF_WEIGHT = 0.05  # anchor spacings a standard deviation of relief


@dataclass(frozen=True)
class AnchorDistances:
    """Distances from anchors on both shapes.

    Attributes
    ----------
    anchors : (m, 2) int array
        Those that distances are measured from.
    partial : (m, n_partial) float array
    full : (m, n_full) float array
    far : pair of float
        What stands for no path at all on either shape; longer than any path.
    others : (k, 2) int array
        Further anchors, from which nothing is measured.
    """

    anchors: np.ndarray
    partial: np.ndarray
    full: np.ndarray
    far: tuple[float, float] = (np.inf, np.inf)
    others: np.ndarray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))

    @classmethod
    def measure(cls, partial: Mesh, full: Mesh, anchors: np.ndarray) -> AnchorDistances:
        """By Dijkstra on the edges and the straight ways across pairs of triangles."""
        columns, fars = [], []
        for mesh, vertices in ((partial, anchors[:, 0]), (full, anchors[:, 1])):
            graph = kept_with(mesh, unfolded_graph, partial_of(unfolded_graph, mesh))
            distance = distances_from(graph, vertices)
            far = 10 * float(distance[np.isfinite(distance)].max())
            columns.append(np.minimum(distance, far))
            fars.append(far)
        return cls(anchors, columns[0], columns[1], (fars[0], fars[1]))

    def subset(self, rows: np.ndarray) -> AnchorDistances:
        """Some of the anchors (indices or mask)."""
        return replace(
            self, anchors=self.anchors[rows], partial=self.partial[rows], full=self.full[rows]
        )

    def scaled_partial(self, factor: float) -> AnchorDistances:
        """The same with the partial shape in another unit."""
        far = (self.far[0] * factor, self.far[1])
        return replace(self, partial=self.partial * factor, far=far)

    def to_nearest(self, partial: Mesh) -> np.ndarray:
        """(n_partial,) distances on the partial shape to the nearest of all anchors."""
        nearest = self.partial.min(axis=0)
        if len(self.others):
            to_others = distance_to_nearest(unfolded_graph(partial), self.others[:, 0])
            nearest = np.minimum(nearest, to_others)
        return np.asarray(nearest)

    @property
    def between_partial(self) -> np.ndarray:
        """(m, m) distances between the anchors on the partial shape."""
        return self.partial[:, self.anchors[:, 0]]

    @property
    def between_full(self) -> np.ndarray:
        """(m, m) distances between their partners on the full shape."""
        return self.full[:, self.anchors[:, 1]]

    @property
    def linked(self) -> np.ndarray:
        """(m, m) bool: anchors between which there is a path on both shapes."""
        return (self.between_partial < self.far[0]) & (self.between_full < self.far[1])

    @property
    def spacing(self) -> float:
        """Median distance from an anchor to the nearest other one, on the partial shape."""
        return typical_spacing(self.between_partial)

    def kriging(self) -> np.ndarray:
        """(m, n_partial) weights that interpolate values at the anchors on the partial shape."""
        return kriging_weights(self.between_partial, self.partial, self.spacing)

    def krige(self, values: np.ndarray, noise: float) -> np.ndarray:
        """(n_partial, k) smooth field from (m, k) values at the anchors.

        Kriging with nugget = noise^2 / signal power: values no larger than the noise are smoothed
        away, much larger ones are interpolated almost exactly.

        Parameters
        ----------
        noise : float
            Length of the error that a value may have, in the values' own unit.
        """
        power = (values**2).sum(axis=1).mean()
        signal = max(power - noise**2, np.finfo(np.float32).eps * power)
        if not signal:
            return np.zeros((self.partial.shape[1], values.shape[1]))
        nugget = max(noise**2 / signal, _NUGGET)
        weights = kriging_weights(self.between_partial, self.partial, self.spacing, nugget)
        return np.asarray(weights.T @ values)

    def orientation(self, partial: Mesh, full: Mesh, pool: Workers = SERIAL) -> Orientation:
        """Which way round the shapes are, seen from near anchors."""
        pairs, tables = near_pairs(self.between_partial), (self.partial, self.full)
        return Orientation.measure((partial, full), tables, pairs, pool)

    def calibrated(self) -> np.ndarray:
        """(m, n_partial) predicted distances on the full shape from each image to each partner."""
        known = self.between_full - self.between_partial
        return np.asarray(np.maximum(self.partial + known @ self.kriging(), 0))


def typical_spacing(between: np.ndarray) -> float:
    """Median distance from an anchor to the nearest other one, from (m, m) distances."""
    others = between + np.diag(np.full(len(between), np.inf))
    return float(np.median(others.min(axis=1)))


def kriging_weights(
    between: np.ndarray, to_points: np.ndarray, spacing: float, nugget: float = _NUGGET
) -> np.ndarray:
    """(m, n) weights that carry values at m anchors to n points, by kernel exp(-d / spacing)."""
    kernel = np.exp(-between / spacing) + nugget * np.eye(len(between))
    return np.linalg.solve(kernel, np.exp(-to_points / spacing))


def first_map(
    distances: AnchorDistances,
    orientation: Orientation | None = None,
    curvatures: tuple[np.ndarray, np.ndarray] | None = None,
    calibrate: bool = True,
    orientation_weight: float = 0.15,
    pool: Workers = SERIAL,
) -> np.ndarray:
    """(n_partial,) full vertex whose distances to the anchors fit best.

    Parameters
    ----------
    orientation : Orientation, optional
        Of both shapes around the anchors.
    curvatures : pair of (n_partial, s) and (n_full, s) float arrays, optional
        Relief of both shapes in standard deviations.
    orientation_weight : float
        As a share of the anchor spacing.
    """
    wanted = distances.calibrated() if calibrate else distances.partial
    spacing = distances.spacing
    if not (orientation and orientation_weight and len(orientation.pairs)):
        orientation = None
    # Sums of squares, multiplied out: a vertex of the full shape is a column, one product does all.
    columns = [distances.full**2, distances.full]
    if orientation is not None:
        columns += [orientation.full**2, orientation.full]
    if curvatures is not None:
        own_relief, full_relief = (_RELIEF_WEIGHT * spacing * of for of in curvatures)
        columns += [(full_relief**2).sum(axis=1)[None], full_relief.T]
    table = np.concatenate(columns).astype(np.float32)

    def block(rows: slice) -> np.ndarray:
        own, want = distances.partial[:, rows], wanted[:, rows]
        weight = np.exp(-(own - own.min(axis=0)) / spacing)
        weight /= weight.sum(axis=0)
        factors = [weight, -2 * weight * want]
        if orientation is not None:
            share = weight[orientation.pairs[:, 0]] * weight[orientation.pairs[:, 1]]
            total = np.maximum(share.sum(axis=0), np.finfo(float).tiny)
            share *= (orientation_weight * spacing) ** 2 / total
            factors += [share, -2 * share * orientation.partial[:, rows]]
        if curvatures is not None:
            factors += [np.ones((1, own.shape[1])), -2 * own_relief[rows].T]
        cost = np.concatenate(factors).astype(np.float32).T @ table
        return np.asarray(cost.argmin(axis=1))

    return np.concatenate(pool.over_rows(block, distances.partial.shape[1], 512))
