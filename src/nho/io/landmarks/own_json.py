"""nho's own JSON (`.json`): pairs or points, each a vertex, a place in a face, or coordinates."""

from typing import Any

from nho.errors import InputError
from nho.io.landmarks.pairing import LandmarkPairs
from nho.io.landmarks.parsing import (
    a_list,
    a_text,
    an_index,
    an_object,
    is_nan,
    json_bytes,
    numbers,
    short,
)
from nho.io.landmarks.points import Landmarks
from nho.io.landmarks.rows import FACE, VERTEX, Rows

_SIDES = ("partial", "full")


def holds_pairs(document: Any) -> bool:
    """Whether the document is one of pairs (and not of points)."""
    if isinstance(document, dict):
        return "pairs" in document
    return isinstance(document, list) and any(
        isinstance(entry, dict) and set(_SIDES) & set(entry) for entry in document
    )


def parse_pairs(document: Any, name: str) -> LandmarkPairs:
    """``{"pairs": [{"name": ..., "partial": point, "full": point}, ...]}`` or the list alone."""
    entries, axes = _entries(document, "pairs", name)
    axes_of = axes if isinstance(axes, dict) else {}
    sides = [Rows(name, _axes(axes_of.get(side), name), side) for side in _SIDES]
    for number, entry in enumerate(entries):
        pair = an_object(entry, f"pair {number}", name)
        label = a_text(pair.get("name"), f"the name of pair {number}", name)
        for side, rows in zip(_SIDES, sides, strict=True):
            _read_point(label, pair.get(side), f"{side} of pair {label or number}", rows)
    partial, full = (Landmarks.of(rows) for rows in sides)
    return LandmarkPairs(partial, full, partial.names, (), name)


def parse(document: Any, name: str) -> Landmarks:
    """``{"points": [{"name": ..., "vertex": ...}, ...]}`` or the list alone."""
    entries, axes = _entries(document, "points", name)
    rows = Rows(name, _axes(axes, name))
    for number, entry in enumerate(entries):
        point = an_object(entry, f"point {number}", name)
        label = a_text(point.get("name"), f"the name of point {number}", name)
        _read_point(label, point, f"point {label or number}", rows)
    return Landmarks.of(rows)


def _entries(document: Any, key: str, name: str) -> tuple[list[Any], Any]:
    if isinstance(document, list):
        return document, None
    file = an_object(document, "the file", name)
    if file.get("version", 1) != 1:
        raise InputError(
            f"{name}: its version is {short(file['version'])}, this nho reads 1; use a newer nho"
        )
    return a_list(file.get(key), f"`{key}`", name), file.get("axes")


def _axes(value: Any, name: str) -> str:
    if value not in (None, "", "LPS", "RAS"):
        raise InputError(f"{name}: `axes` is {short(value)}; write LPS, RAS or nothing")
    return value or ""


def _read_point(label: str, value: Any, what: str, rows: Rows) -> None:
    point = an_object({} if value is None else value, what, rows.source)
    known = [key for key in ("vertex", "face", "position") if point.get(key) is not None]
    if len(known) > 1:
        raise InputError(
            f"{rows.source}: {what} has both {known[0]} and {known[1]}; give one of them"
        )
    if not known:
        rows.missing(label)
    elif known[0] == "vertex":
        rows.vertex(label, an_index(point["vertex"], what, rows.source))
    elif known[0] == "face":
        weights = numbers(point.get("barycentric"), 3, f"`barycentric` of {what}", rows.source)
        rows.face(label, an_index(point["face"], what, rows.source), weights)
    else:
        rows.position(label, numbers(point["position"], 3, what, rows.source))


def write(landmarks: Landmarks) -> bytes:
    """Points of one shape."""
    points = []
    for row, name in enumerate(landmarks.names):
        point = {**(_point(landmarks, row) or {}), **_facts(landmarks, row)}
        points.append({"name": name, **point} if landmarks.named else point)
    axes = {"axes": landmarks.axes} if landmarks.axes else {}
    return json_bytes({"format": "nho landmarks", "version": 1, **axes, "points": points})


def _facts(landmarks: Landmarks, row: int) -> dict[str, Any]:
    """What else is known of a point; null = nothing."""
    values = {name: column[row].item() for name, column in landmarks.facts.items()}
    return {name: None if is_nan(value) else value for name, value in values.items()}


def write_pairs(pairs: LandmarkPairs) -> bytes:
    """Pairs."""
    named = pairs.partial.named or pairs.full.named
    entries = []
    for row, name in enumerate(pairs.names):
        sides = {"partial": _point(pairs.partial, row), "full": _point(pairs.full, row)}
        entries.append({"name": name, **sides} if named else sides)
    axes_of = {"partial": pairs.partial.axes, "full": pairs.full.axes}
    axes = {"axes": axes_of} if any(axes_of.values()) else {}
    return json_bytes({"format": "nho anchors", "version": 1, **axes, "pairs": entries})


def _point(landmarks: Landmarks, row: int) -> dict[str, Any] | None:
    kind = landmarks.kind[row]
    if not kind:
        return None
    if kind == VERTEX:
        return {"vertex": int(landmarks.vertex[row])}
    if kind == FACE:
        weights = landmarks.barycentric[row].tolist()
        return {"face": int(landmarks.face[row]), "barycentric": weights}
    return {"position": landmarks.position[row].tolist()}
