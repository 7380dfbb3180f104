"""Tangent planes: a frame at every vertex, and the gradient of functions, as complex numbers.

The real part lies along the first axis of the frame of each vertex. Turning the surface inside out
conjugates gradients; rotating a frame multiplies them there by a number of length one.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from nho.geometry.mesh import FloatArray, Mesh, sum_at_vertices

# Neighbours whose directions span less than this (squared sine) lie on a line, up to round-off.
_LINE = 1e-12
_STEEP = 0.9  # cosine between normal and x-axis from which the y-axis serves instead


def gradient(mesh: Mesh, damping: float = 0.0) -> sp.csr_matrix:
    """(n, n) complex: the tangent vector that best explains the differences along all edges.

    At each vertex it is the least-squares solution g of ``<g, e_j> = f_j - f_i`` over the edges
    e_j to its neighbours, projected to the tangent plane; on a plane it is exact for linear ones.
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


def mean_normals(mesh: Mesh) -> FloatArray:
    """(n, 3) directions of the sums of unit face normals, large faces counting no more."""
    sums = np.stack([sum_at_vertices(mesh, axis) for axis in mesh.face_normals.T], axis=1)
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    unit: FloatArray = np.divide(sums, length, out=np.zeros_like(sums), where=length > 0)
    return unit


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
