"""Landmarks of one shape on the other: every one of them, with what is known of its error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.geometry.geodesics import distance_to_nearest, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.io.landmarks import Landmarks
from nho.io.landmarks.rows import MISSING, POSITION
from nho.problem.result import MatchResult
from nho.progress import ProgressCallback, ignore
from nho.transfer.carry import Side, Transfer
from nho.transfer.error_bars import ErrorBars, of_measured, of_predicted
from nho.transfer.fit import Fit, fit_template, size_of

MEASURED, PREDICTED, ABSENT = "measured", "predicted", "missing"


@dataclass(frozen=True)
class CarriedLandmarks:
    """Points of one shape on the other, in their order.

    Attributes
    ----------
    names : tuple of str
    points : SurfacePoints
        On the other shape; face -1 where it has nothing.
    positions : (n, 3) float array
        In its unit; NaN = missing.
    status : (n,) str array
        ``"measured"``: carried by the map; ``"predicted"``: placed by the fitted template;
        ``"missing"``: the other shape has nothing there, or this one has no such point.
    errors : ErrorBars
        NaN where missing.
    """

    names: tuple[str, ...]
    points: SurfacePoints
    positions: np.ndarray
    status: np.ndarray
    errors: ErrorBars

    def landmarks(self, source: str = "landmarks") -> Landmarks:
        """The same for a file: coordinates, and the columns that say what they are worth."""
        there = self.status != ABSENT
        count = len(self.names)
        return Landmarks(
            self.names,
            np.where(there, POSITION, MISSING).astype("<U8"),
            np.full(count, -1),
            np.full(count, -1),
            np.full((count, 3), np.nan),
            self.positions,
            source=source,
            facts={
                "status": self.status,
                "confidence": self.errors.confidence,
                "expected_error": self.errors.expected,
                "standard_error": self.errors.standard,
                "error_95": self.errors.limit_95,
            },
        )


def carry_landmarks(
    result: MatchResult,
    partial: Mesh,
    full: Mesh,
    points: SurfacePoints,
    names: Sequence[str],
    *,
    source: Side = "full",
    predict: bool = False,
    min_confidence: float = 0.0,
    fit: Fit | None = None,
    progress: ProgressCallback = ignore,
) -> CarriedLandmarks:
    """Carry points of one shape to the other.

    Parameters
    ----------
    points : SurfacePoints
        On the source; face -1 = missing there.
    names : sequence of str
        One for each point.
    source : {"full", "partial"}
        The shape that has the points.
    predict : bool
        Place points where the scan has nothing by the fitted template; from full to partial.
    fit : Fit, optional
        The fitted template, if that is known already.
    """
    if predict and source != "full":
        raise InputError("only landmarks of the full shape can be predicted on the partial one")
    carry = Transfer(result, partial, full, source, min_confidence=min_confidence)
    found = carry.points(points)
    there = found.face >= 0
    positions = np.where(there[:, None], found.positions(carry.target), np.nan)
    status = np.where(there, MEASURED, ABSENT).astype("<U9")
    unit, on_partial = np.sqrt(full.area), points
    if source == "full":
        unit, on_partial = unit * size_of(carry.map) / carry.map.scale, found
    confidence = np.nan_to_num(on_partial.interpolate(partial, result.confidence))
    errors = of_measured(confidence, unit)
    wanted = ~there & (points.face >= 0)
    if predict and wanted.any():
        fit = fit or fit_template(
            result, partial, full, min_confidence=min_confidence, progress=progress
        )
        positions[wanted] = points[wanted].positions(fit.mesh)
        status[wanted] = PREDICTED
        away = distance_from_data(fit, full)
        guess = of_predicted(points.interpolate(full, away), unit, result.chance)
        errors = _chosen(wanted, guess, errors)
    known = status != ABSENT
    nothing = np.full(len(points), np.nan)
    errors = _chosen(known, errors, ErrorBars(nothing, nothing, nothing, nothing))
    return CarriedLandmarks(tuple(names), found, positions, status, errors)


def distance_from_data(fit: Fit, full: Mesh) -> np.ndarray:
    """(n_full,) along the template to the nearest vertex on the scan, by the root of its area.

    Parts of the template that are not connected to any such vertex are as far as the farthest.
    """
    if not fit.on_scan.any():
        raise InputError(
            f"{full.name}: no vertex of the fitted template lies on the scan; match it again"
        )
    away = distance_to_nearest(edge_graph(full), np.flatnonzero(fit.on_scan))
    reached = np.isfinite(away)
    away = np.where(reached, away, away[reached].max())
    return np.asarray(away / np.sqrt(full.area))


def _chosen(where: np.ndarray, first: ErrorBars, second: ErrorBars) -> ErrorBars:
    """The first where it is chosen, else the second."""
    return ErrorBars(
        *(
            np.where(where, getattr(first, name), getattr(second, name))
            for name in ("expected", "standard", "limit_95", "confidence")
        )
    )
