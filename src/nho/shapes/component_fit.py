"""Fit components to shapes with missing parts, by expectation-maximisation.

A weight for every vertex of every shape says how well it is known (Bailey 2012). Shapes are read
one by one; what is kept grows with vertices times components squared, not with shapes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nho.geometry.mesh import FloatArray
from nho.shapes.components import LEAST_NOISE, Components, motions_of
from nho.shapes.mirror_images import Rows
from nho.shapes.procrustes import normalised, pose_onto
from nho.shapes.smooth_field import SmoothField

_ITERATIONS = 40
_DOUBT = 0.02  # weight at which half of a difference from the mean is believed, to begin with
_BLOCK = 16  # shapes in memory at a time
_LEAST = 1e-6  # weight of the present mean, for vertices that no shape knows
_ROUGH = (0.02, 0.98)  # least and largest share of the noise that is not smooth
_LOOK, _SAMPLE = 5, 20  # iterations after which that share is looked at, and shapes that it is from
_SETTLED = 1e-3  # relative change of the noise at which it has settled


def fit_components(
    shapes: np.ndarray,
    weights: np.ndarray,
    mean: np.ndarray,
    areas: np.ndarray,
    count: int,
    iterations: int = _ITERATIONS,
    start: Components | None = None,
    smooth: SmoothField | None = None,
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
    smooth : SmoothField, optional
        What the components leave, if there is no start.
    """
    if start is None:
        start = _start(shapes, weights, mean, areas, count, smooth or SmoothField.on(mean))
    model = start.first(count)
    for number in range(iterations):
        if number % _LOOK == 0:
            model = replace(model, rough=_rough(model, shapes, weights))
        before, model = model, _improved(model, shapes, weights)
        if abs(model.noise - before.noise) <= _SETTLED * before.noise:
            break
    return model


def share_of_noise(own: float, noise: float) -> float:
    """The share of the noise that is every vertex's own; some always is, and some never is."""
    return float(np.clip(own / max(noise, np.finfo(float).tiny), *_ROUGH))


def _rough(model: Components, shapes: np.ndarray, weights: np.ndarray) -> float:
    """The share of what the model leaves that no smooth field explains, by a sample of shapes."""
    own, noise = 0.0, 0.0
    for i in np.unique(np.linspace(0, len(shapes) - 1, min(len(shapes), _SAMPLE)).astype(int)):
        left = model.residual(np.asarray(shapes[i], dtype=np.float64), weights[i])
        known = weights[i] * model.areas
        square = float(known @ (left**2).sum(axis=1)) / max(float(known.sum()), 1e-300)
        noise += square
        own += square * model.smooth.rough_share(left, known)
    return share_of_noise(own, noise)


def _start(
    shapes: np.ndarray,
    weights: np.ndarray,
    mean: np.ndarray,
    areas: np.ndarray,
    count: int,
    smooth: SmoothField,
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
    return Components(mean, modes, variances, float(noise), areas, smooth)


def _improved(model: Components, shapes: np.ndarray, weights: np.ndarray) -> Components:
    """One step of expectation and maximisation over all shapes."""
    return _maximised(model, model, np.arange(len(model.mean)), shapes, weights)


def extended(
    model: Components,
    rows: np.ndarray,
    shapes: Rows,
    weights: Rows,
    template: np.ndarray,
    areas: np.ndarray,
) -> Components:
    """Components of all vertices from those of some.

    Parameters
    ----------
    model : Components
        Of the vertices ``rows``.
    shapes, weights : n rows of (p, 3) and of (p,) floats
        Of all vertices; read once, a block of shapes at a time.
    template : (p, 3) float array
        Where vertices are that no shape knows.
    areas : (p,) float array
        Shares of the area.
    """
    laid = pose_onto(template[rows], model.mean, model.areas).apply(template)
    modes = np.zeros((len(model.modes), len(areas), 3))
    start = replace(model, mean=laid, modes=modes, areas=areas)
    return _maximised(start, model, rows, shapes, weights)


def _maximised(
    before: Components,
    judge: Components,
    rows: np.ndarray,
    shapes: Rows,
    weights: Rows,
) -> Components:
    """The components that suit the expected moments best.

    Poses and scores are those that ``judge`` finds from the vertices ``rows``.
    """
    q, p = len(before.modes), len(before.mean)
    moments, by_axis = np.zeros((p, (q + 1) ** 2)), np.zeros((3, p, q + 1))
    squares, total, spread = np.zeros(p), np.zeros(p), np.zeros((q, q))
    average = np.zeros(q)
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
            average += found.scores / len(shapes)
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
    noise = max(noise, LEAST_NOISE * float(before.variances[0]))
    loadings = solved[:, :q].transpose(1, 0, 2)
    # Parts of shapes do not tell mean and scores apart well: scores have the mean 0.
    mean = solved[:, q] + np.tensordot(average, loadings, axes=1)
    spread -= np.outer(average, average)
    return _orthogonal(loadings, mean, spread, noise, before)


def _orthogonal(
    loadings: np.ndarray, mean: np.ndarray, spread: np.ndarray, noise: float, before: Components
) -> Components:
    """Orthonormal modes that span the same shapes, without motions of the whole."""
    areas, root = before.areas, np.sqrt(before.areas)[:, None]
    new, size = normalised(mean, areas)
    flat = (root * loadings / size).reshape(len(loadings), -1)
    motions = motions_of(new, root)
    flat = flat - (flat @ motions) @ motions.T
    half = np.linalg.cholesky(spread + 1e-12 * np.trace(spread) * np.eye(len(spread)))
    _, lengths, directions = np.linalg.svd(half.T @ flat, full_matrices=False)
    largest = max(float(lengths[0]) ** 2, float(np.finfo(float).tiny))
    variances = np.maximum(lengths**2, 1e-9 * largest)
    modes = directions.reshape(len(directions), -1, 3) / root
    # A mode has no sign of its own: keep the one that it had.
    same = np.einsum("p,kpx,kpx->k", areas, modes, before.modes)
    modes *= np.where(same < 0, -1.0, 1.0)[:, None, None]
    return replace(before, mean=new, modes=modes, variances=variances, noise=noise / size**2)
