"""How far off a point of the template is on the scan: measured ones by confidence, others by reach.

Errors of landmarks have a long tail, and experts' own errors are in it. Two quantiles, 68 and 95 %,
are fitted to errors at landmarks that experts placed on skulls, as powers of what is known of a
point; between and beyond them the logarithm of an error is taken for normal. All lengths are shares
of the square root of the template's area, in its size on the scan. docs/shapes.md shows how well
the bars hold on individuals that were left out of the fit of these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

RADIUS = 0.03  # confidence is the chance to be less than this off
# Logarithm of the factor, and power, of the quantiles of 68 and 95 %:
_MEASURED = ((-4.994, 0.121), (-3.185, 0.363))  # of -log(confidence)
_PREDICTED = ((-3.224, 0.417), (-2.969, 0.234))  # of the distance to what was measured, plus NEAR
NEAR = 0.05
_SEEN = (0.05, 0.992)  # beyond these confidences there was nothing to fit
_SURFACE, _SURFACE_MIRRORED = (0.016, 0.37), (0.0047, 0.12)  # factor and power of that distance
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
    return _bars(*_quantiles(_MEASURED, doubt(confidence)), unit, confidence)


def doubt(confidence: np.ndarray) -> np.ndarray:
    """(n,) what errors of measured points grow with."""
    return np.asarray(-np.log(np.clip(confidence, *_SEEN)))


def of_predicted(distance: np.ndarray, unit: float, chance: float = 1.0) -> ErrorBars:
    """Errors of points that the fitted template places where the scan has nothing.

    Parameters
    ----------
    distance : (n,) float array
        Along the template to the nearest vertex on the scan, as a share of ``unit``.
    chance : float
        That the scan lies in the right place at all.
    """
    median, spread = _quantiles(_PREDICTED, distance + NEAR)
    return _bars(median, spread, unit, chance * ndtr(np.log(RADIUS / median) / spread))


def _quantiles(
    fitted: tuple[tuple[float, float], tuple[float, float]], of: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(n,) medians of errors and spreads of their logarithms."""
    low, high = (factor + power * np.log(of) for factor, power in fitted)
    spread = (high - low) / (_Z95 - _Z68)
    return np.exp(low - _Z68 * spread), spread


def _bars(median: np.ndarray, spread: np.ndarray, unit: float, confidence: np.ndarray) -> ErrorBars:
    return ErrorBars(
        expected=unit * median * np.exp(spread**2 / 2),
        standard=unit * median * np.exp(_Z68 * spread),
        limit_95=unit * median * np.exp(_Z95 * spread),
        confidence=np.asarray(confidence, dtype=np.float64),
    )


def surface_error(distance: np.ndarray, mirrored: np.ndarray) -> np.ndarray:
    """(n,) how far predicted vertices are from the true surface: 68 % are nearer than this.

    In shares of the root of the template's area, as is the (n,) distance to what was measured.

    Parameters
    ----------
    mirrored : (n,) bool array
        What follows the other side of a symmetric shape.
    """
    (own, growth), (other, slower) = _SURFACE, _SURFACE_MIRRORED
    return np.where(mirrored, other * distance**slower, own * distance**growth)
