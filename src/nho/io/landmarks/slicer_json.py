"""3D Slicer's Markups JSON (`.mrk.json`): coordinates and labels of control points."""

from __future__ import annotations

from typing import Any

from nho.errors import InputError
from nho.io.landmarks.parsing import (
    a_list,
    a_text,
    an_object,
    document_of,
    json_bytes,
    numbers,
    short,
)
from nho.io.landmarks.points import Landmarks, Rows

_SCHEMA = (
    "https://raw.githubusercontent.com/slicer/slicer/master/Modules/Loadable/Markups/Resources/"
    "Schema/markups-schema-v1.0.3.json#"
)


def read(data: bytes, name: str) -> Landmarks:
    """Control points of all markups in the file."""
    return parse(document_of(data, name), name)


def parse(document: Any, name: str) -> Landmarks:
    """The same from the document."""
    markups = a_list(an_object(document, "the file", name).get("markups"), "`markups`", name)
    lists = [an_object(markup, "a markup", name) for markup in markups]
    lists = [markup for markup in lists if markup.get("controlPoints")]
    systems = {_axes(markup, name) for markup in lists}
    if len(systems) > 1:
        raise InputError(
            f"{name}: its markups are in LPS and in RAS; save each list to a file of its own"
        )
    rows = Rows(name, axes=systems.pop() if systems else "")
    for markup in lists:
        for point in a_list(markup["controlPoints"], "`controlPoints`", name):
            _read_point(an_object(point, "a control point", name), rows)
    if len(lists) > 1:
        rows.notes.append(f"{name}: the points of {len(lists)} markups are taken as one list")
    return rows.landmarks()


def _axes(markup: dict[str, Any], name: str) -> str:
    axes = a_text(markup.get("coordinateSystem", "LPS"), "`coordinateSystem`", name).upper()
    if axes not in ("LPS", "RAS"):
        raise InputError(
            f"{name}: its coordinateSystem is {short(axes)}, only LPS and RAS are known; save it "
            "in LPS"
        )
    return axes


def _read_point(point: dict[str, Any], rows: Rows) -> None:
    label = a_text(point.get("label"), "a label", rows.source)
    what = f"control point {label or len(rows)}"
    status = a_text(point.get("positionStatus", "defined"), "a positionStatus", rows.source)
    place = point.get("position")
    # A point that is not set has the status "undefined", "missing" or "preview", and "" for its
    # position.
    if status != "defined" or place in ("", None, []):
        rows.missing(label)
    else:
        rows.position(label, numbers(place, 3, what, rows.source))


def write(landmarks: Landmarks) -> bytes:
    """One point list; in LPS, as Slicer takes meshes to be, unless the axes are known as RAS."""
    points = []
    rows = zip(landmarks.names, landmarks.position.tolist(), landmarks.defined, strict=True)
    for number, (name, place, there) in enumerate(rows, 1):
        points.append(
            {
                "id": str(number),
                "label": name,
                "position": place if there else "",
                "positionStatus": "defined" if there else "undefined",
            }
        )
    markup = {
        "type": "Fiducial",
        "coordinateSystem": landmarks.axes or "LPS",
        "controlPoints": points,
    }
    return json_bytes({"@schema": _SCHEMA, "markups": [markup]})
