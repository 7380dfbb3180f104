"""A map as matrices: between values at vertices, and between coefficients in given bases."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.problem.result import MatchResult


def map_matrix(result: MatchResult) -> sp.csr_array:
    """(n_partial, n_full) barycentric weights; rows sum to one, or to zero without a match."""
    return interpolation(result.points, result.full)


def interpolation(points: SurfacePoints, mesh: Mesh) -> sp.csr_array:
    """(n_points, n_vertices) barycentric weights; rows sum to one, or to zero without a point."""
    there = np.flatnonzero(points.face >= 0)
    corners, weights = mesh.faces[points.face[there]], points.barycentric[there]
    entries = (weights.ravel(), (np.repeat(there, 3), corners.ravel()))
    return sp.csr_array(sp.coo_array(entries, shape=(len(points), mesh.n_vertices)))


def functional_map(
    result: MatchResult, partial_basis: np.ndarray, full_basis: np.ndarray
) -> np.ndarray:
    """(k_partial, k_full) coefficients on partial for coefficients on full, by least squares.

    Vertices count by their area on the partial shape; those without a match do not count.
    """
    partial_basis, full_basis = np.asarray(partial_basis), np.asarray(full_basis)
    for basis, count, role in (
        (partial_basis, len(result.face), "partial"),
        (full_basis, len(result.region), "full"),
    ):
        if basis.ndim != 2 or len(basis) != count:
            raise InputError(
                f"the basis of the {role} shape has shape {basis.shape}; give one row for each of "
                f"its {count} vertices"
            )
    weight = np.sqrt(np.where(result.face >= 0, result.partial.vertex_areas, 0.0))[:, None]
    carried = map_matrix(result) @ full_basis
    solved = np.linalg.lstsq(weight * partial_basis, weight * carried, rcond=None)[0]
    return np.asarray(solved)
