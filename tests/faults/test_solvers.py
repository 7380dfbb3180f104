"""Solvers that fail: tried again with shifts relative to the matrix, then one clear sentence."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import nho.geometry.solvers
import nho.geometry.spectrum
from nho.errors import SolverError
from nho.geometry.solvers import factorised, lowest_dense
from nho.geometry.spectrum import Basis, Laplacian, dirichlet_basis, laplacian, neumann_basis
from nho.geometry.synthetic import bumpy_sphere
from nho.operator.hamiltonian import ReducedHamiltonian, SparseHamiltonian, insulated_modes
from nho.pipeline.matching import match
from nho.settings import preset
from tests.faults.given import match_words
from tests.faults.running import one_sentence, run_here

COUNT = 12


class Failing:
    """A solver that fails so many times before it works."""

    def __init__(self, real, failures, error):
        self.real, self.failures, self.error = real, failures, error
        self.calls = []

    def __call__(self, *arguments, **options):
        self.calls.append((arguments, options))
        if len(self.calls) <= self.failures:
            raise self.error
        return self.real(*arguments, **options)


NO_CONVERGENCE = spla.ArpackNoConvergence(
    "ARPACK error -1: No convergence (%s)", np.zeros(0), np.zeros((0, 0))
)
SINGULAR = RuntimeError("Factor is exactly singular")


@pytest.fixture(scope="module")
def operator():
    """Of 642 vertices: beyond what is solved densely."""
    return laplacian(bumpy_sphere(3, seed=0))


@pytest.fixture(scope="module")
def basis(operator):
    return neumann_basis(operator, COUNT)


@pytest.fixture
def failing(monkeypatch):
    """Make ``eigsh``, ``splu`` or ``eigh`` fail so many times."""

    def fail(what, failures, error):
        module = scipy.linalg if what == "eigh" else spla
        solver = Failing(getattr(module, what), failures, error)
        monkeypatch.setattr(module, what, solver)
        return solver

    return fail


SOLVES = {
    "neumann": lambda operator: neumann_basis(operator, COUNT),
    "dirichlet": lambda operator: dirichlet_basis(operator, operator.mass < 0, COUNT),
    "hamiltonian": lambda operator: SparseHamiltonian(operator).modes(0 * operator.mass, COUNT),
    "insulated": lambda operator: insulated_modes(operator, 0 * operator.mass + 1, 1.0, COUNT),
}


@pytest.mark.parametrize(("what", "error"), [("eigsh", NO_CONVERGENCE), ("splu", SINGULAR)])
@pytest.mark.parametrize("failures", [1, 2])
@pytest.mark.parametrize("solve", SOLVES)
def test_an_eigenproblem_that_fails_is_tried_again_and_gives_the_same_basis(
    solve, what, error, failures, operator, basis, failing, caplog
):
    solver = failing(what, failures, error)
    found = SOLVES[solve](operator)
    assert len(solver.calls) == failures + 1
    np.testing.assert_allclose(found.eigenvalues, basis.eigenvalues, rtol=1e-9, atol=1e-9)
    assert caplog.text.count("was not solved") == failures
    assert str(error) in caplog.text


@pytest.mark.parametrize(("what", "error"), [("eigsh", NO_CONVERGENCE), ("splu", SINGULAR)])
@pytest.mark.parametrize("solve", SOLVES)
def test_an_eigenproblem_that_never_converges_names_the_surface_and_a_remedy(
    solve, what, error, operator, failing
):
    failing(what, 99, error)
    named = Laplacian(operator.stiffness, operator.mass, "scan.ply")
    with pytest.raises(SolverError, match=r"^scan\.ply: the eigenproblem .*remesh it$") as raised:
        SOLVES[solve](named)
    assert str(error) in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_shifts_are_relative_to_the_size_of_the_surface(scale, failing):
    mesh = bumpy_sphere(3, seed=0)
    solver = failing("eigsh", 2, NO_CONVERGENCE)
    neumann_basis(laplacian(mesh.scaled(scale)), COUNT)
    shifts = [-options["sigma"] * mesh.area * scale**2 for _, options in solver.calls]
    np.testing.assert_allclose(shifts, [0.1, 10, 10], rtol=1e-6)
    assert solver.calls[0][1]["ncv"] is None and solver.calls[-1][1]["ncv"] > 2 * COUNT + 1


def test_a_basis_that_is_not_finite_is_a_failure(operator, monkeypatch):
    real = spla.eigsh
    monkeypatch.setattr(spla, "eigsh", lambda *a, **k: tuple(x * np.nan for x in real(*a, **k)))
    with pytest.raises(SolverError, match="not finite"):
        neumann_basis(operator, COUNT)


# Dense eigenproblems


def test_a_dense_eigenproblem_is_tried_by_another_method(failing, caplog):
    matrix = np.diag(np.arange(9.0))
    solver = failing("eigh", 1, np.linalg.LinAlgError("no convergence"))
    values, vectors = lowest_dense(matrix, 4, "scan.ply")
    np.testing.assert_allclose(values, np.arange(4.0), atol=1e-12)
    assert vectors.shape == (9, 4) and len(solver.calls) == 2
    assert "scan.ply: the eigenproblem was not solved (no convergence)" in caplog.text


def test_the_reduced_operator_says_what_failed(failing, operator, basis):
    reduced = ReducedHamiltonian(basis, operator.mass)
    with pytest.raises(SolverError, match="learned operator.*not finite"):
        reduced.modes(np.full(len(operator.mass), np.nan), 3)
    failing("eigh", 99, np.linalg.LinAlgError("no convergence"))
    with pytest.raises(SolverError, match="learned operator.*no convergence"):
        reduced.modes(operator.mass, 3)


# Linear systems


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_a_singular_system_is_shifted_by_a_share_of_its_own_diagonal(scale, caplog):
    stiffness = sp.csc_matrix(scale * np.array([[1.0, -1, 0], [-1, 1, 0], [0, 0, 2]]))
    found = factorised(stiffness, "scan.ply").solve(scale * np.array([1.0, -1, 2]))
    np.testing.assert_allclose(stiffness @ found, scale * np.array([1.0, -1, 2]), rtol=1e-6)
    assert "scan.ply: a linear system was not solved" in caplog.text
    assert "diagonal more" in caplog.text


@pytest.mark.parametrize("failures", [1, 2])
def test_a_factorisation_that_fails_is_tried_again_close_to_the_matrix(failures, failing):
    matrix = sp.csc_matrix(np.diag([1.0, 2, 3]))
    failing("splu", failures, SINGULAR)
    np.testing.assert_allclose(factorised(matrix).solve(np.ones(3)), 1 / np.arange(1, 4), rtol=1e-7)


def test_a_system_that_stays_singular_or_overflows_is_an_error_with_a_remedy(failing):
    tiny = sp.csc_matrix(np.diag([1.0, 1e-300]))
    with pytest.raises(SolverError, match=r"scan\.ply: a linear system .*no finite solution.*"):
        factorised(tiny, "scan.ply").solve(np.array([1.0, 1e300]))
    failing("splu", 99, SINGULAR)
    with pytest.raises(SolverError, match=r"scan\.ply: .*singular.*repair or remesh"):
        factorised(sp.csc_matrix(np.eye(3)), "scan.ply")


def test_other_errors_are_not_taken_for_a_solvers(monkeypatch):
    def bug(*_, **__):
        raise TypeError("a bug")

    monkeypatch.setattr(spla, "splu", bug)
    with pytest.raises(TypeError, match="a bug"):
        factorised(sp.csc_matrix(np.eye(3)))


# Whole matches


@pytest.fixture(scope="module")
def pair(whole, piece):
    chosen = nho.sample_vertices(piece.mesh, 8)
    return piece.mesh, whole, np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)


def test_a_match_whose_proposal_by_the_operator_fails_is_answered_without_it_and_says_so(
    pair, failing, monkeypatch
):
    monkeypatch.setenv("NHO_CACHE", "off")
    settings = preset("default").replace(fit_steps=2, threads=1, look_again_below=2.0)
    failing("eigsh", 999, NO_CONVERGENCE)
    result = match(*pair, settings)
    assert result.status.startswith("no proposal by the operator: ") and "remesh" in result.status
    assert any("see status" in warning for warning in result.warnings)
    alone = match(*pair, settings.replace(rounds=0))
    assert np.array_equal(result.vertex_map, alone.vertex_map)
    assert np.array_equal(result.region, alone.region) and alone.status == "ok"


def test_a_match_that_cannot_do_without_is_one_sentence(pairs, tmp_path, failing, monkeypatch):
    monkeypatch.setenv("NHO_CACHE", "off")
    failing("splu", 9999, SINGULAR)
    code, _, err = run_here(*match_words(pairs, 0, tmp_path / "out", "--quiet"))
    one_sentence(code, err.splitlines(keepends=True)[-1], "scan0.ply", "singular", "remesh")
    assert not (tmp_path / "out").exists()


def test_a_solver_that_works_says_nothing(operator, caplog):
    with caplog.at_level(logging.INFO):
        neumann_basis(operator, COUNT)
        factorised(operator.stiffness + sp.diags(operator.mass)).solve(operator.mass)
    assert caplog.text == ""
    assert isinstance(neumann_basis(operator, 3), Basis)
