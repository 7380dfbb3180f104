"""Generalised Procrustes analysis of shapes with missing parts.

A shape is (p, 3) vertices with (p,) weights, which say how well each is known; only what is known
decides how the shape is laid onto the mean. Vertices also count by the area around them, so that a
finely meshed ear does not outweigh a coarse skull.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.geometry.alignment import nearest_rotation
from nho.geometry.mesh import FloatArray

_ROUNDS = 20
_SETTLED = 1e-7  # change of the mean of unit size at which it has settled


@dataclass(frozen=True)
class Pose:
    """A similarity: ``scale * rotation @ x + shift``."""

    scale: float
    rotation: np.ndarray
    shift: np.ndarray

    def apply(self, positions: np.ndarray) -> FloatArray:
        """(p, 3) positions after the motion."""
        moved: FloatArray = self.scale * positions @ self.rotation.T + self.shift
        return moved

    def undo(self, positions: np.ndarray) -> FloatArray:
        """(p, 3) positions before the motion."""
        before: FloatArray = (positions - self.shift) @ self.rotation / self.scale
        return before


def pose_onto(positions: np.ndarray, goal: np.ndarray, weights: np.ndarray) -> Pose:
    """The similarity that brings (p, 3) positions closest to (p, 3) goals, by (p,) weights."""
    share = weights / weights.sum()
    centre, goal_centre = share @ positions, share @ goal
    arms, wanted = positions - centre, goal - goal_centre
    product = (wanted * share[:, None]).T @ arms
    rotation = nearest_rotation(product)
    scale = float(np.trace(rotation.T @ product) / (share @ (arms**2).sum(axis=1)))
    return Pose(scale, rotation, goal_centre - scale * rotation @ centre)


def normalised(positions: np.ndarray, areas: np.ndarray) -> tuple[FloatArray, float]:
    """(p, 3) positions about their centre with centroid size 1, and their centroid size.

    Centroid size is the root of the mean squared distance from the centre, by (p,) area shares.
    """
    centred = positions - areas @ positions
    size = float(np.sqrt(areas @ (centred**2).sum(axis=1)))
    if not 0 < size < np.inf:
        raise InputError("a shape has no extent, so it cannot be compared; leave it out")
    return centred / size, size


def procrustes_mean(
    shapes: np.ndarray, weights: np.ndarray, areas: np.ndarray, start: np.ndarray
) -> FloatArray:
    """(p, 3) weighted mean shape of centroid size 1.

    Parameters
    ----------
    shapes : (n, p, 3) float array
        Read one by one, so it may be mapped from a file.
    weights : (n, p) float array
        How well each vertex is known, 0 to 1.
    areas : (p,) float array
        Shares of the area, summing to one.
    start : (p, 3) float array
        The first mean, such as the template.
    """
    mean = normalised(start, areas)[0]
    for _ in range(_ROUNDS):
        total, count = 1e-6 * mean, np.full(len(mean), 1e-6)
        for shape, known in zip(shapes, weights, strict=True):
            laid = pose_onto(shape, mean, known * areas).apply(shape)
            total = total + known[:, None] * laid
            count = count + known
        new = normalised(total / count[:, None], areas)[0]
        new = pose_onto(new, mean, areas).apply(new)
        change = float(np.sqrt(areas @ ((new - mean) ** 2).sum(axis=1)))
        mean = normalised(new, areas)[0]
        if change < _SETTLED:
            break
    return mean
