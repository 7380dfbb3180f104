"""How far to trust each match, and where one more anchor would help most."""

from __future__ import annotations

import numpy as np

from nho.distance_evidence import AnchorDistances

_DISTORTION = 0.15  # relative distortion at which trust has fallen to 1/e


def confidence(distortion: np.ndarray, distances: AnchorDistances) -> np.ndarray:
    """(n_partial,) 0 to 1: high near anchors and where the surface was hardly bent.

    Parameters
    ----------
    distortion : (n_partial,) float array
        Relative elastic misfit of the final pose, smoothed over a neighbourhood.
    """
    near = distances.partial.min(axis=0) / distances.spacing
    return np.exp(-distortion / _DISTORTION - near)


def where_to_add(trust: np.ndarray, distances: AnchorDistances) -> int:
    """Partial vertex of least trust; an anchor there tells most."""
    return int(np.argmin(trust - 1e-9 * distances.partial.min(axis=0)))
