"""Least value of a function of matrices with orthonormal columns (the Stiefel manifold).

Conjugate gradients along the manifold (Absil, Mahony, Sepulchre 2008): directions are tangent, a
step ends where the QR decomposition brings it back to orthonormal columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Energy = Callable[[np.ndarray], tuple[float, np.ndarray]]

_ENOUGH = 1e-4  # share of the promised decrease that a step must keep (Armijo)
_HALVINGS = 30  # of a step, before it counts as useless
_LEAST_GAIN = 1e-6  # share of the energy that a step must save
_PATIENCE = 5  # steps in a row that save less


def minimised(
    energy: Energy,
    start: np.ndarray,
    steps: int,
    on_step: Callable[[float], None] = lambda value: None,
) -> tuple[np.ndarray, float]:
    """Where conjugate gradients arrive from ``start``, and the energy there.

    Parameters
    ----------
    energy : callable
        From a (k, r) matrix to the energy and its gradient (k, r), as if entries were free.
    start : (k, r) float array
        With orthonormal columns, r <= k.
    steps : int
        At most.
    on_step : callable
        Gets the energy after every step.
    """
    at = start
    value, slope = energy(at)
    slope = tangent(at, slope)
    direction = -slope
    # So that the first step rotates columns by a small angle, whatever the unit of the energy.
    length = 0.1 / max(float(np.linalg.norm(slope)), np.finfo(np.float64).tiny)
    idle = 0
    for _ in range(steps):
        promised = float((slope * direction).sum())
        if promised >= 0:  # not downhill: begin anew
            direction, promised = -slope, -float((slope**2).sum())
        if promised == 0:
            break
        for _ in range(_HALVINGS):
            there = retracted(at + length * direction)
            there_value, there_slope = energy(there)
            if there_value <= value + _ENOUGH * length * promised:
                break
            length /= 2
        else:
            break
        there_slope = tangent(there, there_slope)
        # Polak and Ribiere, never negative; old vectors are carried over by projection.
        carried, old = tangent(there, direction), tangent(there, slope)
        weight = float((there_slope * (there_slope - old)).sum() / (slope**2).sum())
        direction = -there_slope + max(weight, 0.0) * carried
        idle = idle + 1 if value - there_value < _LEAST_GAIN * abs(value) else 0
        at, value, slope = there, there_value, there_slope
        length *= 2
        on_step(value)
        if idle == _PATIENCE:
            break
    return at, value


def tangent(at: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """The part of a (k, r) matrix along the manifold at a point of it."""
    inner = at.T @ vector
    along: np.ndarray = vector - at @ (inner + inner.T) / 2
    return along


def retracted(matrix: np.ndarray) -> np.ndarray:
    """(k, r) orthonormal columns that span those of a matrix, near them."""
    columns, triangle = np.linalg.qr(matrix)
    # Without a choice of signs a small step could end at the opposite of a column.
    return columns * np.where(np.diag(triangle) < 0, -1.0, 1.0)
