"""Principal components of shapes with missing parts: probabilistic PCA by expectation-maximisation.

Tipping and Bishop (1999), with a weight for every vertex of every shape (Bailey 2012). A shape is
mean + W z + noise, z is standard normal, and the noise of a vertex has the variance noise / weight:
what is unknown (weight 0) is inferred from what is known, through the components. Shapes are read
one by one; what is kept grows with vertices times components squared, not with shapes.

Legend: p vertices, q components, n shapes; coordinates are times the root of the area share.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nho.geometry.mesh import FloatArray
from nho.shapes.procrustes import Pose, normalised, pose_onto

_INDEPENDENT = 10.0  # points of a surface that are wrong independently of each other, about
_LEAST_NOISE = 1e-6  # of the first variance
_ITERATIONS = 40
_DOUBT = 0.02  # weight at which half of a difference from the mean is believed, to begin with
_BLOCK = 16  # shapes in memory at a time
_LEAST = 1e-6  # weight of the present mean, for vertices that no shape knows
_SETTLED = 1e-3  # relative change of the noise at which it has settled


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
    """

    pose: Pose
    scores: np.ndarray
    covariance: np.ndarray


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
        Variance that the modes leave, of a coordinate at a vertex.
    areas : (p,) float array
        Shares of the area.
    """

    mean: np.ndarray
    modes: np.ndarray
    variances: np.ndarray
    noise: float
    areas: np.ndarray

    def first(self, count: int) -> Components:
        """The same with fewer modes; what the others explained is noise."""
        left = self.variances[count:].sum() / 3
        return Components(
            self.mean, self.modes[:count], self.variances[:count], self.noise + left, self.areas
        )

    def shape(self, scores: np.ndarray) -> FloatArray:
        """(p, 3) positions for (q,) scores; fewer scores leave the last modes out."""
        scores = np.asarray(scores, dtype=np.float64)
        moved: FloatArray = self.mean + np.tensordot(scores, self.modes[: len(scores)], axes=1)
        return moved

    def posterior(self, positions: np.ndarray, known: np.ndarray, rounds: int = 2) -> Posterior:
        """Pose and scores of a shape from what is known of it.

        Parameters
        ----------
        positions : (p, 3) float array
            In any pose and unit.
        known : (p,) float array
            Weights, 0 to 1.
        """
        weights = known * self.areas
        guess = self.mean
        for _ in range(rounds):
            pose = pose_onto(positions, guess, weights)
            scores, covariance = self._scores(pose.apply(positions) - self.mean, weights)
            guess = self.shape(scores)
        pose = pose_onto(positions, guess, weights)
        return Posterior(pose, scores, covariance)

    def _scores(self, away: np.ndarray, weights: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """(q,) expected scores of an aligned shape and their (q, q) covariance.

        A part of a shape does not tell how the whole lies: its pose is left open, to first order.
        """
        q = len(self.modes)
        fields = np.concatenate([self.modes.reshape(q, self.mean.size), self._motions])
        trust = np.repeat(weights, 3) * _INDEPENDENT / max(self.noise, _LEAST_NOISE**2)
        prior = np.r_[1 / self.variances, np.full(len(self._motions), 1e-9 * trust.sum() + 1e-9)]
        covariance = np.linalg.inv((fields * trust) @ fields.T + np.diag(prior))
        found = covariance @ (fields @ (trust * away.ravel()))
        scores: FloatArray = found[:q]
        return scores, covariance[:q, :q]

    @cached_property
    def _motions(self) -> FloatArray:
        """(7, 3 p) shifts, small rotations and growth of the mean."""
        root = np.sqrt(self.areas)[:, None]
        fields = _motions(self.mean, root).T.reshape(7, -1, 3) / np.where(root > 0, root, 1)
        return np.asarray(fields.reshape(7, -1))


def fit_components(
    shapes: np.ndarray,
    weights: np.ndarray,
    mean: np.ndarray,
    areas: np.ndarray,
    count: int,
    iterations: int = _ITERATIONS,
    start: Components | None = None,
) -> Components:
    """Fit mean and components to (n, p, 3) shapes with (n, p) weights.

    Parameters
    ----------
    mean : (p, 3) float array
        The Procrustes mean, of centroid size 1.
    count : int
        Components, fewer than shapes.
    start : Components, optional
        Where to begin; else with the shapes themselves, missing parts as they are given.
    """
    model = start.first(count) if start is not None else _start(shapes, weights, mean, areas, count)
    for _ in range(iterations):
        before, model = model, _improved(model, shapes, weights)
        if abs(model.noise - before.noise) <= _SETTLED * before.noise:
            break
    return model


def _start(
    shapes: np.ndarray, weights: np.ndarray, mean: np.ndarray, areas: np.ndarray, count: int
) -> Components:
    """Ordinary principal components, by the Gram matrix of a sample of shapes."""
    rows = np.unique(np.linspace(0, len(shapes) - 1, min(len(shapes), 10 * count + 10)).astype(int))
    root = np.sqrt(areas)[:, None]
    aligned = np.empty((len(rows), mean.size))
    for row, i in enumerate(rows):
        away = pose_onto(shapes[i], mean, weights[i] * areas).apply(shapes[i]) - mean
        known = weights[i] / (weights[i] + _DOUBT)  # what is not known is taken for the mean
        aligned[row] = (root * known[:, None] * away).ravel()
    aligned -= aligned.mean(axis=0)
    values, vectors = np.linalg.eigh(aligned @ aligned.T / len(rows))
    order = np.argsort(-values)[:count]
    largest = max(float(values.max()), float(np.finfo(float).tiny))
    variances = np.maximum(values[order], 1e-9 * largest)
    flat = (aligned.T @ vectors[:, order]) / np.sqrt(len(rows) * variances)
    modes = flat.T.reshape(len(order), -1, 3) / root
    noise = max((values.sum() - values[order].sum()) / 3, 0.05 * values.sum() / 3)
    return Components(mean, modes, variances, float(noise), areas)


def _improved(model: Components, shapes: np.ndarray, weights: np.ndarray) -> Components:
    """One step of expectation and maximisation over all shapes."""
    return _maximised(model, model, np.arange(len(model.mean)), shapes, weights)


def extended(
    model: Components,
    rows: np.ndarray,
    shapes: np.ndarray,
    weights: np.ndarray,
    template: np.ndarray,
    areas: np.ndarray,
) -> Components:
    """Components of all vertices from those of some.

    Parameters
    ----------
    model : Components
        Of the vertices ``rows``.
    shapes, weights : (n, p, 3) and (n, p) float arrays
        Of all vertices; read once, a block of shapes at a time.
    template : (p, 3) float array
        Where vertices are that no shape knows.
    areas : (p,) float array
        Shares of the area.
    """
    laid = pose_onto(template[rows], model.mean, model.areas).apply(template)
    start = Components(
        laid, np.zeros((len(model.modes), len(areas), 3)), model.variances, model.noise, areas
    )
    return _maximised(start, model, rows, shapes, weights)


def _maximised(
    before: Components,
    judge: Components,
    rows: np.ndarray,
    shapes: np.ndarray,
    weights: np.ndarray,
) -> Components:
    """The components that suit the expected moments best.

    Poses and scores are those that ``judge`` finds from the vertices ``rows``.
    """
    q, p = len(before.modes), len(before.mean)
    moments, by_axis = np.zeros((p, (q + 1) ** 2)), np.zeros((3, p, q + 1))
    squares, total, spread = np.zeros(p), np.zeros(p), np.zeros((q, q))
    for start in range(0, len(shapes), _BLOCK):
        block = range(start, min(start + _BLOCK, len(shapes)))
        known = np.stack([np.asarray(weights[i], dtype=np.float64) for i in block])
        aligned, firsts, seconds = np.empty((len(block), p, 3)), [], []
        for row, i in enumerate(block):
            shape = np.asarray(shapes[i], dtype=np.float64)
            found = judge.posterior(shape[rows], known[row, rows])
            aligned[row] = found.pose.apply(shape)
            firsts.append(np.r_[found.scores, 1.0])
            seconds.append(np.outer(firsts[-1], firsts[-1]))
            seconds[-1][:q, :q] += found.covariance
            spread += seconds[-1][:q, :q] / len(shapes)
        moments += known.T @ np.stack(seconds).reshape(len(block), -1)
        for axis in range(3):
            by_axis[axis] += (known * aligned[:, :, axis]).T @ np.stack(firsts)
        squares += (known * (aligned**2).sum(axis=2)).sum(axis=0)
        total += known.sum(axis=0)
    second, products = moments.reshape(p, q + 1, q + 1), by_axis.transpose(1, 2, 0).copy()
    # A vertex that few shapes know would follow each of them: its modes, of size 1, are drawn to 0.
    prior = np.diag(np.r_[np.full(q, before.noise), _LEAST])
    products[:, q] += _LEAST * before.mean
    solved = np.linalg.solve(second + prior, products)
    again: FloatArray = second @ solved
    left = squares - ((2 * products - again) * solved).sum(axis=(1, 2))
    noise = float(
        (before.areas @ np.maximum(left, 0)) / (3 * max(float(before.areas @ total), _LEAST))
    )
    noise = max(noise, _LEAST_NOISE * float(before.variances[0]))
    return _orthogonal(solved[:, :q].transpose(1, 0, 2), solved[:, q], spread, noise, before)


def _orthogonal(
    loadings: np.ndarray, mean: np.ndarray, spread: np.ndarray, noise: float, before: Components
) -> Components:
    """Orthonormal modes that span the same shapes, without motions of the whole."""
    areas, root = before.areas, np.sqrt(before.areas)[:, None]
    new, size = normalised(mean, areas)
    flat = (root * loadings / size).reshape(len(loadings), -1)
    motions = _motions(new, root)
    flat = flat - (flat @ motions) @ motions.T
    half = np.linalg.cholesky(spread + 1e-12 * np.trace(spread) * np.eye(len(spread)))
    _, lengths, directions = np.linalg.svd(half.T @ flat, full_matrices=False)
    largest = max(float(lengths[0]) ** 2, float(np.finfo(float).tiny))
    variances = np.maximum(lengths**2, 1e-9 * largest)
    modes = directions.reshape(len(directions), -1, 3) / root
    # A mode has no sign of its own: keep the one that it had.
    same = np.einsum("p,kpx,kpx->k", areas, modes, before.modes)
    modes *= np.where(same < 0, -1.0, 1.0)[:, None, None]
    return Components(new, modes, variances, noise / size**2, areas)


def _motions(mean: np.ndarray, root: np.ndarray) -> FloatArray:
    """(3 p, 7) orthonormal basis of shifts, small rotations and growth of a mean shape."""
    axes = np.eye(3)
    fields = [np.broadcast_to(axis, mean.shape) for axis in axes]
    fields += [np.cross(axis, mean) for axis in axes] + [mean]
    basis: FloatArray = np.linalg.qr(np.stack([(root * of).ravel() for of in fields], axis=1))[0]
    return basis
