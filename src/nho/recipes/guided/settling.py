"""A last step where the pose hardly changes: what a warp of space does not explain is smoothed.

Bones, skulls and faces differ smoothly from each other, more smoothly than an elastic surface bends
from one onto the other. Where a spline of the anchors already does most of it, the rest of the
displacement is averaged, and what then gapes is closed as smoothly: over the wider surroundings,
the less the pose stretches what the spline has made. Where it hardly stretches the scan itself, as
two faces of one person do, an elastic surface is right, and nothing is smoothed.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from nho.geometry.solvers import factorised
from nho.geometry.spectrum import Laplacian
from nho.recipes.guided.bending import Bending
from nho.recipes.guided.comparable import ComparablePair
from nho.recipes.guided.starts import stretch_between, warped_by_spline

_STRETCH = 0.07  # median |log ratio| of edge lengths: the spline must do less
_ELASTIC = 0.5  # a pose that stretches the scan less than so much of what the spline leaves stays
_FEWEST = 8  # anchors; a spline of fewer says little, and with three nothing
_NARROWEST, _WIDEST = 0.02, 0.06  # to average over; the full shape has area one
_WIDTH_BY_STRETCH = 0.0015  # that width times the stretch between spline and pose
_ROUNDS = 10


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
    own, left = (
        stretch_between(before, pose, pair.partial.edges)
        for before in (pair.partial.vertices, warped)
    )
    if own <= _ELASTIC * left:
        return pose
    width = min(max(_WIDTH_BY_STRETCH / max(left, 1e-9), _NARROWEST), _WIDEST)
    average = factorised(sp.diags(operator.mass) + width**2 * operator.stiffness, pair.partial.name)
    positions = warped + average.solve(mass * (pose - warped))
    for _ in range(_ROUNDS):
        gap = bending.read_off(positions).positions(pair.full) - positions
        positions = positions + average.solve(mass * gap * partner[:, None])
    return np.asarray(positions)
