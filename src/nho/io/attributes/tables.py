"""Attributes in CSV: a header with names, then one row for each vertex (or each face).

A first column ``vertex`` or ``face`` numbers the rows; without it, the number of rows decides. A
column of whole numbers is a label, one of decimals a scalar (an empty cell is NaN), one of
``true`` and ``false`` a selection, and anything else a label in words.
"""

from __future__ import annotations

import csv
import io

import numpy as np

from nho.errors import InputError
from nho.io.attributes.columns import joined, split
from nho.io.attributes.model import Array, Attributes

_TRUTH = {"true": True, "false": False}
_LARGEST = 2**63 - 1
_LONGEST = 200  # characters of a cell: every row of a column of words takes as much as the longest


def read_csv(data: bytes, name: str, n_vertices: int, n_faces: int, faces: Array) -> Attributes:
    """Attributes of a mesh with (m, 3) faces out of the text of a CSV file."""
    try:
        text = data.decode("utf-8-sig")
        table = [
            row
            for row in csv.reader(io.StringIO(text, newline=""))
            if any(cell.strip() for cell in row)
        ]
    except (UnicodeDecodeError, csv.Error) as problem:
        raise InputError(f"{name}: not a CSV table ({problem}); save it as CSV in UTF-8") from None
    if len(table) < 2:
        raise InputError(f"{name}: there are no rows below a header; give names and then the rows")
    header = [cell.strip() for cell in table[0]]
    _check_header(header, name)
    rows = table[1:]
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise InputError(
                f"{name}: row {number} has {len(row)} cells but the header has {len(header)}; "
                "correct it"
            )
    columns = {}
    for at, key in enumerate(header):
        cells = [row[at].strip() for row in rows]
        if max(map(len, cells)) > _LONGEST:
            raise InputError(f"{name}: a cell of column {key!r} is too long; is it a CSV table?")
        columns[key] = _column(cells)
    per_face = _is_per_face(columns, len(rows), n_vertices, n_faces, name)
    arrays, uv = joined(columns)
    if per_face:
        return Attributes(face=arrays)
    return Attributes(vertex=arrays, uv=None if uv is None else uv[faces])


def _check_header(header: list[str], name: str) -> None:
    if all(_is_number(cell) for cell in header):
        raise InputError(f"{name}: the first row holds numbers; name the columns there")
    for at, cell in enumerate(header):
        if not cell or cell in header[:at]:
            raise InputError(
                f"{name}: column {at} of the header is {cell!r}, which is empty or there twice; "
                "give every column a name of its own"
            )


def _is_per_face(
    columns: dict[str, Array], n_rows: int, n_vertices: int, n_faces: int, name: str
) -> bool:
    """Whether the rows are faces; the column that numbers them is taken out."""
    for key, count in (("vertex", n_vertices), ("face", n_faces)):
        numbers = columns.get(key)
        if numbers is None or next(iter(columns)) != key:
            continue
        if n_rows != count or not np.array_equal(numbers, np.arange(count)):
            raise InputError(
                f"{name}: its column {key!r} should count from 0 to {count - 1}, one row for each "
                f"{key} of the mesh, but it has {n_rows} rows or another order; sort it"
            )
        del columns[key]
        return key == "face"
    if n_rows not in (n_vertices, n_faces):
        raise InputError(
            f"{name}: it has {n_rows} rows but the mesh has {n_vertices} vertices and {n_faces} "
            "faces; give one row for each"
        )
    return n_rows != n_vertices


def _column(cells: list[str]) -> Array:
    """The cells in the simplest type that holds them all."""
    lower = {cell.lower() for cell in cells}
    if lower <= set(_TRUTH):
        return np.array([_TRUTH[cell.lower()] for cell in cells], dtype=bool)
    if all(_is_whole(cell) for cell in cells):
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    if all(not cell or _is_number(cell) for cell in cells) and lower != {""}:
        return np.array([float(cell) if cell else np.nan for cell in cells])
    return np.array(cells, dtype=np.str_)


def _is_whole(cell: str) -> bool:
    digits = cell.removeprefix("-").removeprefix("+")
    short = digits.isascii() and digits.isdigit() and len(digits) < 20
    return short and abs(int(cell)) <= _LARGEST


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return cell.isascii() and "_" not in cell


def csv_text(arrays: dict[str, Array], uv: Array | None, of: str, count: int) -> bytes:
    """A table with one row for each vertex or face (``of``); NaN is an empty cell."""
    columns = split(arrays, uv, ("u", "v"), (of,))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([of, *columns])
    cells = [_cells(values) for values in columns.values()]
    writer.writerows(zip(range(count), *cells))
    return text.getvalue().encode()


def _cells(values: Array) -> list[object]:
    if values.dtype.kind == "b":
        return ["true" if value else "false" for value in values.tolist()]
    if values.dtype.kind != "f":
        return list(values.tolist())
    # As short as tells it apart in its own type, and with a point even if it is whole.
    return ["" if np.isnan(value) else str(value) for value in values]
