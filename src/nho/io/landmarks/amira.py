"""Landmark sets of Amira and Avizo (`.landmarkAscii`): coordinates in order, without names."""

import re

from nho.errors import InputError
from nho.io.landmarks.parsing import from_text, short, text_of
from nho.io.landmarks.points import Landmarks
from nho.io.landmarks.rows import Rows

_HEADER = """\
# Avizo 3D ASCII 2.0

define Markers {count}

Parameters {{
    NumSets 1,
    ContentType "LandmarkSet"
}}

Markers {{ float[3] Coordinates }} @1

# Data section follows
@1
"""
_COUNT = re.compile(r"^\s*define\s+Markers\s+(\d+)", re.IGNORECASE | re.MULTILINE)
_DATA = re.compile(r"^@1\s*$", re.MULTILINE)


def read(data: bytes, name: str) -> Landmarks:
    """The points of the first set."""
    text = text_of(data, name)
    count, start = _COUNT.search(text), _DATA.search(text)
    if count is None or start is None:
        raise InputError(
            f"{name}: there is no `define Markers` with data behind `@1`; save it again as ASCII"
        )
    lines = [line for line in text[start.end() :].splitlines() if line.strip()]
    rows = Rows(name)
    for line in lines[: int(count[1])]:
        place = [from_text(cell) for cell in line.split()]
        known = [value for value in place if value is not None]
        if len(place) != 3 or len(known) != 3:
            raise InputError(f"{name}: {short(line)} is not three numbers; save it again as ASCII")
        rows.position("", known)
    if len(rows) != int(count[1]):
        raise InputError(f"{name}: it says {count[1]} points and holds {len(rows)}; save it again")
    return Landmarks.of(rows)


def write(landmarks: Landmarks) -> bytes:
    """All points in order; a missing one is NaN, which R reads and Amira has no word for."""
    places = [place or [float("nan")] * 3 for _, place in landmarks.named_positions()]
    lines = [" ".join(map(repr, place)).replace("nan", "NaN") for place in places]
    return (_HEADER.format(count=len(lines)) + "\n".join(lines) + "\n").encode()
