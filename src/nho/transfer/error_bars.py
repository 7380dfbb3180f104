"""How far off a point of the template is on the scan: measured ones by confidence, others by reach.

Errors of landmarks have a long tail, and experts' own errors are in it. Their logarithm is close
to normal, so an error bar is a median and a spread. All lengths are shares of the square root of
the template's area, in its size on the scan. docs/shapes.md shows how well the bars hold on
individuals that were left out of the fit of these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

RADIUS = 0.03  # confidence is the chance to be less than this off
_MEASURED = (-5.60, 0.07, 0.87)  # median = exp(a) (-log confidence)^b, and the spread of logarithms
_PREDICTED = (-3.61, 0.42, 0.61)  # median = exp(a) (distance + _NEAR)^b
_NEAR = 0.05
_Z68, _Z95 = 0.4677, 1.6449  # one-sided quantiles of the normal distribution


@dataclass(frozen=True)
class ErrorBars:
    """What is known of the errors of n points, in the unit of the scan.

    Attributes
    ----------
    expected : (n,) float array
        Mean error.
    standard : (n,) float array
        68 % of errors are smaller.
    limit_95 : (n,) float array
        95 % of errors are smaller.
    confidence : (n,) float array
        Chance that the error is below 3 % of the square root of the template's area.
    """

    expected: np.ndarray
    standard: np.ndarray
    limit_95: np.ndarray
    confidence: np.ndarray


def of_measured(confidence: np.ndarray, unit: float) -> ErrorBars:
    """Errors of points that the map carries.

    Parameters
    ----------
    confidence : (n,) float array
        Of the map there, 0 to 1.
    unit : float
        Square root of the template's area, in its size and unit on the scan.
    """
    a, b, spread = _MEASURED
    doubt = -np.log(np.clip(confidence, 1e-6, 1 - 1e-6))
    return _bars(np.exp(a) * doubt**b, spread, unit, confidence)


def of_predicted(distance: np.ndarray, unit: float, chance: float = 1.0) -> ErrorBars:
    """Errors of points that the fitted template places where the scan has nothing.

    Parameters
    ----------
    distance : (n,) float array
        Along the template to the nearest vertex on the scan, as a share of ``unit``.
    chance : float
        That the scan lies in the right place at all.
    """
    a, b, spread = _PREDICTED
    median = np.exp(a) * (distance + _NEAR) ** b
    return _bars(median, spread, unit, chance * ndtr(np.log(RADIUS / median) / spread))


def _bars(median: np.ndarray, spread: float, unit: float, confidence: np.ndarray) -> ErrorBars:
    return ErrorBars(
        expected=unit * median * np.exp(spread**2 / 2),
        standard=unit * median * np.exp(_Z68 * spread),
        limit_95=unit * median * np.exp(_Z95 * spread),
        confidence=np.asarray(confidence, dtype=np.float64),
    )
