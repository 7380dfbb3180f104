"""How unlike two places look, each on its own surface.

A cut leaves the relief of a place as it was, and can only take from the area within its reach: all
of it is there within the distance to the boundary, and beyond that there may be less. Among the
places of the full shape that are least unlike a place of the partial one, the true partner is
mostly within the first percent; alone it is far from certain.
"""

from __future__ import annotations

import numpy as np

from nho.anchor_search.survey import RADII, Survey
from nho.geometry.relief import standardised

_RELIEF_SPREAD = 0.4  # standard deviations: what true partners differ by, as measured
# Of relief, fine to coarse, with sum one: the coarser, the more it tells of build than of place.
_SCALE_WEIGHTS = np.array([0.5, 0.33, 0.17])
_REACH_SPREAD = 0.15  # the same for the logarithm of areas
_SLACK = 0.1  # by which the area of a cut reach may be larger, in logarithm
_NEAR_RIM = 0.1  # relief nearer to the boundary counts less
_MOST = 9.0  # squares beyond this count no more: whatever it is, it does not fit


def unlikeness(partial: Survey, full: Survey) -> np.ndarray:
    """(n_partial, n_full) mean squared differences in units of their spread; 0 = alike."""
    own, other = standardised(partial.relief, full.relief)
    gap = ((own[:, None, :] - other[None]) / _RELIEF_SPREAD) ** 2
    trust = np.clip(partial.rim / _NEAR_RIM, 0, 1)
    total = trust[:, None] * (np.minimum(gap, _MOST) @ _SCALE_WEIGHTS)
    for column, radius in enumerate(RADII):
        excess = np.log(partial.reach[:, column])[:, None] - np.log(full.reach[:, column])
        whole = (partial.rim > radius)[:, None]
        excess = np.where(whole, excess, np.maximum(excess - _SLACK, 0))
        total += np.minimum((excess / _REACH_SPREAD) ** 2, _MOST) / len(RADII)
    return total
