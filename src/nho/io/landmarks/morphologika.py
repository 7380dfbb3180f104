"""Morphologika files (`.txt`): sections in brackets, points without names, 9999 = missing."""

import re
from collections.abc import Sequence

import numpy as np

from nho.errors import InputError
from nho.io.landmarks.parsing import clean_name, from_text, text_of
from nho.io.landmarks.points import Landmarks
from nho.io.landmarks.tps import only_specimen, positions_of

_MISSING = 9999.0  # in all coordinates of a point
_SECTION = re.compile(r"\[([a-z ]+)\]", re.IGNORECASE)
_EXPORT = "export it again"


def is_morphologika(text: str) -> bool:
    """Whether a text begins with a section."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return _SECTION.fullmatch(first) is not None


def parse(data: bytes, name: str) -> tuple[list[str], np.ndarray]:
    """Names of the specimens and (n, p, 3) positions; NaN = missing."""
    sections: dict[str, list[str]] = {}
    for line in map(str.strip, text_of(data, name).splitlines()):
        found = _SECTION.fullmatch(line)
        if found:
            current = sections.setdefault(found[1].strip().lower(), [])
        elif line and sections:
            current.append(line)
    count, points, axes = (
        _number(sections, key, name) for key in ("individuals", "landmarks", "dimensions")
    )
    if axes != 3:
        raise InputError(
            f"{name}: its points have {axes} dimensions; give those of the mesh, which have 3"
        )
    rows = [row.split() for row in sections.get("rawpoints", []) if not row.startswith("'")]
    values = [[from_text("nan" if cell == "NA" else cell) for cell in row] for row in rows]
    if len(rows) != count * points or not all(len(row) == 3 and None not in row for row in values):
        raise InputError(
            f"{name}: [rawpoints] does not hold {count} times {points} lines of three numbers; "
            f"{_EXPORT}"
        )
    positions = np.array(values, dtype=np.float64).reshape(count, points, 3)
    positions[(np.abs(positions) == _MISSING).all(axis=2)] = np.nan
    names = sections.get("names", [])
    if len(names) != count:
        names = [str(number + 1) for number in range(count)]
    return [clean_name(each) for each in names], positions


def _number(sections: dict[str, list[str]], key: str, name: str) -> int:
    found = from_text((sections.get(key) or [""])[0])
    if found is None or not (1 <= found < 2**31 and found == int(found)):
        raise InputError(f"{name}: there is no whole number below [{key}]; {_EXPORT}")
    return int(found)


def write(names: Sequence[str], positions: np.ndarray) -> bytes:
    """All specimens, numbers with every digit."""
    clean = [clean_name(name) for name in names]
    lines = ["[individuals]", str(len(names)), "[landmarks]", str(positions.shape[1])]
    lines += ["[dimensions]", "3", "[names]", *clean, "[rawpoints]"]
    for name, points in zip(clean, positions, strict=True):
        known = np.where(np.isnan(points), _MISSING, points)
        lines += [f"'{name}", *(" ".join(map(repr, point)) for point in known.tolist())]
    return ("\n".join(lines) + "\n").encode()


def read(data: bytes, name: str) -> Landmarks:
    """The points of a file with one specimen."""
    return only_specimen(*parse(data, name), name)


def write_one(landmarks: Landmarks) -> bytes:
    """A file with one specimen."""
    return write(["1"], positions_of(landmarks))
