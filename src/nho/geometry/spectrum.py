"""Laplace-Beltrami operator and its eigenbases, ``L phi = lambda a phi`` (paper, Sec. 3).

Legend: weak Laplacian L (sparse, positive semi-definite), lumped mass a (vertex areas). The full
shape keeps its natural (Neumann) boundary; on the partial shape the eigenfunctions vanish on the
boundary (Dirichlet).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import robust_laplacian
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from nho.geometry.mesh import Mesh
from nho.geometry.solvers import first_success, lowest_dense, plain_lu
from nho.runtime.cache import Cache

_DENSE_BELOW = 400  # unknowns; below it a dense solve is faster, and exact


@dataclass(frozen=True)
class Laplacian:
    """Weak Laplacian of a mesh.

    Attributes
    ----------
    stiffness : (n, n) sparse array
        Positive semi-definite cotangent matrix.
    mass : (n,) float array
        Lumped vertex areas, in squared length units of the mesh.
    name : str
        The mesh, for errors.
    """

    stiffness: sp.csc_matrix
    mass: np.ndarray
    name: str = "the surface"


@dataclass(frozen=True)
class Basis:
    """The first eigenpairs of an operator on a mesh, orthonormal in its mass.

    Attributes
    ----------
    eigenvalues : (k,) float array
        Ascending, in units of 1 / length^2.
    functions : (n, k) float array
        One eigenfunction a column, in units of 1 / length.
    """

    eigenvalues: np.ndarray
    functions: np.ndarray

    def first(self, count: int) -> Basis:
        """The first ``count`` eigenpairs."""
        return Basis(self.eigenvalues[:count], self.functions[:, :count])


def laplacian(mesh: Mesh, kind: str = "robust") -> Laplacian:
    """The Laplacian of a mesh: ``"robust"`` survives non-manifold and degenerate input."""
    if kind == "robust":
        stiffness, mass = robust_laplacian.mesh_laplacian(mesh.vertices, mesh.faces)
        areas = mass.diagonal()
    else:
        weights, areas = sp.csc_matrix(cotangents(mesh)), mesh.vertex_areas
        stiffness = sp.diags(np.asarray(weights.sum(axis=1)).ravel()) - weights
    positive = areas > 0
    if not positive.all():  # a vertex of zero-area faces only: give it the least area there is
        areas = np.where(positive, areas, areas[positive].min())
    return Laplacian(sp.csc_matrix(stiffness), areas, mesh.name)


def neumann_basis(operator: Laplacian, count: int) -> Basis:
    """The first ``count`` eigenpairs with natural boundary conditions."""
    return _lowest(operator.stiffness, operator.mass, count, operator.name)


def dirichlet_basis(operator: Laplacian, boundary: np.ndarray, count: int) -> Basis:
    """The first ``count`` eigenpairs that vanish at the vertices of the mask ``boundary``."""
    inside = np.flatnonzero(~boundary)
    stiffness = sp.csc_matrix(operator.stiffness[inside][:, inside])
    interior = _lowest(stiffness, operator.mass[inside], count, operator.name)
    functions = np.zeros((len(boundary), interior.functions.shape[1]))
    functions[inside] = interior.functions
    return Basis(interior.eigenvalues, functions)


def cached_basis(
    cache: Cache, operator: Laplacian, count: int, boundary: np.ndarray | None = None
) -> Basis:
    """`neumann_basis`, or `dirichlet_basis` with a boundary, kept on disk between runs."""
    matrix = operator.stiffness
    inputs = {
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "mass": operator.mass,
        "boundary": np.zeros(0, dtype=bool) if boundary is None else boundary,
    }

    def compute() -> dict[str, np.ndarray]:
        if boundary is None:
            basis = neumann_basis(operator, count)
        else:
            basis = dirichlet_basis(operator, boundary, count)
        return {"eigenvalues": basis.eigenvalues, "functions": basis.functions}

    parameters = {"count": count, "dirichlet": boundary is not None}
    return Basis(**cache.get_or_compute("basis", inputs, parameters, compute))


def hamiltonian_basis(operator: Laplacian, potential: np.ndarray, count: int) -> Basis:
    """The first ``count`` eigenpairs of ``Delta + potential``, on the mesh itself."""
    stiffness = sp.csc_matrix(operator.stiffness + sp.diags(operator.mass * potential))
    return _lowest(stiffness, operator.mass, count, operator.name)


def _lowest(stiffness: sp.csc_matrix, mass: np.ndarray, count: int, name: str) -> Basis:
    """Lowest eigenpairs of ``stiffness x = lambda mass x`` (at most as many as unknowns)."""
    n = len(mass)
    count = min(count, n)
    # Standard form: with y = sqrt(mass) x the problem is symmetric with the identity as mass.
    scale = sp.diags(1 / np.sqrt(mass))
    standard = sp.csc_matrix(scale @ stiffness @ scale)
    if n < _DENSE_BELOW or count > n // 3:
        values, vectors = lowest_dense(standard.toarray(), count, name)
    else:
        values, vectors = _shift_invert(standard, count, 1 / mass.sum(), name)
    values = np.maximum(values, 0)
    vectors = vectors / np.sqrt(mass)[:, None]
    return Basis(values, fixed_signs(vectors, mass))


def _shift_invert(
    matrix: sp.csc_matrix, count: int, unit: float, name: str
) -> tuple[np.ndarray, np.ndarray]:
    """Lanczos on the inverse of ``matrix + shift``; ``unit`` = 1 / area sets the shift's size."""
    n = matrix.shape[0]
    start = np.random.default_rng(0).standard_normal(n)

    def shifted(shift: float, vectors: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        factor = plain_lu(matrix + shift * sp.identity(n, format="csc"))
        inverse = spla.LinearOperator((n, n), matvec=factor.solve, dtype=np.float64)
        # Full precision, not a loose tolerance: stopped early, Lanczos misses members of
        # repeated eigenvalues (an icosphere lost one of seven at 1e-10).
        values, functions = spla.eigsh(
            matrix, count, sigma=-shift, OPinv=inverse, v0=start, ncv=vectors
        )
        if not (np.isfinite(values).all() and np.isfinite(functions).all()):
            raise RuntimeError("its solution is not finite")
        order = np.argsort(values, kind="stable")
        return values[order], functions[:, order]

    attempts = {
        "a small shift": lambda: shifted(0.1 * unit),  # a sphere's first eigenvalue: 8 pi / area
        "a larger shift": lambda: shifted(10 * unit),
        "more Lanczos vectors": lambda: shifted(10 * unit, min(n - 1, 4 * count + 50)),
    }
    return first_success(name, "the eigenproblem", attempts)


def fixed_signs(functions: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Make each column's third moment positive: a choice that vertex order does not change.

    An eigenfunction has no sign of its own, but what a network learns from it depends on one.
    """
    moment = mass @ (functions * functions * functions)
    return functions * np.where(moment < 0, -1.0, 1.0)


def cotangents(mesh: Mesh) -> sp.csr_matrix:
    """(n, n) half the sum of the cotangents of the angles opposite to every edge."""
    rows, columns, values = [], [], []
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):  # the edge (a, b) opposite to corner c
        apex = mesh.vertices[mesh.faces[:, c]]
        u = mesh.vertices[mesh.faces[:, a]] - apex
        v = mesh.vertices[mesh.faces[:, b]] - apex
        area = np.linalg.norm(np.cross(u, v), axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            cotangent = np.nan_to_num((u * v).sum(axis=1) / area, posinf=0.0, neginf=0.0)
        rows += [mesh.faces[:, a], mesh.faces[:, b]]
        columns += [mesh.faces[:, b], mesh.faces[:, a]]
        values += [0.5 * cotangent, 0.5 * cotangent]
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_matrix(entries, shape=(mesh.n_vertices, mesh.n_vertices))
