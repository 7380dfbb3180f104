"""What networks need of a mesh, in NumPy and SciPy: operators, and descriptors made with them.

Under a rotation or translation the mass, the eigenpairs and the *lengths* of gradients and angles
between them stay; the tangent frames rotate arbitrarily, and DiffusionNet does not depend on them.
Turning the surface inside out conjugates the gradients. When coordinates grow by s, the mass grows
by s^2, eigenvalues by 1 / s^2, eigenfunctions and gradients by 1 / s: a network knows the scale it
was trained at.

Where the mathematics leaves a choice, it is that of the public implementations, because published
weights depend on it: normals are means of face normals, the first axis of a tangent frame is the
x-axis projected to the tangent plane (`nho.geometry.tangents`), and gradients are damped a little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from nho.geometry.mesh import Mesh
from nho.geometry.spectrum import laplacian, neumann_basis
from nho.geometry.tangents import gradient

# Squared length in the unit of the network, where shapes have about unit area: one percent of the
# squared edges of a mesh with 5,000 vertices.
DAMPING = 1e-5

_SIGNATURE_TIMES = 1e-3, 1.0  # in units of the area: from a few edges to the whole shape
_LOCAL_TIMES = np.geomspace(2.5e-3, 5e-2, 6)  # in units of the full shape's area
LOCAL_CHANNELS = 5 * len(_LOCAL_TIMES)
# Means of the five numbers of a time, and their standard deviation, over many shapes.
_LOCAL_MEAN, _LOCAL_STD = (0.5, 0.3, 0.4, 0.4, 0.4), 0.3


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

    def with_modes(self, count: int) -> Operators:
        """The same with the first eigenpairs alone."""
        return replace(
            self, eigenvalues=self.eigenvalues[:count], functions=self.functions[:, :count]
        )


def operators(mesh: Mesh, modes: int = 128, kind: str = "robust") -> Operators:
    """The operators of a mesh with ``modes`` eigenpairs (fewer if it has fewer vertices).

    ``kind`` is that of `nho.geometry.spectrum.laplacian`.
    """
    operator = laplacian(mesh, kind)
    basis = neumann_basis(operator, modes)
    return Operators(operator.mass, basis.eigenvalues, basis.functions, gradient(mesh, DAMPING))


def heat_kernel_signature(found: Operators, count: int) -> np.ndarray:
    """(n, count) how much heat stays at a vertex, after times from short to long.

    ``sum_i exp(-lambda_i t) phi_i(x)^2``, over its mean on the surface: numbers about 1.
    """
    area = found.mass.sum()
    times = area * np.geomspace(*_SIGNATURE_TIMES, count)
    heat = found.functions**2 @ np.exp(-found.eigenvalues[:, None] * times)
    return np.asarray(heat / (found.mass @ heat / area))


def local_shape(mesh: Mesh, found: Operators, area: float) -> np.ndarray:
    """Curvature, direction and room around every vertex, at several distances.

    They are what networks trained here take in: no rotation changes them, and a bend hardly. All
    are formed by heat diffusion over times that are shares of the area of the full shape, so they
    depend neither on the unit of length nor on how finely a surface is meshed, as long as the mesh
    is finer than the reach of the shortest time.

    Parameters
    ----------
    found : Operators
        Of the mesh, in its unit of length.
    area : float
        Of the full shape, in that unit.

    Returns
    -------
    (n, LOCAL_CHANNELS) float array
        About zero, of the order of one. For each time: how far the diffused surface lies inside and
        aside of the vertex, how far diffused normals still point along its normal, and how long
        they are, and the logarithm of the heat that stays.
    """
    normals = mesh.vertex_normals
    functions, mass = found.functions, found.mass[:, None]
    places = functions.T @ (mass * mesh.vertices)
    directions = functions.T @ (mass * normals)
    channels = []
    for time in _LOCAL_TIMES * area:
        decay = np.exp(-time * found.eigenvalues)
        # What an infinite plane would keep is 1 / (4 pi t).
        heat = functions**2 @ decay * (4 * np.pi * time)
        shift = (functions @ (decay[:, None] * places) - mesh.vertices) / np.sqrt(time)
        inward = -np.einsum("nc,nc->n", shift, normals)
        aside = np.sqrt(np.maximum(np.einsum("nc,nc->n", shift, shift) - inward**2, 0))
        smooth = functions @ (decay[:, None] * directions)
        along = np.einsum("nc,nc->n", smooth, normals)
        channels += [inward, aside, along, np.linalg.norm(smooth, axis=1), np.log(heat)]
    centred: np.ndarray = np.column_stack(channels) - np.tile(_LOCAL_MEAN, len(_LOCAL_TIMES))
    return centred / _LOCAL_STD
