"""Linear and eigen-solvers with fallbacks, and one clear error when all of them fail.

`first_success` is the one place where a failure of SuperLU, ARPACK or LAPACK is caught: every solve
is a list of attempts, each a little more forgiving than the one before. Shifts that help a matrix
which is singular to working precision are relative to the matrix itself.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from nho.errors import SolverError

log = logging.getLogger(__name__)
Solution = TypeVar("Solution")
_Order = Literal["MMD_AT_PLUS_A", "NATURAL"]

_SHIFTS = (1e-12, 1e-8)  # of the mean diagonal: beyond rounding, below what a result can show


class Factor:
    """A factorised matrix.

    Parameters
    ----------
    order : (n,) int array, optional
        Order in which the unknowns were put before they were factorised.

    Attributes
    ----------
    lu : SuperLU
    """

    def __init__(self, lu: spla.SuperLU, name: str, order: np.ndarray | None = None) -> None:
        self.lu = lu
        self._name, self._order = name, order

    def solve(self, right: np.ndarray) -> np.ndarray:
        """The solution for an (n,) or (n, k) right-hand side; a `SolverError` if it overflows."""
        if self._order is None:
            solution: np.ndarray = self.lu.solve(right)
        else:
            solution = np.empty(right.shape)
            solution[self._order] = self.lu.solve(right[self._order])
        if not np.isfinite(solution).all():
            raise SolverError(_advice(self._name, "a linear system", "it has no finite solution"))
        return solution


class ChangingDiagonal:
    """A sparse symmetric matrix that is factorised again and again, each time with more added.

    What is added is diagonal. The best order of the unknowns depends on the pattern of the matrix
    alone, so it is found once, which takes as long as all the rest of a factorisation.
    """

    def __init__(self, matrix: sp.spmatrix, name: str = "the surface") -> None:
        self._matrix, self._name = sp.csc_matrix(matrix), name

    def factorised(self, added: np.ndarray) -> Factor:
        """Factorise the matrix plus (n,) numbers on its diagonal."""

        def with_more(share: float) -> Callable[[], Factor]:
            def shifted() -> Factor:
                order, matrix, on_diagonal = self._ordered
                data = matrix.data.copy()
                data[on_diagonal] += added[order]
                data[on_diagonal] += share * np.abs(data[on_diagonal]).mean()
                lu = plain_lu(
                    sp.csc_matrix((data, matrix.indices, matrix.indptr), matrix.shape), "NATURAL"
                )
                return Factor(lu, self._name, order)

            return shifted

        return first_success(self._name, "a linear system", _attempts(with_more))

    @cached_property
    def _ordered(self) -> tuple[np.ndarray, sp.csc_matrix, np.ndarray]:
        """Order of the unknowns, the matrix in that order, and where its diagonal is stored."""
        n, entries = self._matrix.shape[0], self._matrix.tocoo()
        every = np.arange(n)  # all of the diagonal must be stored, even where it is zero
        rows, columns = np.r_[entries.row, every], np.r_[entries.col, every]
        matrix = sp.csc_matrix((np.r_[entries.data, np.zeros(n)], (rows, columns)), shape=(n, n))
        dominant = matrix.copy()  # the same pattern with numbers that are never singular
        dominant.data[:] = 1.0
        dominant.setdiag(np.diff(matrix.indptr) + 1.0)
        order = np.argsort(plain_lu(dominant).perm_c)
        matrix = sp.csc_matrix(matrix[order][:, order])
        matrix.sort_indices()
        columns = np.repeat(every, np.diff(matrix.indptr))
        return order, matrix, np.flatnonzero(matrix.indices == columns)


def factorised(matrix: sp.spmatrix, name: str = "the surface") -> Factor:
    """Factorise a sparse symmetric positive definite matrix; ``name`` is for the error."""
    matrix = sp.csc_matrix(matrix)
    n = matrix.shape[0]

    def with_more(share: float) -> Callable[[], Factor]:
        def shifted() -> Factor:
            if not share:
                return Factor(plain_lu(matrix), name)
            shift = share * np.abs(matrix.diagonal()).mean()
            return Factor(plain_lu(matrix + shift * sp.identity(n, format="csc")), name)

        return shifted

    return first_success(name, "a linear system", _attempts(with_more))


def _attempts(
    with_more: Callable[[float], Callable[[], Factor]],
) -> dict[str, Callable[[], Factor]]:
    """Factorise as it is, then with ever larger shares of the mean diagonal added."""
    attempts = {"as it is": with_more(0.0)}
    return attempts | {
        f"with {share:g} of its diagonal more": with_more(share) for share in _SHIFTS
    }


def plain_lu(matrix: sp.csc_matrix, order: _Order = "MMD_AT_PLUS_A") -> spla.SuperLU:
    """LU without pivoting, ordered for symmetric matrices: little fill, and twice as fast."""
    return spla.splu(
        matrix,
        permc_spec=order,
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


def lowest_dense(matrix: np.ndarray, count: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` lowest eigenpairs of a dense symmetric matrix: (count,) values, (n, count)."""
    if not np.isfinite(matrix).all():
        raise SolverError(_advice(name, "the eigenproblem", "its numbers are not finite"))

    def some() -> tuple[np.ndarray, np.ndarray]:
        return scipy.linalg.eigh(matrix, subset_by_index=(0, count - 1), driver="evr")

    def all_of_them() -> tuple[np.ndarray, np.ndarray]:
        values, vectors = scipy.linalg.eigh(matrix, driver="evd")
        return values[:count], vectors[:, :count]

    return first_success(name, "the eigenproblem", {"fast": some, "by another method": all_of_them})


def first_success(name: str, what: str, attempts: Mapping[str, Callable[[], Solution]]) -> Solution:
    """What the first attempt that works returns.

    Parameters
    ----------
    name : str
        The surface, for messages.
    what : str
        What is solved.
    attempts : mapping
        From how it is tried, in words, to a function. Only the last error of a solver
        (`ArpackNoConvergence`, "exactly singular" ...) is reported.
    """
    failure: Exception | None = None
    for how, attempt in attempts.items():
        if failure is not None:
            log.warning("%s: %s was not solved (%s); trying %s", name, what, failure, how)
        try:
            return attempt()
        except (RuntimeError, np.linalg.LinAlgError) as problem:
            failure = problem
    raise SolverError(_advice(name, what, str(failure))) from failure


def _advice(name: str, what: str, problem: str) -> str:
    return (
        f"{name}: {what} could not be solved ({problem}); its triangles are too thin, too unlike "
        "in size or badly connected: repair or remesh it"
    )
