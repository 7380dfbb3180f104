"""Closed-form gradients and Adam against finite differences and PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from nho.operator.field import NeuralField
from nho.operator.network import Adam, Perceptron, uniform_by_fan_in, xavier_uniform
from nho.runtime.parallel import workers

ACTIVATIONS = ["tanh", "relu", "leaky-relu", "sine", "softplus"]


def in_double(network: Perceptron, seed: int = 0) -> np.ndarray:
    return uniform_by_fan_in(network, np.random.default_rng(seed)).astype(np.float64)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradient_equals_finite_differences(activation):
    random = np.random.default_rng(1)
    network = Perceptron((5, 7, 6, 2), activation)
    flat, x = in_double(network), random.standard_normal((11, 5))
    weights = random.standard_normal((11, 2))

    def loss(parameters):
        return float((network.forward(parameters, x)[-1] * weights).sum())

    gradient = network.backward(flat, network.forward(flat, x), weights.copy())
    step = 1e-6
    numeric = np.array(
        [(loss(flat + step * e) - loss(flat - step * e)) / (2 * step) for e in np.eye(len(flat))]
    )
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradient_equals_torch_autograd(activation):
    torch = pytest.importorskip("torch")
    functions = {
        "tanh": torch.tanh,
        "relu": torch.relu,
        "sine": torch.sin,
        "softplus": torch.nn.functional.softplus,
        "leaky-relu": lambda x: torch.nn.functional.leaky_relu(x, float(np.float32(0.01))),
    }
    random = np.random.default_rng(2)
    network = Perceptron((20, 128, 128, 128, 1), activation)
    flat, x = in_double(network), random.standard_normal((50, 20))
    weights = random.standard_normal((50, 1))
    ours = network.backward(flat, network.forward(flat, x), weights.copy())

    leaf = torch.tensor(flat, requires_grad=True)
    y, start = torch.tensor(x), 0
    for number, (a, b) in enumerate(zip(network.sizes[:-1], network.sizes[1:], strict=True)):
        y = y @ leaf[start : start + a * b].reshape(a, b) + leaf[start + a * b : start + a * b + b]
        start += a * b + b
        if number < len(network.sizes) - 2:
            y = functions[activation](y)
    (y * torch.tensor(weights)).sum().backward()
    np.testing.assert_allclose(ours, leaf.grad.numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("decay", [0.0, 1e-2])
def test_adam_takes_the_steps_of_torch(decay):
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(3)
    start = random.standard_normal(9)
    gradients = random.standard_normal((30, 9))
    ours, optimiser = start.copy(), Adam(1e-2, decay)
    for gradient in gradients:
        optimiser.step(ours, gradient)
    leaf = torch.tensor(start, requires_grad=True)
    theirs = torch.optim.Adam([leaf], lr=1e-2, weight_decay=decay)
    for gradient in gradients:
        leaf.grad = torch.tensor(gradient)
        theirs.step()
    np.testing.assert_allclose(ours, leaf.detach().numpy(), rtol=1e-6)  # decay is float32


def test_field_has_the_papers_number_of_parameters():
    field = NeuralField(np.zeros((3, 20)), (128,) * 3, "relu", np.random.default_rng(0))
    assert field.parameter_count == 35_841 == len(field.parameters)


def test_field_gradient_through_the_indicator_equals_finite_differences():
    random = np.random.default_rng(4)
    field = NeuralField(random.standard_normal((40, 6)), (8, 8), "tanh", random)
    field._encoding = field._encoding.astype(np.float64)
    field.parameters = field.parameters.astype(np.float64)
    weights = random.standard_normal(40)
    field.indicator()
    gradient = field.gradient(weights)
    for index in random.choice(len(gradient), 25, replace=False):
        values = []
        for step in (1e-6, -1e-6):
            field.parameters[index] += step
            values.append(field.indicator() @ weights)
            field.parameters[index] -= step
        numeric = (values[0] - values[1]) / 2e-6
        assert gradient[index] == pytest.approx(numeric, rel=1e-4, abs=1e-6)


def test_indicator_is_the_papers_formula():
    random = np.random.default_rng(5)
    field = NeuralField(random.standard_normal((30, 4)), (5,), "tanh", random)
    w = field._network.forward(field.parameters, field._encoding)[-1][:, 0].astype(np.float64)
    np.testing.assert_allclose(field.indicator(), (1 - np.tanh(w)) / 2, rtol=1e-12)


def test_field_has_the_same_bits_for_any_number_of_threads():
    encoding = np.random.default_rng(6).standard_normal((5000, 20))
    results = []
    for threads in (1, 2, 3):
        with workers(threads) as pool:
            field = NeuralField(encoding, (16, 16), "relu", np.random.default_rng(0), pool)
            s = field.indicator()
            results.append((s.copy(), field.gradient(np.cos(np.arange(5000)))))
    for s, gradient in results[1:]:
        assert np.array_equal(s, results[0][0])
        assert np.array_equal(gradient, results[0][1])


def test_initial_weights_stay_within_their_bounds_and_fill_them():
    network = Perceptron((50, 200, 1), "relu")
    for weight, bias in network.layers(uniform_by_fan_in(network, np.random.default_rng(0))):
        bound = 1 / np.sqrt(weight.shape[0])
        assert 0.95 * bound < np.abs(weight).max() <= bound
        assert np.abs(bias).max() <= bound
    matrix = xavier_uniform((100, 50), np.random.default_rng(0))
    assert 0.98 * np.sqrt(6 / 150) < np.abs(matrix).max() <= np.sqrt(6 / 150)
