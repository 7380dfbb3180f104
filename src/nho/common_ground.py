"""Bring both shapes to common ground: one unit, one orientation, anchors that agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.anchor_checks import relative_scale, robust_scale, trusted
from nho.distance_evidence import AnchorDistances
from nho.errors import InputError
from nho.mesh import Mesh
from nho.orientation import Turning
from nho.parallel import SERIAL, Workers
from nho.problem import Problem
from nho.settings import Settings

_FEWEST_TO_JUDGE = 8  # anchors; fewer cannot outvote a wrong one
_FEWEST_TO_TURN = 15  # anchors; at fewer, the turns around them are mostly noise
_OPPOSED = -0.3  # correlation of turns below which the shapes face opposite ways


@dataclass(frozen=True)
class CommonGround:
    """Two shapes that can be compared, and distances from the anchors that can be trusted.

    Attributes
    ----------
    turning : Turning or None
        Which way round the shapes are at the anchors, if that is wanted.
    scale : float
        Factor that brought the partial shape to the full one's unit; 1 if left alone.
    suspects : (k,) int array
        Anchors (rows of the problem's) that contradict the others.
    """

    partial: Mesh
    full: Mesh
    distances: AnchorDistances
    turning: Turning | None
    scale: float
    suspects: np.ndarray
    notes: tuple[str, ...]


def common_ground(problem: Problem, settings: Settings, pool: Workers = SERIAL) -> CommonGround:
    """Measure the distances and undo what differs only in the way the shapes were stored."""
    partial, full = problem.partial.mesh, problem.full.mesh
    distances = AnchorDistances.measure(partial, full, problem.anchors)
    notes: list[str] = []
    judging = len(distances.anchors) >= _FEWEST_TO_JUDGE
    scale = robust_scale(distances) if judging else relative_scale(distances)
    if not np.isfinite(scale):
        raise InputError(
            f"no two anchors are apart on both {partial.name} and {full.name}; spread them out"
        )
    # Distances between many anchors tell the scale more exactly.
    tolerance = np.log(settings.unit_factor) / (2 if judging else 1)
    scale = _as_unit(scale, tolerance)
    distances = distances.scaled_partial(scale)
    suspects = np.empty(0, dtype=np.int64)
    if settings.anchor_limit and judging:
        kept = trusted(distances, settings.anchor_limit)
        suspects, distances = np.flatnonzero(~kept), distances.subset(kept)
        notes += _named(problem, suspects)
    if not _is_unit(scale):
        exact = _as_unit(scale * relative_scale(distances), tolerance)  # wrong anchors are out
        distances, scale = distances.scaled_partial(exact / scale), exact
    if scale != 1:
        partial = partial.scaled(scale)
        notes.append(
            f"{partial.name} is larger or smaller than {full.name}, or in another unit: its "
            f"coordinates were multiplied by {scale:.4g}, as distances between the anchors tell"
        )
    turning = distances.turning(partial, full, pool) if settings.turn_weight else None
    enough = len(distances.anchors) >= _FEWEST_TO_TURN
    if turning is not None and enough and turning.alike(distances.anchors) < _OPPOSED:
        turning = turning.turned_over()
        partial = Mesh(partial.vertices, partial.faces[:, ::-1], partial.name)
        notes.append(
            f"the faces of {partial.name} and {full.name} turn opposite ways around the anchors; "
            "one was turned over. If one shape is a mirror image, reflect it first"
        )
    return CommonGround(partial, full, distances, turning, scale, suspects, tuple(notes))


def _as_unit(scale: float, tolerance: float) -> float:
    """The power of ten that an estimated scale stands for, if one is near: metres, millimetres."""
    unit = float(10.0 ** np.round(np.log10(scale)))
    return unit if abs(np.log(scale / unit)) < tolerance else scale


def _is_unit(scale: float) -> bool:
    return scale == 10.0 ** np.round(np.log10(scale))


def _named(problem: Problem, suspects: np.ndarray) -> list[str]:
    """A sentence for every suspect, in the user's order and numbering."""
    return [
        f"anchor {row} (partial vertex {problem.given_anchors[row, 0]}, full vertex "
        f"{problem.given_anchors[row, 1]}) contradicts its neighbours and was not used"
        for row in sorted(problem.anchor_rows[suspects].tolist())
    ]
