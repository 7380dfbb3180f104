"""What the 3D view of the report draws: geometry, colours and the map, packed for the browser."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from nho.colours import (
    UNMATCHED,
    position_colours,
    region_colours,
    scalar_colours,
    transfer_colours,
)
from nho.mesh import Mesh
from nho.report.shown import Shown, shown
from nho.result import MatchResult

REGION_INSIDE = (46, 125, 140)  # sRGB
REGION_OUTSIDE = (222, 222, 222)
_PLAIN = (214, 211, 205)  # a shape that the chosen view says nothing about


def scene(
    partial: Mesh,
    full: Mesh,
    result: MatchResult,
    suspects: list[int],
    next_anchor: int | None,
) -> dict[str, Any]:
    """Everything the viewer needs, ready for JSON; arrays are little-endian base64."""
    anchors = np.asarray(result.anchors).reshape(-1, 2)
    kept = anchors[:, 0] if next_anchor is None else np.append(anchors[:, 0], next_anchor)
    drawn = {"partial": shown(partial, kept), "full": shown(full, anchors[:, 1])}
    rows = drawn["partial"].vertex
    full_turn = _looking_at(full)
    fitted = _rotation_onto_full(full, partial, result)
    partial_turn = _looking_at(partial) if fitted is None else full_turn @ fitted
    partial_frame, full_frame = _frame(partial, partial_turn), _frame(full, full_turn)
    colours, full_colours = _colours(full, result)
    places = result.points[rows].positions(full)
    pairs = [drawn["partial"].row(anchors[:, 0]), drawn["full"].row(anchors[:, 1])]
    return {
        "partial": _drawn(partial, drawn["partial"], partial_frame, partial_turn, colours),
        "full": _drawn(full, drawn["full"], full_frame, full_turn, full_colours),
        "partner": _packed(_framed(places, full_frame), "<f4"),
        "partnerVertex": _packed(result.vertex_map[rows], "<i4"),
        "confidence": _packed(result.confidence[rows], "<f4"),
        "regionScore": _packed(result.region_score[drawn["full"].vertex], "<f4"),
        "anchors": np.stack(pairs, axis=1).tolist(),
        "suspects": suspects,
        "nextAnchor": None if next_anchor is None else int(drawn["partial"].row(next_anchor)),
    }


def _drawn(
    mesh: Mesh,
    part: Shown,
    frame: tuple[np.ndarray, float],
    turn: np.ndarray,
    colours: dict[str, np.ndarray],
) -> dict[str, Any]:
    """One shape; ``number`` holds the vertices as the user numbers them."""
    return {
        "positions": _packed(_framed(mesh.vertices[part.vertex], frame), "<f4"),
        "faces": _packed(part.faces, "<u4"),
        "number": _packed(part.vertex, "<u4"),
        "rotation": turn.tolist(),
        "colours": {view: _packed(rows[part.vertex], "u1") for view, rows in colours.items()},
    }


def _colours(
    full: Mesh, result: MatchResult
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Colours of both shapes by name of the view; the partial shows the state of its partners."""
    by_place = position_colours(full)
    inside = np.where(result.region[:, None], REGION_INSIDE, REGION_OUTSIDE).astype(np.uint8)
    score_there = result.points.interpolate(full, result.region_score.astype(np.float64))
    matched = result.vertex_map >= 0
    n_full = len(full.vertices)
    of_partial = {
        "correspondence": transfer_colours(full, result, by_place),
        "region": np.where(
            matched[:, None], inside[np.where(matched, result.vertex_map, 0)], UNMATCHED
        ),
        "score": scalar_colours(score_there),
        "confidence": scalar_colours(result.confidence),
    }
    of_full = {
        "correspondence": by_place,
        "faded": region_colours(by_place, result.region),
        "region": inside,
        "score": scalar_colours(result.region_score),
        "confidence": np.tile(np.array(_PLAIN), (n_full, 1)),
    }
    return of_partial, of_full


def _frame(mesh: Mesh, turn: np.ndarray) -> tuple[np.ndarray, float]:
    """Centre and radius of a ball around the surface, in the middle of the first view."""
    corners = mesh.vertices[_used(mesh)]  # a stray vertex must not shrink the shape
    seen = corners @ turn.T
    centre = (seen.min(axis=0) + seen.max(axis=0)) / 2 @ turn
    radius = float(np.linalg.norm(corners - centre, axis=1).max())
    return centre, radius if radius > 0 else 1.0


def _used(mesh: Mesh) -> np.ndarray:
    """(n,) bool: vertices of a face."""
    used = np.zeros(len(mesh.vertices), dtype=bool)
    used[mesh.faces] = True
    return used


def _framed(points: np.ndarray, frame: tuple[np.ndarray, float]) -> np.ndarray:
    """Points in the unit ball; done here in float64, so that a far-off mesh keeps its detail."""
    centre, radius = frame
    return (points - centre) / radius


def _looking_at(mesh: Mesh) -> np.ndarray:
    """Rotation to a first view: along the thinnest side of the box, turned a little for depth.

    Rows are the directions to the right, up, and towards the eye.
    """
    extent = np.ptp(mesh.vertices[_used(mesh)], axis=0)
    thinnest = 2 - int(np.argmin(extent[::-1]))  # a tie goes to z
    up, eye = ((1, 0), (2, 1), (1, 2))[thinnest]
    towards = np.eye(3)[eye] * (-1 if thinnest == 1 else 1)  # with z up, the front is at -y
    front = np.stack([np.cross(np.eye(3)[up], towards), np.eye(3)[up], towards])
    yaw, pitch = np.deg2rad((-22.0, 8.0))
    about_up = [[np.cos(yaw), 0, np.sin(yaw)], [0, 1, 0], [-np.sin(yaw), 0, np.cos(yaw)]]
    about_right = [[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]]
    return np.array(about_right) @ np.array(about_up) @ front


def _rotation_onto_full(full: Mesh, partial: Mesh, result: MatchResult) -> np.ndarray | None:
    """Rotation that best lays the partial over its match, so that both are seen from one side.

    Kabsch's solution, weighted by confidence; None if too little is matched to have one.
    """
    matched = result.face >= 0
    if matched.sum() < 3:
        return None
    weights = np.nan_to_num(result.confidence[matched].astype(np.float64))
    weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1.0)
    source = partial.vertices[matched]
    target = result.points[matched].positions(full)
    source = source - np.average(source, axis=0, weights=weights)
    target = target - np.average(target, axis=0, weights=weights)
    left, _, right = np.linalg.svd((source * weights[:, None]).T @ target)
    handed = np.diag([1, 1, np.sign(np.linalg.det(left @ right))])
    return right.T @ handed @ left.T


def _packed(array: np.ndarray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")
