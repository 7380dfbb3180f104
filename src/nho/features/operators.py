"""What DiffusionNet needs of a mesh: mass, eigenpairs and the gradient, in NumPy and SciPy.

All of it moves with the surface. Under a rotation or translation the mass, the eigenpairs and the
*lengths* of gradients and angles between them stay; the tangent frames turn with nothing in
particular, and DiffusionNet does not see how they are turned. Turning the surface inside out
conjugates the gradients. When coordinates grow by s, the mass grows by s^2, eigenvalues by 1 / s^2,
eigenfunctions by 1 / s and gradients by 1 / s: a network knows the scale it was trained at.

Where the mathematics leaves a choice, it is that of the public implementations, because published
weights depend on it: normals are means of face normals, the first axis of a tangent frame is the
x-axis laid into the tangent plane, and gradients are damped a little (see `gradient`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from nho.mesh import Mesh
from nho.spectrum import laplacian, neumann_basis

# Neighbours whose directions span less than this (squared sine) lie on a line, up to round-off.
_LINE = 1e-12
# Squared length in the unit of the network, where shapes have about unit area: one percent of the
# squared edges of a mesh with 5,000 vertices.
DAMPING = 1e-5
_STEEP = 0.9  # cosine between normal and x-axis from which the y-axis serves instead


@dataclass(frozen=True)
class Operators:
    """Operators of a mesh with n vertices, in its own unit of length.

    Attributes
    ----------
    mass : (n,) float array
        Lumped vertex areas.
    eigenvalues : (k,) float array
        Of the Laplacian with natural boundary, ascending, in units of 1 / length^2.
    functions : (n, k) float array
        Eigenfunctions, orthonormal in the mass.
    gradient : (n, n) sparse complex array
        From values at vertices to tangent vectors there, written as complex numbers in the frame
        of each vertex (real part along its first axis).
    """

    mass: np.ndarray
    eigenvalues: np.ndarray
    functions: np.ndarray
    gradient: sp.csr_matrix


def operators(mesh: Mesh, modes: int = 128, kind: str = "robust") -> Operators:
    """The operators of a mesh with ``modes`` eigenpairs (fewer if it has fewer vertices).

    ``kind`` is that of `nho.spectrum.laplacian`.
    """
    operator = laplacian(mesh, kind)
    basis = neumann_basis(operator, modes)
    slopes = gradient(mesh, DAMPING)
    return Operators(operator.mass, basis.eigenvalues, basis.functions, slopes)


def gradient(mesh: Mesh, damping: float = 0.0) -> sp.csr_matrix:
    """(n, n) complex: the tangent vector that best explains the differences along all edges.

    At each vertex it is the least-squares solution g of ``<g, e_j> = f_j - f_i`` over the edges
    e_j to its neighbours, laid into the tangent plane; on a plane it is exact for linear functions.
    Where all edges point along one line, the part of g across it is zero.

    Parameters
    ----------
    damping : float
        Weight of ``|g|^2`` in the fit, a squared length.
    """
    n = mesh.n_vertices
    first, second = tangent_frames(mean_normals(mesh))
    ends = mesh.edges
    start = np.concatenate([ends[:, 0], ends[:, 1]])
    end = np.concatenate([ends[:, 1], ends[:, 0]])
    edge = mesh.vertices[end] - mesh.vertices[start]
    x = np.einsum("ec,ec->e", edge, first[start])
    y = np.einsum("ec,ec->e", edge, second[start])
    xx, xy, yy = (np.bincount(start, product, minlength=n) for product in (x * x, x * y, y * y))
    inverse_xx, inverse_xy, inverse_yy = _inverse(xx + damping, xy, yy + damping)
    along_x = inverse_xx[start] * x + inverse_xy[start] * y
    along_y = inverse_xy[start] * x + inverse_yy[start] * y
    weights = along_x + 1j * along_y
    off = sp.csr_matrix((weights, (start, end)), shape=(n, n))
    return sp.csr_matrix(off - sp.diags(np.asarray(off.sum(axis=1)).ravel()))


def mean_normals(mesh: Mesh) -> np.ndarray:
    """(n, 3) directions of the sums of unit face normals, large faces counting no more."""
    corners, normals = mesh.faces.ravel(), np.repeat(mesh.face_normals, 3, axis=0)
    sums = np.stack(
        [np.bincount(corners, normals[:, axis], mesh.n_vertices) for axis in range(3)], axis=1
    )
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.divide(sums, length, out=np.zeros_like(sums), where=length > 0)


def tangent_frames(normals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit axes (n, 3) across each normal, right-handed with it; zero where the normal is."""
    steep = np.abs(normals[:, 0]) >= _STEEP
    axis = np.where(steep[:, None], [[0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]])
    first = axis - np.einsum("nc,nc->n", axis, normals)[:, None] * normals
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    first[~normals.any(axis=1)] = 0
    return first, np.cross(normals, first)


def _inverse(
    xx: np.ndarray, xy: np.ndarray, yy: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pseudo-inverses of the symmetric matrices [[xx, xy], [xy, yy]]."""
    trace = xx + yy
    determinant = xx * yy - xy * xy
    flat = ~(determinant > _LINE * trace * trace)
    with np.errstate(divide="ignore", invalid="ignore"):
        full = np.stack([yy, -xy, xx]) / determinant
        line = np.where(trace > 0, np.stack([xx, xy, yy]) / (trace * trace), 0)
    a, b, c = np.where(flat, line, full)
    return a, b, c
