"""The Hamiltonian H = Delta + v on the full shape, its energy and its support (Sec. 3, 4).

Legend: Phi, Lambda = LBO eigenbasis of the full shape, a = vertex areas, v = potential,
mu, psi = eigenpairs of H, K = size of the reduced basis.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.sparse as sp

from nho.geometry.solvers import lowest_dense
from nho.geometry.spectrum import Basis, Laplacian, fixed_signs, hamiltonian_basis
from nho.runtime.parallel import SERIAL, Workers

_OUTSIDE = 0.01  # indicator below which a vertex is outside of an insulated region


class Hamiltonian(Protocol):
    """Anything that gives the low eigenpairs of Delta + v."""

    def modes(self, potential: np.ndarray, count: int) -> Basis:
        """The first ``count`` eigenpairs for the (n,) potential."""
        ...


class ReducedHamiltonian:
    """Galerkin projection of H onto the first K eigenfunctions of the LBO (Eq. 15)."""

    def __init__(self, basis: Basis, mass: np.ndarray, pool: Workers = SERIAL) -> None:
        self._basis = basis
        self._mass = mass
        self._pool = pool

    def matrix(self, potential: np.ndarray) -> np.ndarray:
        """(K, K) matrix ``Lambda + Phi^T diag(a v) Phi``."""
        weights = self._mass * potential
        phi = self._basis.functions

        def rows(block: slice) -> np.ndarray:
            return np.asarray((phi[block] * weights[block, None]).T @ phi[block])

        gram = np.sum(self._pool.over_rows(rows, len(phi)), axis=0)
        return np.asarray(np.diag(self._basis.eigenvalues) + (gram + gram.T) / 2)

    def modes(self, potential: np.ndarray, count: int) -> Basis:
        """The first ``count`` eigenpairs, lifted back to the mesh."""
        values, vectors = lowest_dense(self.matrix(potential), count, "the learned operator")
        phi = self._basis.functions
        lifted = self._pool.over_rows(lambda block: phi[block] @ vectors, len(phi))
        return Basis(values, fixed_signs(np.concatenate(lifted), self._mass))


class SparseHamiltonian:
    """H on the mesh itself: slower, but nothing is lost where the region is small."""

    def __init__(self, laplacian: Laplacian) -> None:
        self._laplacian = laplacian

    def modes(self, potential: np.ndarray, count: int) -> Basis:
        """The first ``count`` eigenpairs by a sparse eigen-solve."""
        return hamiltonian_basis(self._laplacian, potential, count)


def insulated_modes(
    laplacian: Laplacian, indicator: np.ndarray, height: float, count: int
) -> Basis:
    """Eigenpairs of the Hamiltonian whose region is also insulated from the rest.

    ``height`` is that of the potential outside.

    With the potential alone, eigenfunctions vanish at the border of the region (as if it were a
    Dirichlet boundary). Here the stiffness between two vertices is also multiplied by the harmonic
    mean of their indicators, so hardly anything flows across a sharp border and the eigenfunctions
    meet it like a natural boundary: coordinates that keep vertices near the border apart.
    """
    # Eigenfunctions are negligible outside; leaving those vertices out halves the work.
    least = min(_OUTSIDE, np.sort(indicator)[-count:].min())
    inside = np.flatnonzero(indicator >= least)
    shares = indicator[inside]
    matrix = sp.coo_matrix(sp.csr_matrix(laplacian.stiffness)[inside][:, inside])
    apart = matrix.row != matrix.col
    i, j, weight = matrix.row[apart], matrix.col[apart], matrix.data[apart]
    a, b = shares[i], shares[j]
    kept = weight * 2 * a * b / np.maximum(a + b, np.finfo(float).tiny)
    flow = sp.csr_matrix((kept, (i, j)), shape=matrix.shape)
    flow = flow - sp.diags(np.asarray(flow.sum(axis=1)).ravel())
    insulated = Laplacian(sp.csc_matrix(flow), laplacian.mass[inside], laplacian.name)
    modes = hamiltonian_basis(insulated, height * (1 - shares), count)
    functions = np.zeros((len(indicator), modes.functions.shape[1]))
    functions[inside] = modes.functions
    return Basis(modes.eigenvalues, functions)


def energy(modes: Basis) -> np.ndarray:
    """(n,) mean squared eigenfunction (Eq. 17): large inside the region, small outside."""
    return np.asarray((modes.functions**2).mean(axis=1))


def support_score(modes: Basis, threshold: float) -> np.ndarray:
    """(n,) score in [0, 1); above one half exactly where energy > threshold * mu_1 (Eq. 18)."""
    e = energy(modes)
    return np.asarray(e / (e + threshold * modes.eigenvalues[0]))
