"""Sparse factorisation: as exact as a dense solve, with an ordering that stays symmetric."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from nho.errors import SolverError
from nho.geometry.solvers import ChangingDiagonal, factorised
from nho.geometry.spectrum import laplacian
from nho.geometry.synthetic import bumpy_sphere


@pytest.fixture(scope="module")
def matrix() -> sp.csc_matrix:
    """A Laplacian plus a diagonal of very different sizes."""
    operator = laplacian(bumpy_sphere(3, seed=0))
    weights = 10 ** np.random.default_rng(0).uniform(-6, 3, len(operator.mass))
    return sp.csc_matrix(operator.stiffness + sp.diags(weights * operator.mass))


@pytest.mark.parametrize("form", [sp.csc_matrix, sp.csr_matrix, sp.coo_matrix])
def test_it_solves_in_any_sparse_format(matrix, form):
    right = np.random.default_rng(1).standard_normal((matrix.shape[0], 3))
    found = factorised(form(matrix)).solve(right)
    np.testing.assert_allclose(found, np.linalg.solve(matrix.toarray(), right), rtol=1e-7)
    assert np.abs(matrix @ found - right).max() < 1e-9


def test_rows_and_columns_are_ordered_alike_with_less_fill_than_by_default(matrix):
    factor = factorised(matrix).lu
    np.testing.assert_array_equal(factor.perm_r, factor.perm_c)
    assert factor.nnz < 0.8 * spla.splu(matrix).nnz


def test_a_singular_matrix_is_an_error():
    with pytest.raises(SolverError, match="singular"):
        factorised(sp.csc_matrix((5, 5)))


@pytest.mark.parametrize("seed", [0, 1])
def test_a_diagonal_that_changes_gives_what_a_new_factorisation_would(matrix, seed):
    random = np.random.default_rng(seed)
    n = matrix.shape[0]
    added, right = random.uniform(0, 2, n), random.standard_normal((n, 3))
    found = ChangingDiagonal(matrix).factorised(added).solve(right)
    expected = factorised(matrix + sp.diags(added)).solve(right)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_diagonal_may_be_empty_before_something_is_added():
    links = sp.csc_matrix(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    found = ChangingDiagonal(links).factorised(np.array([2.0, 2.0, 4.0])).solve(np.ones(3))
    np.testing.assert_allclose(found, [1 / 3, 1 / 3, 1 / 4])


def test_a_changing_diagonal_that_leaves_a_singular_matrix_is_an_error():
    with pytest.raises(SolverError, match="singular"):
        ChangingDiagonal(sp.csc_matrix((5, 5))).factorised(np.zeros(5))
