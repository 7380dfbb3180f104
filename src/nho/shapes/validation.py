"""Leave-one-out: what a shape space knows of shapes that it has not seen.

Each shape is left out, the components are fitted to the others, half of what is known of it is
hidden, and the rest predicts it. The error by number of components says how many are worth having;
the differences between scores from the half and from all of it say how far scores can be trusted.

Hiding half of a fit flatters: what is left was fitted with all of the scan, so both halves share
the errors of one map. A fit to half of the *scan* has errors of its own, as every new scan has.
Such fits, where there are any, say how far predicted positions can be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from scipy.special import gammaincc

from nho.geometry.mesh import FloatArray
from nho.shapes.component_fit import fit_components, share_of_noise
from nho.shapes.components import Components, Posterior
from nho.shapes.given_shapes import PartFit
from nho.shapes.missing_parts import Deformations, with_missing_parts

_FEW, _MANY = 30, 300  # shapes: each is left out alone, in tenths, in thirds
_ITERATIONS = 5  # from the components of all shapes


@dataclass(frozen=True)
class Validation:
    """Errors at shapes that were left out, in the unit of centroid size 1.

    Attributes
    ----------
    hidden_error : (n, q + 1) float array
        Root mean square distance at vertices that were hidden, with 0, 1, ... q components.
    unexplained : (n, q + 1) float array
        What components of the others, 0, 1, ... q, leave of all that is known of a shape.
    distance : (n,) float array
        Mahalanobis distance of the scores, per component.
    inflation : float
        Scores from half of a shape are off by this factor more than their covariance says.
    position_inflation : float
        The same for positions of hidden vertices, predicted from part fits if there are any.
    own : float
        Variance of a coordinate that is every vertex's own, not part of a smooth field.
    part_fits : int
        Part fits that ``position_inflation`` comes from; with 0 it leaves out errors of the map.
    """

    hidden_error: np.ndarray
    unexplained: np.ndarray
    distance: np.ndarray
    inflation: float
    position_inflation: float
    own: float
    part_fits: int = 0

    @property
    def residual(self) -> FloatArray:
        """(n,) what all components of the others leave of each shape."""
        return np.asarray(self.unexplained[:, -1])

    def of_first(self, count: int) -> Validation:
        """The same for the first shapes alone, without their mirror images."""
        return replace(
            self,
            hidden_error=self.hidden_error[:count],
            unexplained=self.unexplained[:count],
            distance=self.distance[:count],
        )

    def with_noise(self, model: Components) -> Components:
        """The model with the noise that it leaves of shapes which it has not seen."""
        noise = float((self.unexplained[:, len(model.modes)] ** 2).mean()) / 3
        return replace(model, noise=noise, rough=share_of_noise(self.own, noise))

    @property
    def components(self) -> int:
        """The fewest components whose error is within a standard error of the least."""
        mean = self.hidden_error.mean(axis=0)
        best = int(mean.argmin())
        deviation = self.hidden_error[:, best].std(ddof=1) / np.sqrt(len(self.hidden_error))
        return int(np.flatnonzero(mean <= mean[best] + deviation)[0])


def validated(
    model: Components,
    shapes: np.ndarray,
    weights: np.ndarray,
    groups: Sequence[object] | None = None,
    parts: Mapping[int, PartFit] = MappingProxyType({}),
    seed: int = 0,
    inferred: Deformations | None = None,
) -> Validation:
    """Leave out each of (n, p, 3) shapes with (n, p) weights, or many at a time of many.

    Shapes of one group, such as scans of the same individual, are left out together. ``parts`` are
    fits to parts of the scans, by row. ``inferred`` is what missing parts were inferred by; it is
    learnt again from those that are not left out.
    """
    n, q = len(shapes), len(model.modes)
    folds = _folds(groups if groups is not None else range(n))
    fitted = []
    unexplained, rough = np.empty((n, q + 1)), np.empty(n)
    for left_out in folds:
        rest = np.setdiff1d(np.arange(n), left_out)
        count = min(q, len(rest) - 1)
        filled = with_missing_parts(inferred, shapes[rest], weights[rest], again=True)
        others = fit_components(*filled, model.mean, model.areas, count, _ITERATIONS, start=model)
        fitted.append(others)
        for i in left_out:
            left = [others.first(k).residual(shapes[i], weights[i]) for k in range(q + 1)]
            known = weights[i] * others.areas
            unexplained[i] = [_rms(each, known) for each in left]
            rough[i] = others.smooth.rough_share(left[q], known)
    # What components leave of a shape that they were fitted to would be too little.
    noises = (unexplained**2).mean(axis=0) / 3
    own = float(rough @ unexplained[:, q] ** 2 / 3) / n  # of every vertex
    errors, distance = np.empty((n, q + 1)), np.empty(n)
    ratios: list[float] = []
    gaps: list[float] = []
    random = np.random.default_rng(seed)
    for others, left_out in zip(fitted, folds, strict=True):
        judges = [
            replace(others.first(k), noise=noises[k], rough=share_of_noise(own, noises[k]))
            for k in range(q + 1)
        ]
        for i in left_out:
            shape, known = shapes[i], weights[i]
            shown = _half(others.mean, known, random)
            hidden = known * (1 - shown) * others.areas
            for count, judge in enumerate(judges):
                part = judge.posterior(shape, known * shown, spread=count == q)
                errors[i, count] = _rms(_away(judge, part, shape), hidden)
            whole = judge.posterior(shape, known)
            distance[i] = np.sqrt((whole.scores**2 / judge.variances).mean())
            if not parts:
                gaps.append(errors[i, q] / np.sqrt(_share(part.variance, hidden)))
            elif i in parts:
                gaps.append(_gap(judge, shape, known, parts[i]))
            off = (part.scores - whole.scores) ** 2
            ratios.append(float(np.median(off / np.diag(part.covariance))))
    inflation = float(np.sqrt(max(np.median(ratios) / 0.455, 1.0)))  # 0.455: median of chi^2 with 1
    # Of n shapes the standard deviation, not the typical ratio: bars have to hold for the odd ones.
    position_inflation = max(float(np.sqrt(np.mean(np.square(gaps)))), 1.0)
    return Validation(errors, unexplained, distance, inflation, position_inflation, own, len(parts))


def _gap(model: Components, shape: np.ndarray, known: np.ndarray, part: PartFit) -> float:
    """Error of what a part fit predicts of a shape, over the error that the model expects."""
    found = model.posterior(part.positions, part.weights, spread=True)
    hidden = np.where(part.weights > 0, 0.0, known) * model.areas
    expected = np.sqrt(_share(found.variance, hidden))
    return float(_rms(_away(model, found, shape), hidden) / expected)


def _folds(groups: Sequence[object]) -> list[np.ndarray]:
    """Rows that are left out together."""
    numbers = np.unique([str(group) for group in groups], return_inverse=True)[1]
    count = int(numbers.max()) + 1
    fold = numbers % (count if count <= _FEW else 10 if count <= _MANY else 3)
    return [np.flatnonzero(fold == number) for number in range(int(fold.max()) + 1)]


def _share(values: np.ndarray, weights: np.ndarray) -> float:
    return float(weights @ values / max(weights.sum(), 1e-300))


def _half(mean: np.ndarray, known: np.ndarray, random: np.random.Generator) -> FloatArray:
    """(p,) 1 for the known vertices on one side of a random plane through their middle, else 0."""
    direction = random.normal(size=3)
    height = mean @ direction
    there = known > 0.5 * known.max()
    return np.asarray((height <= np.median(height[there])).astype(np.float64))


def _away(model: Components, found: Posterior, shape: np.ndarray) -> FloatArray:
    """(p, 3) from where a shape was estimated to where it is, laid onto the mean."""
    away: FloatArray = found.pose.apply(shape) - model.shape(found.scores) - found.field
    return away


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
    chance = gammaincc(count / 2, count * validation.distance**2 / 2)  # of chi-squared
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
