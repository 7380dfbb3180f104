"""Small multilayer perceptrons with closed-form gradients, and Adam; all on one flat vector."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from nho.settings.recipes import Precision

DTYPES: dict[Precision, DTypeLike] = {"single": np.float32, "double": np.float64}

_LEAK = np.float32(0.01)  # slope of leaky-relu below zero


class Perceptron:
    """Layout of a multilayer perceptron; its parameters live in a flat vector of the caller.

    Parameters
    ----------
    sizes : tuple of int
        Widths of input, hidden layers and output.
    activation : {"tanh", "relu", "leaky-relu", "sine", "softplus"}
        After every layer but the last.
    """

    def __init__(self, sizes: tuple[int, ...], activation: str) -> None:
        self.sizes = sizes
        self.activation = activation
        self._shapes = list(zip(sizes[:-1], sizes[1:], strict=True))
        self.parameter_count = sum(a * b + b for a, b in self._shapes)

    def layers(self, flat: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Views of ``flat`` as (weight (in, out), bias (out,)) per layer."""
        views, start = [], 0
        for a, b in self._shapes:
            weight = flat[start : start + a * b].reshape(a, b)
            bias = flat[start + a * b : start + a * b + b]
            views.append((weight, bias))
            start += a * b + b
        return views

    def forward(self, flat: np.ndarray, x: np.ndarray) -> list[np.ndarray]:
        """Outputs of every layer for rows ``x``, the input first and the result last."""
        outputs = [x]
        layers = self.layers(flat)
        for number, (weight, bias) in enumerate(layers, start=1):
            x = x @ weight
            x += bias
            if number < len(layers):
                _activate(x, self.activation)
            outputs.append(x)
        return outputs

    def backward(
        self, flat: np.ndarray, outputs: list[np.ndarray], upstream: np.ndarray
    ) -> np.ndarray:
        """Gradient of the flat vector, given d loss / d result (rows, out) as ``upstream``."""
        gradient = np.empty_like(flat)
        views = self.layers(gradient)
        layers = self.layers(flat)
        for number in reversed(range(len(layers))):
            x = outputs[number]
            weight_gradient, bias_gradient = views[number]
            np.matmul(x.T, upstream, out=weight_gradient)
            upstream.sum(axis=0, out=bias_gradient)
            if number:
                upstream = upstream @ layers[number][0].T
                if self.activation == "sine":  # the one slope that its output does not tell
                    weight, bias = layers[number - 1]
                    upstream *= np.cos(outputs[number - 1] @ weight + bias)
                else:
                    _times_slope(upstream, x, self.activation)
        return gradient


@dataclass
class Adam:
    """Adam on a flat vector, with L2 weight decay added to the gradient (as in PyTorch)."""

    learning_rate: float
    weight_decay: float = 0.0
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    steps: int = 0

    def step(self, flat: np.ndarray, gradient: np.ndarray) -> None:
        """Update ``flat`` in place."""
        if self.steps == 0:
            self._mean = np.zeros_like(flat)
            self._square = np.zeros_like(flat)
        self.steps += 1
        if self.weight_decay:
            gradient = gradient + np.float32(self.weight_decay) * flat
        self._mean += (1 - self.beta1) * (gradient - self._mean)
        self._square += (1 - self.beta2) * (gradient * gradient - self._square)
        correction1 = 1 - self.beta1**self.steps
        correction2 = 1 - self.beta2**self.steps
        denominator = np.sqrt(self._square / correction2) + self.epsilon
        flat -= ((self.learning_rate / correction1) * self._mean / denominator).astype(flat.dtype)


def uniform_by_fan_in(
    network: Perceptron, random: np.random.Generator, dtype: DTypeLike = np.float32
) -> np.ndarray:
    """Weights and biases uniform in +-1/sqrt(fan_in): PyTorch's default for linear layers."""
    flat = np.empty(network.parameter_count, dtype=dtype)
    for weight, bias in network.layers(flat):
        bound = 1 / np.sqrt(weight.shape[0])
        weight[:] = random.uniform(-bound, bound, weight.shape)
        bias[:] = random.uniform(-bound, bound, bias.shape)
    return flat


def xavier_uniform(shape: tuple[int, int], random: np.random.Generator) -> np.ndarray:
    """Glorot and Bengio's uniform initialisation of one weight matrix."""
    bound = np.sqrt(6 / sum(shape))
    return random.uniform(-bound, bound, shape).astype(np.float32)


def _activate(x: np.ndarray, kind: str) -> None:
    if kind == "tanh":
        np.tanh(x, out=x)
    elif kind == "relu":
        np.maximum(x, 0, out=x)
    elif kind == "sine":
        np.sin(x, out=x)
    elif kind == "softplus":
        np.logaddexp(x, 0, out=x)
    else:
        np.maximum(x, _LEAK * x, out=x)


def _times_slope(upstream: np.ndarray, output: np.ndarray, kind: str) -> None:
    """Multiply by the activation's derivative, read off its output."""
    if kind == "tanh":
        upstream *= 1 - output * output
    elif kind == "relu":
        upstream *= output > 0
    elif kind == "softplus":
        upstream *= -np.expm1(-output)
    else:
        # Arithmetic on the mask: np.where is seven times slower on signs without a pattern.
        slope = np.multiply(output > 0, 1 - _LEAK, dtype=np.float32)
        slope += _LEAK
        upstream *= slope
