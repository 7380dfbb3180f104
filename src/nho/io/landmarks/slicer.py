"""3D Slicer's point lists: Markups JSON (`.mrk.json`), and the older tables (`.fcsv`).

A `.fcsv` file is a CSV without column names, under lines with `#`.
"""

import csv
import io
from typing import Any

from nho.errors import InputError
from nho.io.landmarks.parsing import (
    a_list,
    a_text,
    an_object,
    from_text,
    json_bytes,
    numbers,
    short,
    text_of,
)
from nho.io.landmarks.points import Landmarks
from nho.io.landmarks.rows import Rows

_SCHEMA = (
    "https://raw.githubusercontent.com/slicer/slicer/master/Modules/Loadable/Markups/Resources/"
    "Schema/markups-schema-v1.0.3.json#"
)
_VERSION, _SYSTEM = "markups fiducial file version", "coordinatesystem"
_SYSTEMS = {"RAS": "RAS", "0": "RAS", "LPS": "LPS", "1": "LPS"}
_LABEL, _STATUS = 11, 14  # columns; the status is there since Slicer 5, without a heading
_DEFINED = "2"  # 0 is undefined, 3 is missing
_HEADER = (
    "# Markups fiducial file version = 4.11\n# CoordinateSystem = {axes}\n"
    "# columns = id,x,y,z,ow,ox,oy,oz,vis,sel,lock,label,desc,associatedNodeID\n"
)


def parse_markups(document: Any, name: str) -> Landmarks:
    """Control points of all markups in the document."""
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
    return Landmarks.of(rows)


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


def write_markups(landmarks: Landmarks) -> bytes:
    """One point list; in LPS, as Slicer takes meshes to be, unless the axes are known as RAS."""
    points = [
        {
            "id": str(number),
            "label": name,
            "description": about,
            "position": place or "",
            "positionStatus": "defined" if place else "undefined",
        }
        for number, ((name, place), about) in enumerate(
            zip(landmarks.named_positions(), landmarks.described(), strict=True), 1
        )
    ]
    axes = landmarks.axes or "LPS"
    markup = {"type": "Fiducial", "coordinateSystem": axes, "controlPoints": points}
    return json_bytes({"@schema": _SCHEMA, "markups": [markup]})


def read_fcsv(data: bytes, name: str) -> Landmarks:
    """All points; a file without a version is Slicer 3's: label,x,y,z,... in RAS."""
    lines = text_of(data, name).splitlines()
    facts = {}
    for line in lines:
        key, is_fact, value = line.lstrip("# ").partition("=")
        if line.startswith("#") and is_fact:
            facts[key.strip().lower()] = value.strip()
    versioned = _VERSION in facts
    system = facts.get(_SYSTEM, "" if versioned else "RAS")
    if system and system.upper() not in _SYSTEMS:
        raise InputError(
            f"{name}: its CoordinateSystem is {short(system)}, only LPS and RAS are known; save "
            "it in LPS"
        )
    rows = Rows(name, axes=_SYSTEMS.get(system.upper(), ""))
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            _read_line(line, number, versioned, rows)
    return Landmarks.of(rows)


def _read_line(line: str, number: int, versioned: bool, rows: Rows) -> None:
    try:
        cells = next(csv.reader([line]))
    except csv.Error as problem:
        raise InputError(f"{rows.source}: line {number} is no row of a table ({problem})") from None
    label = cells[0] if not versioned else cells[_LABEL] if len(cells) > _LABEL else ""
    places = [from_text(cell) for cell in cells[1:4]]
    if len(places) < 3 or None in places:
        raise InputError(
            f"{rows.source}: line {number} has no three coordinates after its first cell; export "
            "it again from Slicer"
        )
    if versioned and len(cells) > _STATUS and cells[_STATUS].strip() not in ("", _DEFINED):
        rows.missing(label)
    else:
        rows.position(label, [place for place in places if place is not None])


def write_fcsv(landmarks: Landmarks) -> bytes:
    """Version 4.11; with the two columns of Slicer 5 for the status if a point is missing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    with_status = not landmarks.defined.all()
    about = landmarks.described()
    for number, (name, place) in enumerate(landmarks.named_positions(), 1):
        xyz = map(repr, place) if place else [0, 0, 0]
        status = [_DEFINED if place else 0, 0] if with_status else []
        writer.writerow([number, *xyz, 0, 0, 0, 1, 1, 1, 0, name, about[number - 1], "", *status])
    return (_HEADER.format(axes=landmarks.axes or "LPS") + text.getvalue()).encode()
