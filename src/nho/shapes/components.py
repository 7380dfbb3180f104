"""Components of shapes with missing parts, and what they say of a shape of which a part is known.

A shape is mean + W z + noise (probabilistic PCA: Tipping and Bishop, 1999), z is standard normal,
and the noise is a smooth field (`smooth_field`) and a little at every vertex, more where its weight
is low: what is unknown (weight 0) is inferred from what is known.

Legend: p vertices, q components, m functions for each direction of the smooth field.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nho.geometry.mesh import FloatArray
from nho.shapes.procrustes import Pose, pose_onto
from nho.shapes.smooth_field import SmoothField

SPREAD = 800  # vertices that stand for all; `rough` is meant for so many
_FEW = 0.1  # of the noise: what is left is correlated, so it counts as that of ten points
LEAST_NOISE = 1e-6  # of the first variance


@dataclass(frozen=True)
class Posterior:
    """What the known part of a shape says of it.

    Attributes
    ----------
    pose : Pose
        Brings the shape onto the mean.
    scores : (q,) float array
    covariance : (q, q) float array
        Of the scores.
    field : (p, 3) float array
        What else it differs from the mean by.
    variance : (p,) float array
        Expected squared distance of the vertices from where scores and field have them.
    """

    pose: Pose
    scores: np.ndarray
    covariance: np.ndarray
    field: np.ndarray
    variance: np.ndarray


@dataclass(frozen=True)
class Components:
    """A mean shape of centroid size 1 and how shapes vary about it.

    Attributes
    ----------
    mean : (p, 3) float array
    modes : (q, p, 3) float array
        Orthonormal by area: the sum of share times product is 1 or 0.
    variances : (q,) float array
        Of the scores, falling.
    noise : float
        Variance of a coordinate at a vertex that the modes leave of a shape, best of one that they
        were not fitted to.
    areas : (p,) float array
        Shares of the area.
    smooth : SmoothField
        What the modes leave is such a field, times the root of the noise ...
    rough : float
        ... but for this share of the noise, which is every vertex's own.
    """

    mean: np.ndarray
    modes: np.ndarray
    variances: np.ndarray
    noise: float
    areas: np.ndarray
    smooth: SmoothField
    rough: float = 0.1

    def first(self, count: int) -> Components:
        """The same with fewer modes; what the others explained is noise."""
        left = float(self.variances[count:].sum()) / 3
        return replace(
            self,
            modes=self.modes[:count],
            variances=self.variances[:count],
            noise=self.noise + left,
        )

    def at(self, rows: np.ndarray) -> Components:
        """The same at some vertices, which all count alike."""
        return replace(
            self,
            mean=self.mean[rows],
            modes=self.modes[:, rows],
            areas=np.full(len(rows), 1 / len(rows)),
            smooth=self.smooth.at(rows),
        )

    def shape(self, scores: np.ndarray) -> FloatArray:
        """(p, 3) positions for (q,) scores; fewer scores leave the last modes out."""
        scores = np.asarray(scores, dtype=np.float64)
        moved: FloatArray = self.mean + np.tensordot(scores, self.modes[: len(scores)], axes=1)
        return moved

    def posterior(
        self, positions: np.ndarray, known: np.ndarray, rounds: int = 2, spread: bool = False
    ) -> Posterior:
        """Pose and scores of a shape from what is known of it.

        Parameters
        ----------
        positions : (p, 3) float array
            In any pose and unit.
        known : (p,) float array
            Weights, 0 to 1.
        spread : bool
            Compute the variance of the positions as well; it is NaN if not.
        """
        weights = known * self.areas
        system = _System(self, weights)
        guess = self.mean
        for _ in range(rounds):
            pose = pose_onto(positions, guess, weights)
            scores, field = system.solve(pose.apply(positions) - self.mean)
            guess = self.shape(scores) + field
        pose = pose_onto(positions, guess, weights)
        variance = system.variance() if spread else np.full(len(self.mean), np.nan)
        return Posterior(pose, scores, system.covariance, field, variance)

    def residual(self, positions: np.ndarray, known: np.ndarray) -> FloatArray:
        """(p, 3) what is left of a shape by the nearest that modes make, laid onto the mean.

        By least squares of all that is known, held by the prior of the scores.
        """
        weights = known * self.areas
        fields = np.concatenate([self.modes, self.motions]).reshape(-1, self.mean.size)
        trust = np.repeat(weights, 3)
        prior = np.r_[_FEW * self.noise / self.variances, np.full(7, 1e-9 * trust.sum())]
        matrix = (fields * trust) @ fields.T + np.diag(prior)
        away = pose_onto(positions, self.mean, weights).apply(positions) - self.mean
        explained = np.linalg.solve(matrix, fields @ (trust * away.ravel())) @ fields
        left: FloatArray = away - explained.reshape(-1, 3)
        return left

    @cached_property
    def motions(self) -> FloatArray:
        """(7, p, 3) shifts, small rotations and growth of the mean, orthonormal by area."""
        root = np.sqrt(self.areas)[:, None]
        fields = motions_of(self.mean, root).T.reshape(7, -1, 3)
        return np.asarray(fields / np.where(root > 0, root, 1))


class _System:
    """The normal equations of scores, pose and smooth field for (p,) weights.

    A part of a shape does not tell how the whole lies: its pose is left open, to first order. The
    field is eliminated first, direction by direction.
    """

    def __init__(self, model: Components, weights: np.ndarray) -> None:
        self._model, self._q = model, len(model.modes)
        noise = max(model.noise, LEAST_NOISE**2)
        self._trust = weights * SPREAD / (model.rough * noise)
        smooth_noise = (1 - model.rough) * noise
        fields = np.concatenate([model.modes, model.motions])
        self._along = [(fields @ axis).T for axis in model.smooth.axes]  # (p, q + 7) each
        open_pose = 1e-9 * float(self._trust.sum()) + 1e-9
        matrix = np.diag(np.r_[1 / model.variances, np.full(len(model.motions), open_pose)])
        self._inverse: list[FloatArray] = []
        self._cross: list[FloatArray] = []
        last: np.ndarray | None = None
        for along, basis in zip(self._along, model.smooth.bases, strict=True):
            if basis is not last:  # often directions share one
                heavy = self._trust[:, None] * basis
                inverse = np.linalg.inv(heavy.T @ basis + np.eye(basis.shape[1]) / smooth_noise)
                last = basis
            self._inverse.append(inverse)
            self._cross.append(heavy.T @ along)
            matrix += along.T @ (self._trust[:, None] * along)
            matrix -= self._cross[-1].T @ self._inverse[-1] @ self._cross[-1]
        self._joint = np.linalg.inv((matrix + matrix.T) / 2)

    @property
    def covariance(self) -> FloatArray:
        """(q, q) of the scores."""
        return np.asarray(self._joint[: self._q, : self._q])

    def solve(self, away: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """(q,) expected scores and (p, 3) field of an aligned shape, (p, 3) away from the mean."""
        smooth = self._model.smooth
        pulls = [self._trust * (away @ axis) for axis in smooth.axes]
        own = [basis.T @ pull for basis, pull in zip(smooth.bases, pulls, strict=True)]
        right = np.zeros(len(self._joint))
        for axis in range(3):
            right += self._along[axis].T @ pulls[axis]
            right -= self._cross[axis].T @ (self._inverse[axis] @ own[axis])
        found = self._joint @ right
        coefficients = [
            self._inverse[axis] @ (own[axis] - self._cross[axis] @ found) for axis in range(3)
        ]
        scores: FloatArray = found[: self._q]
        return scores, smooth.values(np.stack(coefficients))

    def variance(self) -> FloatArray:
        """(p,) expected squared distance of the vertices from where they are estimated."""
        total = np.zeros(len(self._model.mean))
        for axis, basis in enumerate(self._model.smooth.bases):
            rest = self._along[axis] - basis @ (self._inverse[axis] @ self._cross[axis])
            total += ((rest @ self._joint) * rest).sum(axis=1)
            total += ((basis @ self._inverse[axis]) * basis).sum(axis=1)
        return total + 3 * self._model.rough * self._model.noise


def motions_of(mean: np.ndarray, root: np.ndarray) -> FloatArray:
    """(3 p, 7) orthonormal basis of shifts, small rotations and growth of a mean shape."""
    axes = np.eye(3)
    fields = [np.broadcast_to(axis, mean.shape) for axis in axes]
    fields += [np.cross(axis, mean) for axis in axes] + [mean]
    basis: FloatArray = np.linalg.qr(np.stack([(root * of).ravel() for of in fields], axis=1))[0]
    return basis
