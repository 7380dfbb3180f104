"""`Specimens`: the same landmarks on many shapes, as morphometric programs keep them.

Three kinds of file, chosen by the suffix: TPS (``.tps``), Morphologika (``.morphologika.txt``) and
a table (``.csv``) with a row for each specimen and columns ``nasion.X, nasion.Y, nasion.Z, ...``,
which `arrayspecs` of R's geomorph turns into its p x k x n array.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.io.landmarks import morphologika, tps
from nho.io.landmarks.parsing import from_text
from nho.io.landmarks.points import Landmarks
from nho.runtime.atomic_file import write_whole
from nho.runtime.csv_table import csv_rows
from nho.runtime.input_file import blaming, read_bytes

SPECIMEN = "specimen"  # heading of the first column of a table
_AXES = "XYZ"


@dataclass(frozen=True)
class Specimens:
    """``p`` landmarks on ``n`` specimens.

    Attributes
    ----------
    names : (n,) names of the specimens.
    positions : (n, p, 3) float array, NaN = the specimen has no such landmark.
    landmarks : (p,) names of the landmarks; their numbers from 1 if there are none.
    """

    names: tuple[str, ...]
    positions: np.ndarray
    landmarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        count = self.positions.shape[1]
        if not self.landmarks:
            object.__setattr__(self, "landmarks", tuple(str(row + 1) for row in range(count)))
        if self.positions.shape != (len(self.names), len(self.landmarks), 3):
            raise InputError(
                f"positions have the shape {self.positions.shape}; give three coordinates for each "
                f"of {len(self.landmarks)} landmarks on {len(self.names)} specimens"
            )

    @classmethod
    def of(cls, name: str, landmarks: Landmarks) -> Specimens:
        """One specimen, from points with coordinates."""
        place = np.where(landmarks.defined[:, None], landmarks.position, np.nan)
        return cls((name,), place[None], landmarks.names)


def write_specimens(path: str | Path, specimens: Specimens) -> None:
    """Write all specimens to one file, whole or not at all."""
    path = Path(path)
    content = _format_of(path)[1](specimens)
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; make it first")
    write_whole(path, content)


def read_specimens(path: str | Path) -> Specimens:
    """All specimens of a file."""
    path = Path(path)
    read = _format_of(path)[0]
    with blaming(path):
        return read(read_bytes(path), str(path))


def _read_table(data: bytes, name: str) -> Specimens:
    lines = csv_rows(data, name, numbers=True, text=(SPECIMEN,))
    if len(lines) < 2:
        raise InputError(f"{name}: there are no specimens below the header; export it again")
    header = [cell.strip() for cell in lines[0][1]]
    columns = header[1:]
    triples = [columns[at : at + 3] for at in range(0, len(columns), 3)]
    landmarks = tuple(triple[0].removesuffix(".X") for triple in triples)
    wanted = [f"{mark}.{axis}" for mark in landmarks for axis in _AXES]
    if columns != wanted or not columns:
        raise InputError(
            f"{name}: the columns are {', '.join(header[:5])} ...; after the specimen's name they "
            "have to be name.X, name.Y, name.Z for each landmark"
        )
    names, rows = [], []
    for line, cells in lines[1:]:
        values = [from_text(cell.strip().replace("NA", "nan") or "nan") for cell in cells[1:]]
        if len(values) != len(columns) or None in values:
            raise InputError(
                f"{name}: line {line} does not hold {len(columns)} numbers (NA = missing) after "
                "its first cell; correct it"
            )
        names.append(cells[0].strip())
        rows.append(values)
    positions = np.array(rows, dtype=np.float64).reshape(len(rows), -1, 3)
    return Specimens(tuple(names), positions, landmarks)


def _write_table(specimens: Specimens) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header = [f"{mark}.{axis}" for mark in specimens.landmarks for axis in _AXES]
    writer.writerow([SPECIMEN, *header])
    for name, place in zip(specimens.names, specimens.positions, strict=True):
        cells = ["NA" if np.isnan(value) else repr(value) for value in place.ravel().tolist()]
        writer.writerow([name, *cells])
    return text.getvalue().encode()


def _from_pairs(
    parse: Callable[[bytes, str], tuple[list[str], np.ndarray]],
) -> Callable[[bytes, str], Specimens]:
    def read(data: bytes, name: str) -> Specimens:
        names, positions = parse(data, name)
        return Specimens(tuple(names), positions)

    return read


_FORMATS: dict[str, tuple[Callable[[bytes, str], Specimens], Callable[[Specimens], bytes]]] = {
    ".csv": (_read_table, _write_table),
    ".tps": (_from_pairs(tps.parse), lambda all_: tps.write(all_.names, all_.positions)),
    ".morphologika.txt": (
        _from_pairs(morphologika.parse),
        lambda all_: morphologika.write(all_.names, all_.positions),
    ),
}


def _format_of(
    path: Path,
) -> tuple[Callable[[bytes, str], Specimens], Callable[[Specimens], bytes]]:
    for suffix, found in _FORMATS.items():
        if path.name.lower().endswith(suffix):
            return found
    raise InputError(
        f"{path}: landmarks of many specimens are files with the suffix {', '.join(_FORMATS)}; "
        "give one of these"
    )
