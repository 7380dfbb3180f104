"""Linear and eigen-solvers with fallbacks, and one clear error when all of them fail.

`first_success` is the one place where a failure of SuperLU, ARPACK or LAPACK is caught: every solve
is a list of attempts, each a little more forgiving than the one before. Shifts that help a matrix
which is singular to working precision are relative to the matrix itself.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from nho.errors import SolverError

log = logging.getLogger(__name__)
Solution = TypeVar("Solution")

_SHIFTS = (1e-12, 1e-8)  # of the mean diagonal: beyond rounding, below what a result can show


class Factor:
    """A factorised matrix.

    Attributes
    ----------
    lu : SuperLU
    """

    def __init__(self, lu: spla.SuperLU, name: str) -> None:
        self.lu = lu
        self._name = name

    def solve(self, right: np.ndarray) -> np.ndarray:
        """The solution for an (n,) or (n, k) right-hand side; a `SolverError` if it overflows."""
        solution: np.ndarray = self.lu.solve(right)
        if not np.isfinite(solution).all():
            raise SolverError(_advice(self._name, "a linear system", "it has no finite solution"))
        return solution


def factorised(matrix: sp.spmatrix, name: str = "the surface") -> Factor:
    """Factorise a sparse symmetric positive definite matrix; ``name`` is for the error."""
    matrix = sp.csc_matrix(matrix)
    n = matrix.shape[0]

    def with_more(share: float) -> Callable[[], Factor]:
        def shifted() -> Factor:
            shift = share * np.abs(matrix.diagonal()).mean()
            return Factor(plain_lu(matrix + shift * sp.identity(n, format="csc")), name)

        return shifted

    attempts = {"as it is": lambda: Factor(plain_lu(matrix), name)}
    attempts |= {f"with {share:g} of its diagonal more": with_more(share) for share in _SHIFTS}
    return first_success(name, "a linear system", attempts)


def plain_lu(matrix: sp.csc_matrix) -> spla.SuperLU:
    """LU without pivoting, ordered for symmetric matrices: little fill, and twice as fast."""
    return spla.splu(
        matrix,
        permc_spec="MMD_AT_PLUS_A",
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
