"""What DiffusionNet needs of a mesh: mass, eigenpairs and the gradient, in NumPy and SciPy.

All of it moves with the surface. Under a rotation or translation the mass, the eigenpairs and the
*lengths* of gradients and angles between them stay; the tangent frames turn with nothing in
particular, and DiffusionNet does not see how they are turned. Turning the surface inside out
conjugates the gradients. When coordinates grow by s, the mass grows by s^2, eigenvalues by 1 / s^2,
eigenfunctions by 1 / s and gradients by 1 / s: a network knows the scale it was trained at.

Where the mathematics leaves a choice, it is that of the public implementations, because published
weights depend on it: normals are means of face normals, the first axis of a tangent frame is the
x-axis laid into the tangent plane (`nho.geometry.tangents`), and gradients are damped a little.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from nho.geometry.mesh import Mesh
from nho.geometry.spectrum import laplacian, neumann_basis
from nho.geometry.tangents import gradient

# Squared length in the unit of the network, where shapes have about unit area: one percent of the
# squared edges of a mesh with 5,000 vertices.
DAMPING = 1e-5


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

    ``kind`` is that of `nho.geometry.spectrum.laplacian`.
    """
    operator = laplacian(mesh, kind)
    basis = neumann_basis(operator, modes)
    slopes = gradient(mesh, DAMPING)
    return Operators(operator.mass, basis.eigenvalues, basis.functions, slopes)
