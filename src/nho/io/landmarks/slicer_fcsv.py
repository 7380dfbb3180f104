"""3D Slicer's older point lists (`.fcsv`): a CSV without column names, under lines with `#`."""

from __future__ import annotations

import csv
import io

from nho.errors import InputError
from nho.io.landmarks.parsing import from_text, short, text_of
from nho.io.landmarks.points import Landmarks, Rows

_VERSION, _SYSTEM = "markups fiducial file version", "coordinatesystem"
_SYSTEMS = {"RAS": "RAS", "0": "RAS", "LPS": "LPS", "1": "LPS"}
_LABEL, _STATUS = 11, 14  # columns; the status is there since Slicer 5, without a heading
_DEFINED = "2"  # 0 is undefined, 3 is missing
_HEADER = (
    "# Markups fiducial file version = 4.11\n# CoordinateSystem = {axes}\n"
    "# columns = id,x,y,z,ow,ox,oy,oz,vis,sel,lock,label,desc,associatedNodeID\n"
)


def read(data: bytes, name: str) -> Landmarks:
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
    return rows.landmarks()


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


def write(landmarks: Landmarks) -> bytes:
    """Version 4.11; with the two columns of Slicer 5 for the status if a point is missing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    with_status = not landmarks.defined.all()
    rows = zip(landmarks.names, landmarks.position.tolist(), landmarks.defined, strict=True)
    for number, (name, place, there) in enumerate(rows, 1):
        xyz = [repr(value) for value in place] if there else [0, 0, 0]
        status = [_DEFINED if there else 0, 0] if with_status else []
        writer.writerow([number, *xyz, 0, 0, 0, 1, 1, 1, 0, name, "", "", *status])
    return (_HEADER.format(axes=landmarks.axes or "LPS") + text.getvalue()).encode()
