"""Leave-one-out: what a shape space knows of shapes that it has not seen.

Each shape is left out, the components are fitted to the others, half of what is known of it is
hidden, and the rest predicts it. The error by number of components says how many are worth having;
the differences between scores from the half and from all of it say how far scores can be trusted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from nho.geometry.mesh import FloatArray
from nho.shapes.components import Components, Posterior, fit_components

_FEW, _MANY = 30, 300  # shapes: each is left out alone, in tenths, in thirds
_ITERATIONS = 5  # from the components of all shapes


@dataclass(frozen=True)
class Validation:
    """Errors at shapes that were left out, in the unit of centroid size 1.

    Attributes
    ----------
    hidden_error : (n, q + 1) float array
        Root mean square distance at vertices that were hidden, with 0, 1, ... q components.
    residual : (n,) float array
        The same at vertices that were shown, with all components: what the others do not explain.
    distance : (n,) float array
        Mahalanobis distance of the scores, per component.
    inflation : float
        Scores from half of a shape are off by this factor more than their covariance says.
    position_inflation : float
        The same for positions of hidden vertices.
    """

    hidden_error: np.ndarray
    residual: np.ndarray
    distance: np.ndarray
    inflation: float
    position_inflation: float

    @property
    def components(self) -> int:
        """The fewest components whose error is within a standard error of the least."""
        mean = self.hidden_error.mean(axis=0)
        best = int(mean.argmin())
        deviation = self.hidden_error[:, best].std(ddof=1) / np.sqrt(len(self.hidden_error))
        return int(np.flatnonzero(mean <= mean[best] + deviation)[0])


def validated(
    model: Components, shapes: np.ndarray, weights: np.ndarray, seed: int = 0
) -> Validation:
    """Leave out each of (n, p, 3) shapes with (n, p) weights, or many at a time of many."""
    n, q = len(shapes), len(model.modes)
    folds = n if n <= _FEW else 10 if n <= _MANY else 3
    fold = np.arange(n) % folds
    errors, residual, distance = np.empty((n, q + 1)), np.empty(n), np.empty(n)
    ratios: list[float] = []
    gaps: list[float] = []
    random = np.random.default_rng(seed)
    for number in range(folds):
        rest = np.flatnonzero(fold != number)
        count = min(q, len(rest) - 1)
        others = fit_components(
            shapes[rest], weights[rest], model.mean, model.areas, count, _ITERATIONS, start=model
        )
        for i in np.flatnonzero(fold == number):
            shape, known = shapes[i], weights[i]
            shown = _half(others.mean, known, random)
            errors[i] = _hidden_errors(others, shape, known, shown, q)
            whole, part = others.posterior(shape, known), others.posterior(shape, known * shown)
            gap = whole.pose.apply(shape) - others.shape(whole.scores)
            residual[i] = _rms(gap, known * others.areas)
            distance[i] = np.sqrt((whole.scores**2 / others.variances).mean())
            hidden = known * (1 - shown) * others.areas
            away = part.pose.apply(shape) - others.shape(part.scores)
            gaps.append(
                _rms(away, hidden) / np.sqrt(_share(position_variance(others, part), hidden))
            )
            off = (part.scores - whole.scores) ** 2
            ratios.append(float(np.median(off / np.diag(part.covariance))))
    inflation = float(np.sqrt(max(np.median(ratios) / 0.455, 1.0)))  # 0.455: median of chi^2 with 1
    # Of n shapes the standard deviation, not the typical ratio: bars have to hold for the odd ones.
    position_inflation = max(float(np.sqrt(np.mean(np.square(gaps)))), 1.0)
    return Validation(errors, residual, distance, inflation, position_inflation)


def position_variance(model: Components, found: Posterior) -> FloatArray:
    """(p,) expected squared distance of vertices, from open scores and from the noise."""
    flat = model.modes.reshape(len(model.modes), -1)
    spread = ((found.covariance @ flat) * flat).sum(axis=0).reshape(-1, 3).sum(axis=1)
    return np.asarray(spread + 3 * model.noise)


def _share(values: np.ndarray, weights: np.ndarray) -> float:
    return float(weights @ values / max(weights.sum(), 1e-300))


def _half(mean: np.ndarray, known: np.ndarray, random: np.random.Generator) -> FloatArray:
    """(p,) 1 for the known vertices on one side of a random plane through their middle, else 0."""
    direction = random.normal(size=3)
    height = mean @ direction
    there = known > 0.5 * known.max()
    return np.asarray((height <= np.median(height[there])).astype(np.float64))


def _hidden_errors(
    model: Components, shape: np.ndarray, known: np.ndarray, shown: np.ndarray, most: int
) -> FloatArray:
    """(most + 1,) errors at hidden vertices with 0, 1, ... components."""
    hidden = known * (1 - shown) * model.areas
    out = np.empty(most + 1)
    for count in range(most + 1):
        fewer = model.first(min(count, len(model.modes)))
        if count == 0:
            fewer = Components(model.mean, model.modes[:0], model.variances[:0], 1.0, model.areas)
        found = fewer.posterior(shape, known * shown)
        out[count] = _rms(found.pose.apply(shape) - fewer.shape(found.scores), hidden)
    return out


def _rms(away: np.ndarray, weights: np.ndarray) -> float:
    return float(np.sqrt(weights @ (away**2).sum(axis=1) / max(weights.sum(), 1e-300)))


def outliers(validation: Validation, names: tuple[str, ...], limit: float = 3.5) -> dict[str, str]:
    """Names of shapes that do not fit the others, and why.

    The residual is compared with the others' by the median absolute deviation of the logarithm:
    ``limit`` robust standard deviations. Scores are compared with what is normal: their squared
    distance has a chi-squared distribution, and one in a hundred collections has a false alarm.
    """
    found: dict[str, str] = {}
    log = np.log(np.maximum(validation.residual, np.finfo(float).tiny))
    middle = float(np.median(log))
    # However alike the others are, less than twice their residual is nothing to name.
    width = max(1.4826 * float(np.median(np.abs(log - middle))), np.log(2) / limit)
    count = validation.hidden_error.shape[1] - 1
    chance = chi2.sf(count * validation.distance**2, count)
    for i, name in enumerate(names):
        reasons = []
        if (log[i] - middle) / width > limit:
            times = np.exp(log[i] - middle)
            reasons.append(
                f"the others do not explain it: its residual is {times:.1f} times theirs"
            )
        if chance[i] < 0.01 / len(names):
            far = validation.distance[i]
            reasons.append(f"it lies far out: its scores are {far:.1f} standard deviations from 0")
        if reasons:
            found[name] = "; ".join(reasons)
    return found
