"""The intrinsic neural field: where on the full shape the region is (Sec. 4.1)."""

from __future__ import annotations

import copy

import numpy as np
from numpy.typing import DTypeLike

from nho.operator.network import Perceptron, uniform_by_fan_in
from nho.runtime.parallel import SERIAL, Workers


def encoding_at(functions: np.ndarray, anchored: np.ndarray) -> np.ndarray:
    """Eigenfunctions as an encoding, with signs that only the anchored vertices decide.

    The full shape has area one, so they carry no unit.
    """
    at_anchors = (functions[anchored] ** 3).sum(axis=0)
    return functions * np.where(at_anchors < 0, -1.0, 1.0)


class NeuralField:
    """A network applied row by row to LBO eigenfunctions: encoding -> soft indicator s in (0, 1).

    Parameters
    ----------
    encoding : (n, r) float array
        Eigenfunctions times sqrt(area) of the full shape, so that they carry no unit.
    hidden : tuple of int
        Widths of the hidden layers.
    activation : str
    random : numpy Generator
        Draws the initial weights.
    dtype : data type
        Of all that the network computes.
    """

    def __init__(
        self,
        encoding: np.ndarray,
        hidden: tuple[int, ...],
        activation: str,
        random: np.random.Generator,
        pool: Workers = SERIAL,
        dtype: DTypeLike = np.float32,
    ) -> None:
        self._encoding = np.ascontiguousarray(encoding, dtype=dtype)
        self._network = Perceptron((encoding.shape[1], *hidden, 1), activation)
        self._pool = pool
        self.parameters = uniform_by_fan_in(self._network, random, dtype)

    def at(self, encoding: np.ndarray) -> NeuralField:
        """The same function at other points; parameters are shared."""
        other = copy.copy(self)
        other._encoding = np.ascontiguousarray(encoding, dtype=self._encoding.dtype)
        return other

    @property
    def parameter_count(self) -> int:
        """Number of trainable parameters."""
        return self._network.parameter_count

    def indicator(self) -> np.ndarray:
        """(n,) soft region indicator ``s = (1 - tanh w) / 2`` (Eq. 6, 7), in float64."""

        def rows(block: slice) -> list[np.ndarray]:
            return self._network.forward(self.parameters, self._encoding[block])

        self._outputs = self._pool.over_rows(rows, len(self._encoding))
        w = np.concatenate([outputs[-1][:, 0] for outputs in self._outputs]).astype(np.float64)
        # The same as (1 - tanh w) / 2, without cancellation where s is small.
        self._s = 1 / (1 + np.exp(np.minimum(2 * w, 700)))
        return self._s

    def gradient(self, by_indicator: np.ndarray) -> np.ndarray:
        """Gradient by the parameters from that by s, at the last `indicator`."""
        by_w = by_indicator * -2 * self._s * (1 - self._s)
        by_w = by_w.astype(self._encoding.dtype)[:, None]
        starts = np.cumsum([0, *(len(outputs[0]) for outputs in self._outputs)])

        def rows(number: int) -> np.ndarray:
            outputs = self._outputs[number]
            upstream = by_w[starts[number] : starts[number + 1]]
            return self._network.backward(self.parameters, outputs, upstream)

        blocks = [lambda number=number: rows(number) for number in range(len(self._outputs))]
        return sum(self._pool.together(*blocks), np.zeros_like(self.parameters))
