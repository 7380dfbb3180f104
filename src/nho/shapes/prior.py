"""A shape space as a prior: what is known of a fitted template, and the shape that it tells of."""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import FloatArray, Mesh
from nho.problem.result import MatchResult
from nho.shapes.space import Estimate, ShapeSpace
from nho.transfer import Fit, Transfer

_LEAST = 0.05  # weight of a vertex on the scan, however low its confidence


def known_weights(
    result: MatchResult, partial: Mesh, full: Mesh, fit: Fit, elsewhere: float = 0.0
) -> FloatArray:
    """(n_full,) how well a fit knows every vertex: the confidence where it is on the scan."""
    confidence = Transfer(result, partial, full, "partial").vertices(result.confidence).values
    trust = np.clip(np.nan_to_num(confidence, nan=_LEAST), _LEAST, 1.0)
    return np.asarray(np.where(fit.on_scan, trust, elsewhere))


def estimate_from_fit(
    space: ShapeSpace, result: MatchResult, partial: Mesh, full: Mesh, fit: Fit
) -> Estimate:
    """The whole shape that a shape space expects of a scan, in the pose and unit of the scan."""
    space.check_template(full)
    return space.estimate(fit.mesh.vertices, known_weights(result, partial, full, fit))
