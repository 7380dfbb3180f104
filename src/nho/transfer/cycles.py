"""There and back: whether two matches, one either way, tell the same story."""

from __future__ import annotations

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import FloatArray
from nho.problem.result import MatchResult
from nho.transfer.maps import SurfaceMap


def cycle_errors(there: MatchResult, back: MatchResult) -> FloatArray:
    """(n,) how far from itself a vertex comes back to, over the square root of the area.

    Parameters
    ----------
    there : MatchResult
        Of A to B, as `nho.match(a, b, anchors)` returns it.
    back : MatchResult
        Of B to A, from the same two meshes, in the other order.

    Returns
    -------
    (n_a,) float array
        NaN where a vertex, or the point that it goes to, has no partner.
    """
    a, b = there.partial, there.full
    if (back.partial.n_vertices, back.full.n_vertices) != (b.n_vertices, a.n_vertices):
        raise InputError(
            f"the way back is from {back.partial.n_vertices} to {back.full.n_vertices} vertices, "
            f"but the way there from {a.n_vertices} to {b.n_vertices}; match the same two meshes "
            "in the other order"
        )
    home = SurfaceMap(back, b, a).to_full(there.points)
    away = np.linalg.norm(home.positions(a) - a.vertices, axis=1)
    return np.asarray(away / np.sqrt(a.area))
