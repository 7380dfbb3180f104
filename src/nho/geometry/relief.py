"""Relief: the signed mean curvature of a surface at several scales (ridge, dent or fold)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from nho.geometry.mesh import Mesh
from nho.geometry.solvers import factorised
from nho.geometry.spectrum import Laplacian

SCALES = (0.02, 0.05, 0.1)  # lengths; the full shape has area one


def relief(mesh: Mesh, operator: Laplacian) -> np.ndarray:
    """(n, scales) mean curvature, averaged over each scale and in units of it, within -1 and 1.

    Positive where the surface bulges along its normals. The boundary, where curvature is not
    defined, takes its value from the inside.
    """
    mass, stiffness = operator.mass, operator.stiffness
    # The Laplacian of the positions is the curvature normal, integrated over each vertex's area.
    bulge = (np.asarray(stiffness @ mesh.vertices) * mesh.vertex_normals).sum(axis=1)
    inside = ~mesh.boundary_vertices
    sources = np.where(inside, [bulge, mass], 0.0).T
    columns = []
    for scale in SCALES:
        averaged = factorised(sp.diags(mass) + scale**2 * stiffness, mesh.name).solve(sources)
        weight = np.maximum(averaged[:, 1], np.finfo(np.float32).eps)
        columns.append(np.tanh(scale * averaged[:, 0] / weight))
    return np.stack(columns, axis=1)


def standardised(partial: np.ndarray, full: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, scales) relief of both shapes, in standard deviations over the full one."""
    std = full.std(axis=0)
    std = np.where(std > 0, std, 1.0)
    return partial / std, full / std
