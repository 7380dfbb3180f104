"""Faceform Wrap's points on triangles (`.txt`, `.json`): a JSON list, or an object by name."""

from typing import Any

from nho.errors import InputError
from nho.io.landmarks import morphologika
from nho.io.landmarks.morphologika import is_morphologika
from nho.io.landmarks.parsing import (
    an_index,
    document_of,
    from_text,
    json_bytes,
    numbers,
    short,
    text_of,
)
from nho.io.landmarks.points import Landmarks
from nho.io.landmarks.rows import Rows

_SAVE = "save them in Wrap as Point On Triangle or Named Point On Triangle"


def read(data: bytes, name: str) -> Landmarks:
    """``[[triangle, u, v], ...]``, ``{"name": [triangle, u, v], ...}`` or a point on each line.

    Morphologika's files have the same suffix; their first line says which they are.
    """
    text = text_of(data, name)
    if is_morphologika(text):
        return morphologika.read(data, name)
    if text.lstrip()[:1] in ("[", "{"):
        return parse(document_of(data, name), name)
    rows = Rows(name)
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.replace(",", " ").replace(";", " ").split()
        if not cells or cells[0].startswith("#"):
            continue
        values = [from_text(cell) for cell in cells]
        if len(values) != 3 or None in values:
            raise InputError(
                f"{name}: line {number} is {short(line)}, not a triangle and its u and v; {_SAVE} "
                "(a table of anchors has the suffix .csv)"
            )
        _read_point("", values, f"line {number}", rows)
    return Landmarks.of(rows)


def parse(document: Any, name: str) -> Landmarks:
    """The same from a JSON document."""
    rows = Rows(name)
    if isinstance(document, dict):
        for key, point in document.items():
            _read_point(key, point, f"point {short(key)}", rows)
    elif isinstance(document, list):
        for number, point in enumerate(document):
            _read_point("", point, f"point {number}", rows)
    else:
        raise InputError(f"{name}: it holds {short(document)}, not a list of points; {_SAVE}")
    return Landmarks.of(rows)


def _read_point(name: str, point: Any, what: str, rows: Rows) -> None:
    index, u, v = numbers(point, 3, what, rows.source)
    # Coordinates are no triangle with u and v: their fractions and size show it.
    if index != index // 1 or not (abs(u) < 2 and abs(v) < 2):
        raise InputError(
            f"{rows.source}: {what} is {index:.6g}, {u:.6g}, {v:.6g}, not a triangle and its u "
            f"and v; {_SAVE}"
        )
    # Wrap's point is A u + B v + C (1 - u - v).
    rows.face(name, an_index(point[0], what, rows.source), [u, v, 1 - u - v])


def write(landmarks: Landmarks) -> bytes:
    """By name if names are known and differ, else as a list; missing points are left out."""
    kept = landmarks[landmarks.defined]
    points = [
        [face, u, v]
        for face, (u, v, _) in zip(kept.face.tolist(), kept.barycentric.tolist(), strict=True)
    ]
    if kept.named and len(set(kept.names)) == len(kept.names):
        return json_bytes(dict(zip(kept.names, points, strict=True)))
    return json_bytes(points)
