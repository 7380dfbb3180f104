"""Are the anchors consistent with each other, and the shapes in the same unit?"""

from __future__ import annotations

import numpy as np

from nho.distance_evidence import AnchorDistances

_NEAR = 6  # neighbours an anchor is judged by


def consistent(distances: AnchorDistances, limit: float) -> np.ndarray:
    """(m,) bool: anchors whose distances to near ones agree on both shapes.

    The disagreement of an anchor is the median |log(d_full / d_partial)| to its nearest anchors,
    near on either shape, so that one moved far away cannot hide behind distant paths. The worst
    is dropped and all are judged again, until none exceeds ``limit``. At least half stay.
    """
    own, other = distances.between_partial, distances.between_full
    floor = 1e-3 * np.median(own)  # two anchors at one place: no infinite ratio
    disagreement = np.abs(np.log((other + floor) / (own + floor)))
    nearness = np.minimum(own, other)
    kept = np.ones(len(own), dtype=bool)
    while kept.sum() > max(4, len(own) // 2):
        rows = np.flatnonzero(kept)
        order = np.argsort(nearness[np.ix_(rows, rows)], axis=1, kind="stable")
        near = order[:, 1 : min(_NEAR, len(rows) - 1) + 1]
        table = disagreement[np.ix_(rows, rows)]
        judged = np.median(np.take_along_axis(table, near, axis=1), axis=1)
        if judged.max() < limit:
            break
        kept[rows[judged.argmax()]] = False
    return kept


def relative_scale(distances: AnchorDistances, near: int = 4) -> float:
    """Median of d_full / d_partial between near anchors: the unit of one shape in the other's.

    NaN if no two anchors are apart on both shapes.
    """
    own, other = distances.between_partial, distances.between_full
    order = np.argsort(own, axis=1, kind="stable")[:, 1 : near + 1]
    near_own, near_other = (np.take_along_axis(table, order, axis=1) for table in (own, other))
    apart = (near_own > 0) & (near_other > 0)
    if not apart.any():
        return float("nan")
    return float(np.median(near_other[apart] / near_own[apart]))
