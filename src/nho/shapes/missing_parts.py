"""Missing parts of shapes, inferred from the others before components are fitted.

Components of shapes of which halves are missing follow the few that show a place, and more
components follow them more. So what is missing is inferred first, by a model that need not choose
directions: smooth fields about the mean, with coefficients of one normal distribution. Its
covariance is held by an inverse Wishart prior and found by expectation-maximisation.

Legend: p vertices, m functions for each direction, k = 3 m coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from nho.geometry.mesh import FloatArray, Mesh
from nho.shapes.components import motions_of
from nho.shapes.mirror_images import Rows, Shapes
from nho.shapes.procrustes import Pose, normalised, pose_onto
from nho.shapes.smooth_field import SmoothField

_MISSING = 0.05  # of the largest: with less weight the template alone has placed a vertex
_FEW = 0.02  # share of missing vertices below which nothing is inferred
_TRUST = 0.1  # weight of what was inferred
_MOST = 100  # shapes that the distribution is learnt from
_ITERATIONS, _AGAIN = 60, 10  # of expectation-maximisation: from nothing, from a similar start
_NOISE, _PRIOR = 2.0, 0.9  # of the variance of a known coordinate: noise, prior of coefficients
_SHAPES = 3.0  # so many shapes the prior counts for
_MEAN = 0.5  # and so many the mean that it starts with
_ROUNDS = 4  # of pose and coefficients


class _Expected(NamedTuple):
    """What the known part of a shape tells: (k,) coefficients, their covariance, and the pose."""

    coefficients: np.ndarray
    covariance: np.ndarray
    pose: Pose


@dataclass(frozen=True)
class Deformations:
    """Smooth fields about a mean, with normally distributed coefficients.

    Attributes
    ----------
    mean : (p, 3) float array
    smooth : SmoothField
        Its bases are those of the fields.
    average : (k,) float array
        Of the coefficients.
    covariance : (k, k) float array
    prior : float
        Variance of a coefficient that no shape tells of.
    noise : float
        Variance of a coordinate.
    """

    mean: np.ndarray
    smooth: SmoothField
    average: np.ndarray
    covariance: np.ndarray
    prior: float
    noise: float

    @classmethod
    def about(
        cls, mean: np.ndarray, smooth: SmoothField, shapes: np.ndarray, known: np.ndarray
    ) -> Deformations:
        """Before any shape is learnt from; their variance sets the unit."""
        squares = [
            row @ ((pose_onto(shape, mean, row).apply(shape) - mean) ** 2).sum(axis=1) / row.sum()
            for shape, row in zip(shapes, known, strict=True)
        ]
        variance = max(float(np.mean(squares)) / 3, np.finfo(float).tiny)
        k = sum(basis.shape[1] for basis in smooth.bases)
        prior = _PRIOR * variance
        return cls(mean, smooth, np.zeros(k), prior * np.eye(k), prior, _NOISE * variance)

    def learnt(self, shapes: np.ndarray, known: np.ndarray, iterations: int) -> Deformations:
        """The distribution that suits (n, p, 3) shapes, of which (n, p) weights are known."""
        model, count = self, len(shapes)
        poses: list[Pose | None] = [None] * count
        for _ in range(iterations):
            total, squares = np.zeros(len(self.average)), np.zeros(self.covariance.shape)
            precision = np.linalg.inv(model.covariance)
            for i in range(count):
                found = model._expected(shapes[i], known[i], precision, poses[i])
                poses[i] = found.pose
                total += found.coefficients
                squares += found.covariance + np.outer(found.coefficients, found.coefficients)
            step = total / (count + _MEAN)
            squares -= (count + 2 * _MEAN) * np.outer(step, step)
            squares[np.diag_indices_from(squares)] += _SHAPES * self.prior
            model = replace(
                model, average=model.average + step, covariance=squares / (count + _SHAPES)
            )
        return model

    def completed(self, shapes: np.ndarray, known: np.ndarray) -> FloatArray:
        """(n, p, 3) the shapes, with vertices of weight 0 where they are expected."""
        precision = np.linalg.inv(self.covariance)
        whole = np.array(shapes, dtype=np.float64)
        for i in np.flatnonzero((known == 0).any(axis=1)):
            pose = None
            for _ in range(_ROUNDS):
                found = self._expected(shapes[i], known[i], precision, pose)
                pose = found.pose
            expected = found.pose.undo(self._fields(self.average + found.coefficients) + self.mean)
            whole[i] = np.where(known[i][:, None] > 0, shapes[i], expected)
        return whole

    def _fields(self, coefficients: np.ndarray) -> FloatArray:
        ends = np.cumsum([basis.shape[1] for basis in self.smooth.bases])[:-1]
        along = [
            basis @ part
            for basis, part in zip(self.smooth.bases, np.split(coefficients, ends), strict=True)
        ]
        field: FloatArray = np.stack(along, axis=1) @ self.smooth.axes
        return field

    @cached_property
    def _motions(self) -> FloatArray:
        """(7, p, 3) shifts, small rotations and growth of the mean."""
        return motions_of(self.mean, np.ones((len(self.mean), 1))).T.reshape(7, -1, 3)

    def _expected(
        self, shape: np.ndarray, known: np.ndarray, precision: np.ndarray, pose: Pose | None
    ) -> _Expected:
        """Coefficients, less their average, with the pose left open to first order."""
        expected, k = self.mean + self._fields(self.average), len(self.average)
        pose = pose or pose_onto(shape, expected, known)
        moved = pose.apply(shape)
        rows = np.flatnonzero(known)
        trust = known[rows] / self.noise
        motions = self._motions
        matrix, right = np.zeros((k + 7, k + 7)), np.zeros(k + 7)
        matrix[:k, :k] = precision
        matrix[range(k, k + 7), range(k, k + 7)] = 1e-9 * trust.sum() + 1e-300
        away = (moved - expected)[rows]
        start = 0
        for axis, basis in zip(self.smooth.axes, self.smooth.bases, strict=True):
            own, along = basis[rows], (motions[:, rows] @ axis).T
            here = slice(start, start + own.shape[1])
            heavy, pull = trust[:, None] * own, trust * (away @ axis)
            matrix[here, here] += heavy.T @ own
            matrix[here, k:] += heavy.T @ along
            matrix[k:, k:] += along.T @ (trust[:, None] * along)
            right[here] += own.T @ pull
            right[k:] += along.T @ pull
            start = here.stop
        matrix[k:, :k] = matrix[:k, k:].T
        inverse = np.linalg.inv(matrix)
        found = inverse @ right
        still = moved - np.tensordot(found[k:], motions, axes=1)
        return _Expected(found[:k], inverse[:k, :k], pose_onto(shape, still, known))


def deformations(
    shapes: np.ndarray, weights: np.ndarray, mean: np.ndarray, smooth: SmoothField
) -> Deformations | None:
    """What (n, p, 3) shapes have in common where they are known; None if next to nothing lacks."""
    known = _known(weights)
    if (known == 0).mean() < _FEW:
        return None
    rows = _sample(len(shapes))
    start = Deformations.about(mean, smooth, shapes[rows], known[rows])
    return start.learnt(shapes[rows], known[rows], _ITERATIONS)


def with_missing_parts(
    model: Deformations | None, shapes: np.ndarray, weights: np.ndarray, again: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """(n, p, 3) shapes with missing parts as they are expected, and (n, p) weights.

    Parameters
    ----------
    again : bool
        Learn from these shapes first, beginning with what is known from similar ones.
    """
    if model is None:
        return shapes, weights
    known = _known(weights)
    if again:
        rows = _sample(len(shapes))
        model = model.learnt(shapes[rows], known[rows], _AGAIN)
    return model.completed(shapes, known), np.where(known > 0, weights, _TRUST)


class _Whole:
    """Rows of all vertices with missing parts as some vertices have them."""

    def __init__(self, given: Shapes, some: np.ndarray, rows: np.ndarray, template: Mesh) -> None:
        self._given, self._some, self._rows, self._template = given, some, rows, template
        areas = template.vertex_areas / template.vertex_areas.sum()
        self._basis = SmoothField.on(normalised(template.vertices, areas)[0]).bases[0]
        few = self._basis[rows]
        ridge = 1e-3 * np.eye(few.shape[1])
        self._solver = np.linalg.solve(few.T @ few + ridge, few.T)

    def __len__(self) -> int:
        return len(self._some)

    def __getitem__(self, row: int, /) -> np.ndarray:
        missing = _known(np.asarray(self._given.weights[row])) == 0
        shape, corners = self._given.positions[row], self._template.vertices[self._rows]
        if not missing.any():
            return np.asarray(shape)
        # What the chosen vertices do not show is as fine as on the template.
        pose = pose_onto(corners, self._some[row], np.ones(len(corners)))
        field = self._basis @ (self._solver @ (self._some[row] - pose.apply(corners)))
        expected = pose.apply(self._template.vertices) + field
        return np.where(missing[:, None], expected, shape)


class _Trusted:
    """Rows of weights, those of missing parts as much as inferred ones count."""

    def __init__(self, given: Rows) -> None:
        self._given = given

    def __len__(self) -> int:
        return len(self._given)

    def __getitem__(self, row: int, /) -> np.ndarray:
        weights = np.asarray(self._given[row])
        return np.where(_known(weights) == 0, _TRUST, weights)


def whole_shapes(
    model: Deformations | None, given: Shapes, some: np.ndarray, rows: np.ndarray, template: Mesh
) -> Shapes:
    """All vertices of shapes whose missing parts are known at some, ``rows``."""
    if model is None:
        return given
    return Shapes(_Whole(given, some, rows, template), _Trusted(given.weights))


def _known(weights: np.ndarray) -> FloatArray:
    least = _MISSING * weights.max(axis=-1, keepdims=True)
    return np.asarray(np.where(weights < least, 0.0, weights))


def _sample(count: int) -> np.ndarray:
    return np.unique(np.linspace(0, count - 1, min(count, _MOST)).astype(int))
