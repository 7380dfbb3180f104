"""landmarker.io's and menpo's LJSON (`.ljson`), versions 1 to 3: points in labelled groups."""

from typing import Any

from nho.errors import InputError
from nho.io.landmarks.parsing import (
    a_list,
    a_text,
    an_index,
    an_object,
    json_bytes,
    numbers,
    short,
)
from nho.io.landmarks.points import Landmarks
from nho.io.landmarks.rows import Rows


def parse(document: Any, name: str) -> Landmarks:
    """All points; a label of one point is its name, others are followed by a number."""
    file = an_object(document, "the file", name)
    rows = Rows(name)
    version = file.get("version")
    if version == 1:
        for part in a_list(file.get("groups"), "`groups`", name):
            _read_labelled(an_object(part, "a group", name), rows)
    elif version == 2:
        _read_group(file, "", rows)
    elif version == 3:
        groups = an_object(file.get("groups"), "`groups`", name)
        for key, group in groups.items():
            prefix = f"{key}: " if len(groups) > 1 else ""
            _read_group(an_object(group, f"group {short(key)}", name), prefix, rows)
        if len(groups) > 1:
            rows.notes.append(f"{name}: the points of {len(groups)} groups are taken as one list")
    else:
        raise InputError(
            f"{name}: its version is {short(version)}, known are 1, 2 and 3; export it again"
        )
    return Landmarks.of(rows)


def _read_labelled(part: dict[str, Any], rows: Rows) -> None:
    """Version 1: the points stand within their label."""
    label = a_text(part.get("label"), "a label", rows.source)
    marks = a_list(part.get("landmarks"), "`landmarks`", rows.source)
    for number, mark in enumerate(marks):
        point = an_object(mark, "a landmark", rows.source).get("point")
        _read_point(label if len(marks) == 1 else f"{label} {number}".strip(), point, rows)


def _read_group(group: dict[str, Any], prefix: str, rows: Rows) -> None:
    """Versions 2 and 3: the points stand in one list, and labels refer to it."""
    marks = an_object(group.get("landmarks"), "`landmarks`", rows.source)
    points = a_list(marks.get("points"), "`points`", rows.source)
    names = [""] * len(points)
    for entry in a_list(group.get("labels", []), "`labels`", rows.source):
        label = an_object(entry, "a label", rows.source)
        text = a_text(label.get("label"), "a label", rows.source)
        mask = a_list(label.get("mask"), "a mask", rows.source)
        for number, value in enumerate(mask):
            row = an_index(value, f"the mask of {short(text)}", rows.source)
            if not 0 <= row < len(points):
                raise InputError(
                    f"{rows.source}: label {short(text)} refers to point {row} of {len(points)}; "
                    "export it again"
                )
            # A point may have several labels: its own label is better than a shared one.
            if not names[row] or len(mask) == 1:
                names[row] = text if len(mask) == 1 else f"{text} {number}"
    for row, point in enumerate(points):
        _read_point(prefix + names[row] if names[row] else "", point, rows)


def _read_point(name: str, point: Any, rows: Rows) -> None:
    values = a_list(point, f"point {len(rows)}", rows.source)
    if len(values) == 3 and all(value is None for value in values):
        rows.missing(name)
        return
    if len(values) == 2:
        raise InputError(
            f"{rows.source}: point {len(rows)} has two coordinates, so these are landmarks of an "
            "image; give those of the mesh"
        )
    rows.position(name, numbers(values, 3, f"point {len(rows)}", rows.source))


def write(landmarks: Landmarks) -> bytes:
    """Version 2, which landmarker.io and every menpo read; every point has its own label."""
    points = [[None] * 3 if place is None else place for _, place in landmarks.named_positions()]
    labels = [{"label": name, "mask": [row]} for row, name in enumerate(landmarks.names)]
    marks = {"points": points, "connectivity": []}
    return json_bytes({"labels": labels, "landmarks": marks, "version": 2})
