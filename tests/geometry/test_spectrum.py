"""Eigenbases: known spectra, orthonormality, domain monotonicity."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.geometry.spectrum import (
    Laplacian,
    cached_basis,
    dirichlet_basis,
    hamiltonian_basis,
    laplacian,
    neumann_basis,
)
from nho.geometry.synthetic import sphere
from nho.runtime.cache import Cache


@pytest.mark.parametrize("kind", ["robust", "cotan"])
def test_unit_sphere_has_eigenvalues_l_times_l_plus_one(kind):
    basis = neumann_basis(laplacian(sphere(4), kind), 16)
    expected = np.repeat([0, 2, 6, 12], [1, 3, 5, 7])
    np.testing.assert_allclose(basis.eigenvalues, expected, rtol=0.01, atol=1e-6)


def test_functions_are_orthonormal_in_the_mass_and_solve_the_problem(whole):
    operator = laplacian(whole)
    basis = neumann_basis(operator, 40)
    gram = basis.functions.T @ (operator.mass[:, None] * basis.functions)
    np.testing.assert_allclose(gram, np.eye(40), atol=1e-8)
    residual = operator.stiffness @ basis.functions - operator.mass[:, None] * (
        basis.functions * basis.eigenvalues
    )
    assert np.abs(residual).max() < 1e-8 * basis.eigenvalues[-1]


def test_dirichlet_functions_vanish_on_the_boundary_only(piece):
    boundary = piece.mesh.boundary_vertices
    basis = dirichlet_basis(laplacian(piece.mesh), boundary, 20)
    assert np.all(basis.functions[boundary] == 0)
    assert np.all(np.abs(basis.functions[~boundary]).max(axis=1) > 0)
    assert basis.eigenvalues[0] > 0


def test_dirichlet_eigenvalues_of_a_submesh_are_not_below_those_of_the_whole(whole, piece):
    # Cotangents per triangle: a function that vanishes on the cut extends by zero to the whole.
    part = dirichlet_basis(
        laplacian(piece.mesh, "cotan"), piece.mesh.boundary_vertices, 20
    ).eigenvalues
    full = neumann_basis(laplacian(whole, "cotan"), 20).eigenvalues
    assert np.all(part >= full)


def test_sparse_and_dense_solvers_agree(whole, monkeypatch):
    operator = laplacian(whole)
    lanczos = neumann_basis(operator, 25)
    monkeypatch.setattr("nho.geometry.spectrum._DENSE_BELOW", 10**9)
    dense = neumann_basis(operator, 25)
    np.testing.assert_allclose(lanczos.eigenvalues, dense.eigenvalues, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        np.abs((lanczos.functions * operator.mass[:, None] * dense.functions).sum(axis=0)),
        1.0,
        atol=1e-6,
    )


def test_a_constant_potential_shifts_every_eigenvalue(whole):
    operator = laplacian(whole)
    plain = neumann_basis(operator, 12).eigenvalues
    shifted = hamiltonian_basis(operator, np.full(len(whole.vertices), 7.5), 12).eigenvalues
    np.testing.assert_allclose(shifted, plain + 7.5, rtol=1e-8)


def test_eigenvalues_scale_with_the_inverse_square_of_length(whole):
    small = Mesh(whole.vertices * 1e-6, whole.faces)
    plain = neumann_basis(laplacian(whole), 10).eigenvalues
    scaled = neumann_basis(laplacian(small), 10).eigenvalues * 1e-12
    np.testing.assert_allclose(scaled[1:], plain[1:], rtol=1e-6)


def test_mass_is_the_area_and_no_vertex_is_without(whole):
    operator = laplacian(whole)
    assert operator.mass.sum() == pytest.approx(whole.area, rel=1e-6)
    flat = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0], [3, 0, 0]], [[0, 1, 2], [1, 3, 4]])
    assert np.all(laplacian(flat, "cotan").mass > 0)


def test_signs_do_not_depend_on_the_vertex_order(whole):
    random = np.random.default_rng(0)
    order = random.permutation(len(whole.vertices))
    place = np.argsort(order)
    shuffled = Mesh(whole.vertices[order], place[whole.faces])
    ours = neumann_basis(laplacian(whole), 12).functions
    theirs = neumann_basis(laplacian(shuffled), 12).functions
    np.testing.assert_allclose(theirs, ours[order], atol=1e-5)


def no_solver(*_):
    raise AssertionError("computed again")


@pytest.mark.parametrize("rim", [False, True])
def test_a_stored_basis_has_the_same_bits_and_is_not_computed_again(
    piece, tmp_path, monkeypatch, rim
):
    operator = laplacian(piece.mesh)
    boundary = piece.mesh.boundary_vertices if rim else None
    plain = dirichlet_basis(operator, boundary, 12) if rim else neumann_basis(operator, 12)
    first = cached_basis(Cache(tmp_path), operator, 12, boundary)
    monkeypatch.setattr("nho.geometry.spectrum._lowest", no_solver)
    second = cached_basis(Cache(tmp_path), laplacian(piece.mesh), 12, boundary)
    for basis in (first, second):
        assert basis.eigenvalues.tobytes() == plain.eigenvalues.tobytes()
        assert basis.functions.tobytes("A") == plain.functions.tobytes("A")
        assert basis.functions.flags.f_contiguous == plain.functions.flags.f_contiguous


def test_whatever_a_basis_depends_on_makes_another_entry(piece, tmp_path):
    store, operator = Cache(tmp_path), laplacian(piece.mesh)
    rim = piece.mesh.boundary_vertices
    heavier = Laplacian(operator.stiffness, 2 * operator.mass)
    stiffer = Laplacian(3 * operator.stiffness, operator.mass)
    calls = [
        (operator, 8),
        (operator, 9),
        (heavier, 8),
        (stiffer, 8),
        (operator, 8, rim),
        (operator, 8, np.zeros_like(rim)),  # Dirichlet without boundary is not Neumann's key
    ]
    bases = [cached_basis(store, *call) for call in calls]
    assert store.info()["entries"] == len(calls)
    values = [basis.eigenvalues[:8] for basis in bases]
    np.testing.assert_allclose(values[1], values[0], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(values[2], values[0] / 2, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(values[3], values[0] * 3, rtol=1e-8, atol=1e-9)
    assert values[4][0] > 1e-3  # it vanishes on the rim, so it is not constant
    np.testing.assert_allclose(values[5], values[0], rtol=1e-8, atol=1e-9)


def test_a_failing_solver_is_an_error_that_names_a_remedy():
    import scipy.sparse as sp

    from nho.errors import SolverError

    broken = Laplacian(sp.csc_matrix((500, 500)) * np.nan, np.ones(500))
    broken.stiffness.setdiag(np.nan)
    with pytest.raises(SolverError, match="repair or remesh"):
        neumann_basis(broken, 5)
