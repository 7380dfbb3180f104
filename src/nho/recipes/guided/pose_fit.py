"""How well every vertex of a pose lies on the full shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.geometry.coverage import on_boundary
from nho.geometry.elastic import Elastic
from nho.geometry.mesh import BoolArray, FloatArray, Mesh
from nho.geometry.surface import SurfacePoints

_GAP = (0.015, 0.04)  # from the full surface, which has area one: no misfit, full misfit
_FAR = 0.05  # a gap that has to be explained
_OVER = 0.5  # mean edges of the full shape: as far over its rim has to be explained, too
_AGREEMENT = (0.5, -0.2)  # cosine between the normals: no misfit, full misfit
_DISTORTION = (0.3, 0.6)  # relative
_SMOOTHING = 4  # rounds of averaging of the distortion
# How much likelier it is that there is no partner: docs/decisions.md
_LOG_ODDS = (9.15, 1.17, 0.945)  # constant, of the logarithms of gap and angle
MOST_DOUBT = 2.0


@dataclass(frozen=True)
class Fit:
    """How well every vertex of a pose lies on the full shape.

    Attributes
    ----------
    gap, agreement : (n_partial,) float arrays
        Distance to the full surface, and cosine between the normals there.
    misfit : (n_partial,) float array
        0 to 1.
    off : (n_partial,) bool array
        It lies over the rim of the full shape, or far from its surface.
    """

    gap: FloatArray
    agreement: FloatArray
    misfit: FloatArray
    off: BoolArray

    @property
    def doubt(self) -> FloatArray:
        """(n_partial,) 0 to 2, how much likelier it is to have no partner, by gap and normals."""
        constant, of_gap, of_angle = _LOG_ODDS
        doubt = constant + of_gap * np.log(2e-3 + self.gap)
        doubt += of_angle * np.log(1e-2 + np.maximum(1 - self.agreement, 0))
        return np.asarray(np.clip(doubt, 0, MOST_DOUBT))


def fit_of(
    partial: Mesh, positions: np.ndarray, full: Mesh, points: SurfacePoints, elastic: Elastic
) -> Fit:
    """Fit of a pose with these positions, which lies on these points."""
    gap = np.linalg.norm(positions - points.positions(full), axis=1)
    on_rim = on_boundary(full, points)
    normals = partial.moved(positions).vertex_normals
    agreement = (normals * full.face_normals[points.face]).sum(axis=1)
    distortion = elastic.distortion(positions, _SMOOTHING)
    signals = (gap, _GAP), (agreement, _AGREEMENT), (distortion, _DISTORTION)
    ramps = [np.clip((of - low) / (high - low), 0, 1) for of, (low, high) in signals]
    off = (gap > _FAR) | (on_rim & (gap > _OVER * full.mean_edge_length))
    misfit = np.maximum.reduce([on_rim.astype(np.float64), *ramps])
    return Fit(gap, agreement, misfit, off)
