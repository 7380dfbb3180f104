"""What a vertex sees of its surroundings: numbers that no rotation and hardly a bend changes.

They are what networks trained here take in. All are formed by heat diffusion over times that are
shares of the area of the full shape, so they depend neither on the unit of length nor on how finely
a surface is meshed, as long as the mesh is finer than the shortest time sees.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import Mesh
from nho.learned.operators import Operators

TIMES = np.geomspace(2.5e-3, 5e-2, 6)  # in units of the full shape's area
CHANNELS = 5 * len(TIMES)
# What the five numbers of a time are about, and by how much they vary, over many shapes.
_MIDDLE, _SPREAD = (0.5, 0.3, 0.4, 0.4, 0.4), 0.3


def local_shape(mesh: Mesh, operators: Operators, area: float) -> np.ndarray:
    """Curvature, direction and room around every vertex, at several distances.

    Parameters
    ----------
    operators : Operators
        Of the mesh, in its unit of length.
    area : float
        Of the full shape, in that unit.

    Returns
    -------
    (n, CHANNELS) float array
        About zero, of the order of one. For each time: how far the diffused surface lies inside and
        aside of the vertex, how far diffused normals still point along its normal, and how long
        they are, and the logarithm of the heat that stays.
    """
    normals = mesh.vertex_normals
    functions, mass = operators.functions, operators.mass[:, None]
    places = functions.T @ (mass * mesh.vertices)
    directions = functions.T @ (mass * normals)
    channels = []
    for time in TIMES * area:
        decay = np.exp(-time * operators.eigenvalues)
        # What an infinite plane would keep is 1 / (4 pi t).
        heat = functions**2 @ decay * (4 * np.pi * time)
        shift = (functions @ (decay[:, None] * places) - mesh.vertices) / np.sqrt(time)
        inward = -np.einsum("nc,nc->n", shift, normals)
        aside = np.sqrt(np.maximum(np.einsum("nc,nc->n", shift, shift) - inward**2, 0))
        smooth = functions @ (decay[:, None] * directions)
        along = np.einsum("nc,nc->n", smooth, normals)
        channels += [inward, aside, along, np.linalg.norm(smooth, axis=1), np.log(heat)]
    return (np.column_stack(channels) - np.tile(_MIDDLE, len(TIMES))) / _SPREAD
