"""The Hamiltonian: limits that are known exactly, and the eigenvalue derivative."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.spectrum import Basis, laplacian, neumann_basis
from nho.operator.hamiltonian import (
    ReducedHamiltonian,
    SparseHamiltonian,
    energy,
    insulated_modes,
    support_score,
)
from nho.runtime.parallel import workers


@pytest.fixture(scope="module")
def operator(whole):
    return laplacian(whole)


@pytest.fixture(scope="module")
def basis(operator):
    return neumann_basis(operator, 40)


def test_no_potential_gives_the_laplacian_and_a_constant_shifts_it(operator, basis):
    reduced = ReducedHamiltonian(basis, operator.mass)
    zero = np.zeros(len(operator.mass))
    np.testing.assert_allclose(reduced.matrix(zero), np.diag(basis.eigenvalues), atol=1e-12)
    np.testing.assert_allclose(
        reduced.matrix(zero + 3.25), np.diag(basis.eigenvalues + 3.25), atol=1e-6
    )


def test_derivative_of_an_eigenvalue_is_area_times_squared_function(operator, basis):
    reduced = ReducedHamiltonian(basis, operator.mass)
    random = np.random.default_rng(0)
    v = random.uniform(0, 50, len(operator.mass))
    modes = reduced.modes(v, 6)
    for q in random.choice(len(v), 10, replace=False):
        step = np.zeros_like(v)
        step[q] = 1e-3
        numeric = (
            reduced.modes(v + step, 6).eigenvalues - reduced.modes(v - step, 6).eigenvalues
        ) / 2e-3
        expected = operator.mass[q] * modes.functions[q] ** 2
        np.testing.assert_allclose(numeric, expected, rtol=1e-4, atol=1e-9)


def test_reduced_eigenvalues_bound_the_sparse_ones_and_meet_them_with_every_mode(operator, whole):
    random = np.random.default_rng(1)
    v = random.uniform(0, 30, len(operator.mass))
    exact = SparseHamiltonian(operator).modes(v, 8).eigenvalues
    gaps = []
    for count in (20, 100, len(operator.mass)):
        reduced = ReducedHamiltonian(neumann_basis(operator, count), operator.mass)
        found = reduced.modes(v, 8).eigenvalues
        assert np.all(found >= exact - 1e-7 * exact[-1])
        gaps.append((found - exact).max())
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-6 * exact[-1]


def test_lifted_modes_are_orthonormal(operator, basis):
    v = np.random.default_rng(2).uniform(0, 30, len(operator.mass))
    modes = ReducedHamiltonian(basis, operator.mass).modes(v, 10)
    gram = modes.functions.T @ (operator.mass[:, None] * modes.functions)
    np.testing.assert_allclose(gram, np.eye(10), atol=1e-7)


def test_a_high_barrier_localises_the_low_modes(operator, whole):
    inside = whole.vertices[:, 2] > 0.2
    modes = SparseHamiltonian(operator).modes(np.where(inside, 0.0, 5000.0), 5)
    share = (operator.mass * energy(modes))[inside].sum() / (operator.mass * energy(modes)).sum()
    assert share > 0.97


def test_score_exceeds_one_half_exactly_where_the_papers_rule_holds():
    random = np.random.default_rng(3)
    modes = Basis(np.array([2.0, 3.0]), random.standard_normal((50, 2)) * 0.1)
    rule = (modes.functions**2).mean(axis=1) > 0.005 * 2.0
    np.testing.assert_array_equal(support_score(modes, 0.005) > 0.5, rule)
    assert 0 < rule.sum() < 50


def test_reduced_matrix_has_the_same_bits_for_any_number_of_threads():
    random = np.random.default_rng(4)
    basis = Basis(np.arange(10.0), random.standard_normal((5000, 10)))
    mass, v = random.uniform(size=5000), random.uniform(size=5000)
    results = []
    for threads in (1, 2):
        with workers(threads) as pool:
            results.append(ReducedHamiltonian(basis, mass, pool).matrix(v))
    assert np.array_equal(*results)


@pytest.fixture(scope="module")
def cut_out(operator, piece):
    """Neumann modes of the piece, and two operators of the whole that know where it is."""
    own = neumann_basis(laplacian(piece.mesh), 12)
    indicator = np.maximum(piece.kept_vertices.astype(float), 1e-3)
    barrier = 5 * own.eigenvalues[-1]
    insulated = insulated_modes(operator, indicator, barrier, 12)
    plain = SparseHamiltonian(operator).modes(barrier * (1 - indicator), 12)
    return own, insulated, plain


def test_a_region_of_fewer_vertices_than_modes_takes_in_the_next_likely(operator):
    indicator = np.linspace(0, 0.005, len(operator.mass))
    indicator[100:105] = 1.0
    modes = insulated_modes(operator, indicator, 100.0, 12)
    assert modes.functions.shape == (len(operator.mass), 12)
    lives = np.flatnonzero((modes.functions != 0).any(axis=1))
    expected = np.sort(np.argsort(indicator)[-12:])
    np.testing.assert_array_equal(lives, expected)


def test_an_indicator_of_one_insulates_nothing(operator, basis):
    modes = insulated_modes(operator, np.ones(len(operator.mass)), 100.0, 12)
    np.testing.assert_allclose(modes.eigenvalues, basis.eigenvalues[:12], atol=1e-8)
    overlap = modes.functions.T @ (operator.mass[:, None] * basis.functions[:, :12])
    np.testing.assert_allclose(np.abs(overlap), np.eye(12), atol=1e-5)


def test_insulation_brings_every_eigenvalue_nearer_to_the_piece_cut_out(cut_out):
    own, insulated, plain = cut_out
    assert (
        np.abs(insulated.eigenvalues - own.eigenvalues)
        < np.abs(plain.eigenvalues - own.eigenvalues)
    ).all()


def test_insulated_eigenvalues_are_those_of_the_piece_cut_out(cut_out):
    own, insulated, plain = cut_out
    assert insulated.eigenvalues[0] < 0.15 * own.eigenvalues[1]  # a constant costs nothing
    assert plain.eigenvalues[0] > 0.5 * own.eigenvalues[1]  # it does if it must vanish outside
    away = np.abs(insulated.eigenvalues[1:] / own.eigenvalues[1:] - 1)
    away_plain = np.abs(plain.eigenvalues[1:] / own.eigenvalues[1:] - 1)
    assert away.max() < 0.15
    assert away.mean() < 0.2 * away_plain.mean()


def test_insulated_eigenfunctions_do_not_vanish_at_the_border(operator, piece, cut_out):
    _, insulated, plain = cut_out
    rim = piece.vertex_of_parent[piece.mesh.boundary_vertices]
    inner = piece.vertex_of_parent[~piece.mesh.boundary_vertices]

    def at_the_rim(modes):
        return energy(modes)[rim].mean() / energy(modes)[inner].mean()

    assert at_the_rim(insulated) > 0.7
    assert at_the_rim(plain) < 0.5


def test_insulated_eigenfunctions_live_on_the_region_and_are_orthonormal(operator, piece, cut_out):
    _, insulated, _ = cut_out
    gram = insulated.functions.T @ (operator.mass[:, None] * insulated.functions)
    np.testing.assert_allclose(gram, np.eye(12), atol=1e-7)
    outside = (operator.mass * energy(insulated))[~piece.kept_vertices].sum()
    assert outside < 0.02 * (operator.mass * energy(insulated)).sum()
