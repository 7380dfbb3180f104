"""Cuts across the long axis of a shape, by points that are known on all shapes of a data set."""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut, cut_by_plane


def ends_of(points: np.ndarray) -> np.ndarray:
    """(2,) rows of (n, 3) points that are about as far from each other as any two are."""
    first = np.linalg.norm(points - points[0], axis=1).argmax()
    last = np.linalg.norm(points - points[first], axis=1).argmax()
    return np.sort([first, last])


def cut_across(mesh: Mesh, ends: np.ndarray, number: int, keep_area: float) -> Cut:
    """Cut by a plane across the line between two (2, 3) ends.

    An odd ``number`` keeps the side of the first end, an even one that of the last.
    """
    along = ends[0] - ends[1]
    return cut_by_plane(mesh, along if number % 2 else -along, keep_area=keep_area)
