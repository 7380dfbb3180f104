"""Every loss term: its value by the paper's formula, its gradient by differences and autograd."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.spectrum import laplacian, neumann_basis
from nho.operator.hamiltonian import ReducedHamiltonian
from nho.operator.losses import (
    NO_VERTICES,
    Objective,
    anchor_loss,
    area_loss,
    evidence_loss,
    spectral_loss,
    topology_loss,
)
from nho.operator.persistence import Superlevels
from nho.settings import PaperRecipe


@pytest.fixture(scope="module")
def setting(whole):
    operator = laplacian(whole)
    basis = neumann_basis(operator, 30)
    random = np.random.default_rng(0)
    s = random.uniform(0.05, 0.95, len(whole.vertices))
    targets = basis.eigenvalues[1:9] * 1.7
    return {
        "mass": operator.mass,
        "basis": basis,
        "hamiltonian": ReducedHamiltonian(basis, operator.mass),
        "superlevels": Superlevels(whole.edges, len(whole.vertices)),
        "s": s,
        "anchors": random.choice(len(s), 12, replace=False),
        "targets": targets,
        "tau": 5 * targets[-1],
    }


def terms(setting):
    return {
        "anchor": lambda s: anchor_loss(s, setting["anchors"]),
        "area": lambda s: area_loss(s, setting["mass"], 0.4 * setting["mass"].sum()),
        "topology": lambda s: topology_loss(s, setting["superlevels"]),
        "spectral": lambda s: spectral_loss(
            s, setting["mass"], setting["hamiltonian"], setting["targets"], setting["tau"]
        ),
    }


@pytest.mark.parametrize("name", ["anchor", "area", "topology", "spectral"])
def test_gradient_equals_finite_differences(setting, name):
    term, s = terms(setting)[name], setting["s"]
    _, gradient = term(s)
    largest = np.argsort(-np.abs(gradient))[:15]
    others = np.random.default_rng(1).choice(len(s), 15, replace=False)
    for q in np.concatenate([largest, others]):
        step = np.zeros_like(s)
        step[q] = 1e-7
        numeric = (term(s + step)[0] - term(s - step)[0]) / 2e-7
        assert gradient[q] == pytest.approx(numeric, rel=1e-4, abs=1e-6 * np.abs(gradient).max())


def test_gradients_equal_torch_autograd(setting):
    torch = pytest.importorskip("torch")
    mass = torch.tensor(setting["mass"])
    births, deaths = setting["superlevels"].pairs(setting["s"])
    phi = torch.tensor(setting["basis"].functions)
    lam = torch.tensor(setting["targets"])

    def anchor(s):
        return -torch.log(s[setting["anchors"]]).mean()

    def area(s):
        return (((mass * s).sum() - 0.4 * mass.sum()) / mass.sum()) ** 2

    def topology(s):
        return ((s[births] - s[deaths]) ** 2).sum()

    def spectral(s):
        v = setting["tau"] * (1 - s)
        h = torch.diag(torch.tensor(setting["basis"].eigenvalues)) + phi.T @ (
            (mass * v)[:, None] * phi
        )
        mu = torch.linalg.eigvalsh(h)[: len(lam)]
        return torch.log(1 + ((mu - lam) / lam) ** 2).mean()

    theirs = {"anchor": anchor, "area": area, "topology": topology, "spectral": spectral}
    for name, ours in terms(setting).items():
        value, gradient = ours(setting["s"])
        leaf = torch.tensor(setting["s"], requires_grad=True)
        loss = theirs[name](leaf)
        loss.backward()
        assert value == pytest.approx(loss.item(), rel=1e-10), name
        scale = np.abs(gradient).max()
        np.testing.assert_allclose(
            gradient, leaf.grad.numpy(), rtol=1e-8, atol=1e-10 * scale, err_msg=name
        )


def test_zero_target_eigenvalues_are_left_out(setting):
    targets = setting["targets"].copy()
    targets[0] = 0.0
    value, gradient = spectral_loss(
        setting["s"], setting["mass"], setting["hamiltonian"], targets, setting["tau"]
    )
    assert np.isfinite(value) and np.isfinite(gradient).all()


def test_losses_vanish_at_the_truth(setting):
    ones = np.ones_like(setting["s"])
    assert anchor_loss(ones, setting["anchors"])[0] == 0
    assert area_loss(ones, setting["mass"], setting["mass"].sum())[0] == pytest.approx(0)
    assert topology_loss(ones, setting["superlevels"])[0] == 0
    own = setting["basis"].eigenvalues[:6]
    value, _ = spectral_loss(ones, setting["mass"], setting["hamiltonian"], own, 1.0)
    assert value == pytest.approx(0, abs=1e-20)


def test_anchor_loss_survives_an_indicator_of_zero():
    value, gradient = anchor_loss(np.zeros(4), np.array([1, 2]))
    assert np.isfinite(value) and np.isfinite(gradient).all()


def test_objective_is_the_weighted_sum_and_skips_what_weighs_nothing(setting):
    recipe = PaperRecipe(weight_topology=0.0)
    objective = Objective(
        setting["mass"],
        0.4 * setting["mass"].sum(),
        setting["targets"],
        setting["tau"],
        setting["hamiltonian"],
        setting["superlevels"],
        recipe,
    )
    loss, gradient, values = objective(setting["s"], setting["anchors"])
    assert set(values) == {"anchor", "area", "spectral"}
    parts = {name: term(setting["s"]) for name, term in terms(setting).items()}
    weights = {"anchor": 0.1, "area": 1.0, "spectral": 0.01}
    assert loss == pytest.approx(sum(weights[n] * parts[n][0] for n in weights))
    np.testing.assert_allclose(gradient, sum(weights[n] * parts[n][1] for n in weights))


def test_evidence_loss_without_negatives_is_the_anchor_loss(setting):
    value, gradient = evidence_loss(setting["s"], setting["anchors"], NO_VERTICES)
    expected, expected_gradient = anchor_loss(setting["s"], setting["anchors"])
    assert value == expected
    np.testing.assert_array_equal(gradient, expected_gradient)


def test_evidence_loss_is_the_mean_log_on_both_sides(setting):
    s, inside = setting["s"], setting["anchors"]
    outside = np.array([3, 5, 8, 3])  # one of them twice
    value, _ = evidence_loss(s, inside, outside)
    assert value == pytest.approx(-np.log(s[inside]).mean() - np.log(1 - s[outside]).mean())


def test_gradient_of_the_evidence_loss_equals_finite_differences(setting):
    s, inside = setting["s"], setting["anchors"]
    outside = np.concatenate([np.setdiff1d(np.arange(40), inside), inside[:2]])  # some are both
    _, gradient = evidence_loss(s, inside, outside)
    for q in np.concatenate([inside, outside, [200, 300]]):
        step = np.zeros_like(s)
        step[q] = 1e-7
        numeric = (
            evidence_loss(s + step, inside, outside)[0]
            - evidence_loss(s - step, inside, outside)[0]
        ) / 2e-7
        assert gradient[q] == pytest.approx(numeric, rel=1e-4, abs=1e-6)


def test_evidence_loss_survives_certainty_on_the_wrong_side():
    value, gradient = evidence_loss(np.array([0.0, 1.0]), np.array([0]), np.array([1]))
    assert np.isfinite(value) and np.isfinite(gradient).all()


def test_objective_counts_negatives_in_its_anchor_term(setting):
    recipe = PaperRecipe(weight_area=0.0, weight_topology=0.0, weight_spectral=0.0)
    objective = Objective(
        setting["mass"],
        1.0,
        setting["targets"],
        setting["tau"],
        setting["hamiltonian"],
        setting["superlevels"],
        recipe,
    )
    outside = np.array([1, 2, 3])
    loss, gradient, values = objective(setting["s"], setting["anchors"], outside)
    value, by_s = evidence_loss(setting["s"], setting["anchors"], outside)
    assert values == {"anchor": value} and loss == pytest.approx(0.1 * value)
    np.testing.assert_allclose(gradient, 0.1 * by_s)
