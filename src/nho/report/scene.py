"""What the 3D view of the report draws: geometry, colours and the map, packed for the browser."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from nho.geometry.mesh import Mesh
from nho.problem.result import MatchResult
from nho.report.colours import (
    UNMATCHED,
    position_colours,
    region_colours,
    scalar_colours,
    transfer_colours,
)
from nho.report.shown import Shown, shown
from nho.report.views import Frame, frame, framed, looking_at, turn_beside

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
    full_turn = looking_at(full)
    partial_turn = turn_beside(partial, full, full_turn, result.points, result.confidence)
    partial_frame, full_frame = frame(partial, partial_turn), frame(full, full_turn)
    colours, full_colours = view_colours(full, result)
    places = result.points[rows].positions(full)
    pairs = [drawn["partial"].row(anchors[:, 0]), drawn["full"].row(anchors[:, 1])]
    return {
        "partial": drawn_shape(partial, drawn["partial"], partial_frame, partial_turn, colours),
        "full": drawn_shape(full, drawn["full"], full_frame, full_turn, full_colours),
        "partner": packed(framed(places, full_frame), "<f4"),
        "partnerVertex": packed(result.vertex_map[rows], "<i4"),
        "confidence": packed(result.confidence[rows], "<f4"),
        "regionScore": packed(result.region_score[drawn["full"].vertex], "<f4"),
        "anchors": np.stack(pairs, axis=1).tolist(),
        "suspects": suspects,
        "nextAnchor": None if next_anchor is None else int(drawn["partial"].row(next_anchor)),
    }


def drawn_shape(
    mesh: Mesh,
    part: Shown,
    around: Frame,
    turn: np.ndarray,
    colours: dict[str, np.ndarray],
) -> dict[str, Any]:
    """One shape for a `ShapeView`; ``number`` holds the vertices as the user numbers them."""
    return {
        "positions": packed(framed(mesh.vertices[part.vertex], around), "<f4"),
        "faces": packed(part.faces, "<u4"),
        "number": packed(part.vertex, "<u4"),
        "rotation": turn.tolist(),
        "colours": {view: packed(rows[part.vertex], "u1") for view, rows in colours.items()},
    }


def view_colours(
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


def packed(array: np.ndarray, kind: str) -> str:
    """The array's numbers as base64, for `unpack` of webgl.js."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")
