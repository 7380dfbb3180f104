"""ZoomOut and Neural ZoomOut."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.spectrum import laplacian, neumann_basis
from nho.operator.refinement import NeuralAdjointMap, refine, rms_normalised, stages
from nho.progress import Progress
from nho.runtime.parallel import workers
from nho.runtime.run import Run
from nho.settings import PaperRecipe


def test_neural_adjoint_map_has_the_papers_number_of_parameters():
    assert len(NeuralAdjointMap(100, np.random.default_rng(0)).parameters) == 52_340


def as_torch(nam):
    """The same function written with torch, for autograd."""
    torch = pytest.importorskip("torch")
    leaf = torch.tensor(nam.parameters, requires_grad=True)
    d = nam._dimension

    def function(x):
        y, start = x, d * d
        sizes = nam._network.sizes
        for number, (a, b) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
            weight = leaf[start : start + a * b].reshape(a, b)
            y = y @ weight + leaf[start + a * b : start + a * b + b]
            start += a * b + b
            if number < 2:
                y = torch.nn.functional.leaky_relu(y)
        return x @ leaf[: d * d].reshape(d, d) + 0.01 * y

    return torch, leaf, function


def test_gradient_equals_torch_autograd():
    random = np.random.default_rng(1)
    nam = NeuralAdjointMap(9, random)
    x, y = random.standard_normal((2, 40, 9)).astype(np.float32)
    weights = random.uniform(1, 5, (40, 1)).astype(np.float32)
    loss, gradient = nam.loss_and_gradient(x, y, weights)
    torch, leaf, function = as_torch(nam)
    squares = (function(torch.tensor(x)) - torch.tensor(y)) ** 2
    theirs = (torch.tensor(weights) * squares).sum()
    theirs.backward()
    assert loss == pytest.approx(theirs.item(), rel=1e-5)
    np.testing.assert_allclose(gradient, leaf.grad.numpy(), rtol=1e-3, atol=1e-4)


def test_fit_equals_geomfum_from_the_same_weights():
    torch = pytest.importorskip("torch")
    geomfum = pytest.importorskip("geomfum.neural_adjoint_map")
    random = np.random.default_rng(2)
    d = 12
    ours = NeuralAdjointMap(d, random)
    theirs = geomfum.NeuralAdjointMap(d, d)
    with torch.no_grad():
        linear, network = ours._split(ours.parameters)
        theirs.linear_module.weight.copy_(torch.tensor(linear.T.copy()))
        modules = [m for m in theirs.nonlinear_module.mlp if hasattr(m, "weight")]
        for module, (weight, bias) in zip(modules, ours._network.layers(network), strict=True):
            module.weight.copy_(torch.tensor(weight.T.copy()))
            module.bias.copy_(torch.tensor(bias.copy()))
    assert sum(p.numel() for p in theirs.parameters()) == len(ours.parameters)
    x = random.standard_normal((300, d)).astype(np.float32)
    y = (x @ random.standard_normal((d, d)) + 0.1 * np.sin(x)).astype(np.float32)
    settings = PaperRecipe()
    ours.fit(np.arange(len(x)), x, y, settings, 60)
    optimiser = torch.optim.Adam(theirs.parameters(), lr=1e-2, weight_decay=1e-5)
    for _ in range(60):
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(theirs(torch.tensor(x)), torch.tensor(y)).backward()
        optimiser.step()
    with torch.no_grad():
        np.testing.assert_allclose(ours(x), theirs(torch.tensor(x)).numpy(), atol=2e-3)


def test_rows_at_one_vertex_count_as_one_row_of_their_mean():
    """The same loss at every step as on all rows, one by one."""
    random = np.random.default_rng(4)
    x, vertices = random.standard_normal((30, 6)), random.integers(0, 30, 200)
    y = np.abs(x[vertices]) + 0.3 * random.standard_normal((200, 6))
    merged, single = (NeuralAdjointMap(6, np.random.default_rng(0), dtype=float) for _ in range(2))
    for steps in (1, 20):
        apart = single.fit(np.arange(200), x[vertices], y, PaperRecipe(), steps)
        together = merged.fit(vertices, x, y, PaperRecipe(), steps)
        assert together[0] == pytest.approx(apart[0], rel=1e-9)
    np.testing.assert_allclose(merged.parameters, single.parameters, rtol=1e-6, atol=1e-9)


def test_fit_has_the_same_bits_for_any_number_of_threads():
    random = np.random.default_rng(3)
    x, y = random.standard_normal((2, 8000, 8))
    results = []
    for threads in (1, 2):
        with workers(threads) as pool:
            nam = NeuralAdjointMap(8, np.random.default_rng(0))
            nam.fit(np.arange(len(x)), x, y, PaperRecipe(refine_rows=4000), 5, pool)
            results.append(nam.parameters)
    assert np.array_equal(*results)


def curved(random: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    x = random.standard_normal((rows, 20))
    return x, x @ random.standard_normal((20, 20)) / 4 + np.abs(x)


@pytest.mark.slow
def test_a_sample_of_the_rows_serves_all_of_them():
    x, y = curved(np.random.default_rng(7), 6000)
    errors = {}
    for rows in (0, 1000):
        nam = NeuralAdjointMap(20, np.random.default_rng(0))
        nam.fit(np.arange(len(x)), x, y, PaperRecipe(refine_rows=rows), 100)
        errors[rows] = ((nam(x) - y) ** 2).mean()
    assert errors[1000] < 1.3 * errors[0] < 0.3 * y.var()


def test_a_larger_map_starts_from_what_the_smaller_one_knows():
    random = np.random.default_rng(8)
    x, y = curved(random, 800)
    small = NeuralAdjointMap(12, random)
    small.fit(np.arange(len(x)), x[:, :12], y[:, :12], PaperRecipe(), 200)
    grown, fresh = NeuralAdjointMap(20, random, small), NeuralAdjointMap(20, random)
    narrow = np.where(np.arange(20) < 12, x, 0)  # the new coordinates say nothing
    known = np.abs(grown(narrow)[:, :12] - small(x[:, :12]))
    assert known.max() < 1e-4
    assert (
        grown.fit(np.arange(len(x)), x, y, PaperRecipe(), 30)[0]
        < 0.7 * fresh.fit(np.arange(len(x)), x, y, PaperRecipe(), 30)[0]
    )


def test_stages_are_the_papers():
    assert stages(PaperRecipe(), 100) == list(range(20, 101, 5))
    assert len(stages(PaperRecipe(), 100)) == 17
    assert stages(PaperRecipe(), 33) == [20, 25, 30]
    assert stages(PaperRecipe(), 11) == [11]


def test_normalised_columns_have_unit_rms_and_zero_columns_stay_zero():
    functions = np.random.default_rng(4).standard_normal((50, 3)) * [1, 1e-6, 0]
    rms = np.sqrt((rms_normalised(functions) ** 2).mean(axis=0))
    np.testing.assert_allclose(rms, [1, 1, 0])


@pytest.mark.parametrize("kind", ["zoomout", "neural-zoomout"])
def test_refinement_repairs_a_noisy_map_between_equal_shapes(whole, kind):
    functions = neumann_basis(laplacian(whole), 50).functions
    random = np.random.default_rng(5)
    n = len(whole.vertices)
    distance = distances_from(edge_graph(whole), np.arange(n))
    start = np.argsort(distance, axis=1)[np.arange(n), random.integers(0, 30, n)]
    settings = PaperRecipe(refinement=kind, refine_last=50)
    events: list[Progress] = []
    target, curve, troubles = refine(
        start, functions, functions, settings, random, Run(progress=events.append)
    )
    assert troubles == []
    before = distance[np.arange(n), start].mean()
    after = distance[np.arange(n), target].mean()
    assert after < 0.25 * before
    assert [row["dimension"] for row in curve] == stages(settings, 50)
    assert [event.step for event in events] == list(range(len(curve) + 1))
