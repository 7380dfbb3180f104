"""Colours as screens take them (sRGB) and as light adds up (linear), both from 0 to 1."""

from __future__ import annotations

import numpy as np


def from_linear(linear: np.ndarray) -> np.ndarray:
    """Linear fractions as sRGB fractions."""
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def to_linear(encoded: np.ndarray) -> np.ndarray:
    """sRGB fractions as linear ones."""
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
