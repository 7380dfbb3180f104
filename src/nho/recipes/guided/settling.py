"""A last step where the pose hardly changes: what a warp of space does not explain is smoothed.

Bones, skulls and faces differ smoothly from each other, more smoothly than an elastic surface bends
from one onto the other. Where a spline of the anchors already does most of it, the rest of the
displacement is averaged over a few edges, and what then gapes is closed as smoothly.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from nho.geometry.solvers import factorised
from nho.geometry.spectrum import Laplacian
from nho.recipes.guided.bending import Bending
from nho.recipes.guided.comparable import ComparablePair
from nho.recipes.guided.starts import warped_by_spline

_STRETCH = 0.07  # median |log ratio| of edge lengths: the spline must do less
_FEWEST = 8  # anchors; a spline of fewer says little, and with three nothing
_WIDTH = 0.025  # over which displacements are averaged; the full shape has area one
_ROUNDS = 4


def settled(
    pose: np.ndarray,
    pair: ComparablePair,
    bending: Bending,
    operator: Laplacian,
    partner: np.ndarray,
) -> np.ndarray:
    """(n_partial, 3) the pose, smoothed if a spline of enough anchors comes near it.

    ``operator`` is the Laplacian of the partial shape, ``partner`` says which vertices have one:
    gaps of the others are left open.
    """
    warped, stretch = warped_by_spline(pair)
    if stretch >= _STRETCH or len(pair.distances.anchors) < _FEWEST:
        return pose
    mass = operator.mass[:, None]
    average = factorised(
        sp.diags(operator.mass) + _WIDTH**2 * operator.stiffness, pair.partial.name
    )
    positions = warped + average.solve(mass * (pose - warped))
    for _ in range(_ROUNDS):
        gap = bending.read_off(positions).positions(pair.full) - positions
        positions = positions + average.solve(mass * gap * partner[:, None])
    return np.asarray(positions)
