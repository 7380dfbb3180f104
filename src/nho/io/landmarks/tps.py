"""TPS files (`.tps`) of tpsDig and its family: specimens one below the other, unnamed points.

``LM3=`` says how many points follow, one a line; ``ID=`` names the specimen and ``SCALE=`` is a
factor for its coordinates. A point that is missing is ``NA NA NA``, as R's geomorph wants it.
"""

import math
from collections.abc import Sequence

import numpy as np

from nho.errors import InputError
from nho.io.landmarks.parsing import clean_name, from_text, text_of
from nho.io.landmarks.points import Landmarks
from nho.io.landmarks.rows import Rows

_EXPORT = "export it again"


def parse(data: bytes, name: str) -> tuple[list[str], np.ndarray]:
    """Names of the specimens and (n, p, 3) positions; NaN = missing."""
    lines = [line.strip() for line in text_of(data, name).splitlines()]
    starts = [at for at, line in enumerate(lines) if line.upper().startswith("LM")]
    if not starts:
        raise InputError(f"{name}: there is no line LM3=... in it, so it is no TPS file; {_EXPORT}")
    names, found = [], []
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(lines)], strict=True), 1):
        names.append(_fact(lines[start:end], "ID") or str(number))
        scale = from_text(_fact(lines[start:end], "SCALE") or "1")
        if scale is None or not 0 < scale < float("inf"):
            raise InputError(f"{name}: specimen {names[-1]} has no valid SCALE; {_EXPORT}")
        found.append(scale * _points(lines, start, name))
    if len({len(points) for points in found}) > 1:
        raise InputError(
            f"{name}: its specimens have {min(map(len, found))} to {max(map(len, found))} points; "
            "all need the same ones"
        )
    return names, np.stack(found)


def _points(lines: list[str], start: int, name: str) -> np.ndarray:
    key, _, text = lines[start].partition("=")
    if key.strip().upper() != "LM3":
        raise InputError(
            f"{name}: line {start + 1} is {key.strip()}=, so these are points of an image; give "
            "those of the mesh (LM3=)"
        )
    count = int(text) if text.strip().isdecimal() and len(text) < 10 else -1
    rows = [line.split() for line in lines[start + 1 : start + 1 + max(count, 0)]]
    values = [[from_text("nan" if cell == "NA" else cell) for cell in row] for row in rows]
    if len(rows) != count or not all(len(row) == 3 and None not in row for row in values):
        raise InputError(
            f"{name}: below line {start + 1} there are no {text.strip()} lines of three numbers; "
            f"{_EXPORT}"
        )
    return np.array(values, dtype=np.float64).reshape(-1, 3)


def _fact(lines: list[str], key: str) -> str:
    for line in lines:
        found, is_fact, value = line.partition("=")
        if is_fact and found.strip().upper() == key:
            return clean_name(value)
    return ""


def write(names: Sequence[str], positions: np.ndarray) -> bytes:
    """All specimens, numbers with every digit."""
    blocks = []
    for name, points in zip(names, positions, strict=True):
        rows = [_row(point) for point in points.tolist()]
        # An equals sign would begin another fact.
        blocks += [f"LM3={len(points)}", *rows, f"ID={clean_name(name).replace('=', '-')}"]
    return ("\n".join(blocks) + "\n").encode()


def _row(point: list[float]) -> str:
    return " ".join("NA" if math.isnan(value) else repr(value) for value in point)


def read(data: bytes, name: str) -> Landmarks:
    """The points of a file with one specimen."""
    names, positions = parse(data, name)
    return only_specimen(names, positions, name)


def only_specimen(names: Sequence[str], positions: np.ndarray, name: str) -> Landmarks:
    """The points of the only specimen; a file with more of them is refused."""
    if len(names) != 1:
        raise InputError(
            f"{name}: it holds {len(names)} specimens, one is needed here; save {names[0]} or "
            "another one to a file of its own"
        )
    rows = Rows(name)
    for place in positions[0].tolist():
        rows.position("", place)
    return Landmarks.of(rows)


def positions_of(landmarks: Landmarks) -> np.ndarray:
    """(1, p, 3) positions of one specimen; NaN = missing."""
    return np.where(landmarks.defined[:, None], landmarks.position, np.nan)[None]


def write_one(landmarks: Landmarks) -> bytes:
    """A file with one specimen."""
    return write(["1"], positions_of(landmarks))
