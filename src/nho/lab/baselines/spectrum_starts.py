"""Where the alignment of spectra starts: low here, high there, in many ways.

A start is a number w a vertex of the full shape, from which the potential follows: negative inside
a guessed region, positive outside.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices

_POINTS = 10  # where Gaussians sit
_WIDTHS = (1.0, 0.5)  # share of the wanted area within half height
_HEIGHT = 2.0  # |w|: nearly decided, yet with slope enough to change its mind


def gaussians(full: Mesh, mass: np.ndarray, ratio: float) -> list[np.ndarray]:
    """Regions around points far from each other, and regions everywhere but around them.

    Widths follow the area of the partial shape and distances run along edges, so neither the unit
    nor the pose counts.

    Parameters
    ----------
    mass : (n,) float array
        Vertex areas.
    ratio : float
        Area of the region over that of the full shape, 0 to 1.

    Returns
    -------
    list of (n,) float arrays
        Four a point.
    """
    centres = sample_vertices(full, min(_POINTS, full.n_vertices))
    starts = []
    for distance in distances_from(edge_graph(full), centres):
        order = np.argsort(distance, kind="stable")
        covered = np.cumsum(mass[order]) / mass.sum()
        for area, sign in ((ratio, -1.0), (1 - ratio, 1.0)):
            for width in _WIDTHS:
                rank = int(np.searchsorted(covered, width * area))
                radius = distance[order[min(rank, len(order) - 1)]]
                starts.append(sign * _HEIGHT * (2 * _gaussian(distance, radius) - 1))
    return starts


def look_alikes(own: np.ndarray, other: np.ndarray, mass: np.ndarray, ratio: float) -> np.ndarray:
    """(n_full,) start whose region looks most like some place of the partial shape.

    As much of the full shape is taken as the partial one has area.

    Parameters
    ----------
    own, other : (n_partial, d) and (n_full, d) float arrays
        Descriptors.
    mass : (n_full,) float array
        Vertex areas of the full shape.
    ratio : float
        Area of the region over that of the full shape, 0 to 1.
    """
    gap = np.asarray(cKDTree(own).query(other)[0])
    order = np.argsort(gap, kind="stable")
    covered = np.cumsum(mass[order]) / mass.sum()
    start = np.empty(len(gap))
    start[order] = np.where(covered <= ratio, -_HEIGHT, _HEIGHT)
    return start


def _gaussian(distance: np.ndarray, radius: float) -> np.ndarray:
    """(n,) one at distance 0, one half at the radius; zero everywhere for radius 0."""
    if radius == 0:
        return np.zeros_like(distance)
    return np.exp2(-((distance / radius) ** 2))
