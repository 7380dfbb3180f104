"""CSV tables: pairs (vertex indices or coordinates of both shapes), or the points of one shape."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.io.landmarks.pairing import LandmarkPairs
from nho.io.landmarks.parsing import from_text, is_nan
from nho.io.landmarks.placing import index_pairs
from nho.io.landmarks.points import Landmarks
from nho.io.landmarks.rows import POSITION, VERTEX, Rows, numbered
from nho.runtime.csv_table import csv_rows

INDEX_COLUMNS = ("partial", "full")
POSITION_COLUMNS = ("partial_x", "partial_y", "partial_z", "full_x", "full_y", "full_z")
# Coordinates of one shape: plain, and as Slicer exports them to CSV.
_AXES: dict[tuple[str, ...], str] = {
    ("x", "y", "z"): "",
    ("l", "p", "s"): "LPS",
    ("r", "a", "s"): "RAS",
}
_NAMES = ("name", "label")
_PAIRS = f"{','.join(INDEX_COLUMNS)} or {','.join(POSITION_COLUMNS)}"
_POINTS = "name,x,y,z or name,vertex"
_WANTED = "give 2 (vertex indices) or 6 (coordinates)"
_NOT_DEFINED = ("0", "false", "no")
_MISSING = "NA"  # in a table of points of one shape: what R and others read as missing


@dataclass(frozen=True)
class _Table:
    """A header (given, or implied by the number of columns) and rows with their line numbers."""

    source: str
    header: list[str]
    rows: list[tuple[int, list[str]]]

    def has(self, *columns: str) -> bool:
        return set(columns) <= set(self.header)

    def cells(self, row: list[str], columns: Sequence[str]) -> list[str]:
        where = [self.header.index(column) for column in columns]
        return [row[at].strip() if at < len(row) else "" for at in where]

    def name(self, row: list[str]) -> str:
        column = next((column for column in _NAMES if column in self.header), None)
        return self.cells(row, [column])[0] if column else ""

    def numbers(
        self, line: int, row: list[str], columns: Sequence[str], may_miss: bool
    ) -> list[float] | None:
        """The numbers in these cells; None if all are empty and may be."""
        cells = self.cells(row, columns)
        if may_miss and not any(cells):
            return None
        for column, cell in zip(columns, cells, strict=True):
            if not cell:
                raise InputError(
                    f"{self.source}: line {line} has no {column!r}; fill it in or delete the line"
                )
            if from_text(cell) is None:
                raise InputError(
                    f"{self.source}: line {line}: {column} = {cell!r} is not a number; correct it "
                    "(decimals take a point, or semicolons between the cells)"
                )
        return [float(cell) for cell in cells]


def read_pairs(data: bytes, name: str, unfinished: bool = False) -> LandmarkPairs:
    """Pairs; without a header, two columns are indices and six are coordinates.

    Parameters
    ----------
    unfinished : bool
        Empty cells are points still to be marked; else they are refused.
    """
    implied = {2: INDEX_COLUMNS, 6: POSITION_COLUMNS}
    table = _read(data, name, implied, _WANTED)
    if table.has(*INDEX_COLUMNS):
        sides = _index_sides(table, unfinished)
    elif table.has(*POSITION_COLUMNS):
        sides = _position_sides(table, unfinished)
    else:
        one = _point_columns(table)
        raise InputError(
            f"{name}: the columns are {', '.join(table.header)}; expected {_PAIRS}"
            + ("; for points of one shape, give a file for each shape" if one else "")
        )
    partial, full = (Landmarks.of(rows) for rows in sides)
    return LandmarkPairs(partial, full, partial.names, (), name)


def _index_sides(table: _Table, unfinished: bool) -> tuple[Rows, Rows]:
    partial, full = (Rows(table.source, shape=side) for side in INDEX_COLUMNS)
    found: list[list[float]] = []
    for line, row in table.rows:
        each = [table.numbers(line, row, [column], unfinished) for column in INDEX_COLUMNS]
        found.append([np.nan if value is None else value[0] for value in each])
    values = np.array(found, dtype=np.float64).reshape(-1, 2)
    empty = np.isnan(values) & unfinished
    names = [table.name(row) or str(number) for number, (_, row) in enumerate(table.rows, 1)]
    whole = index_pairs(np.where(empty, 0, values), names, table.source)
    for (_, row), pair, gone in zip(table.rows, whole.tolist(), empty.tolist(), strict=True):
        for rows, index, missing in zip((partial, full), pair, gone, strict=True):
            if missing:
                rows.missing(table.name(row))
            else:
                rows.vertex(table.name(row), index)
    return partial, full


def _position_sides(table: _Table, unfinished: bool) -> tuple[Rows, Rows]:
    partial, full = (Rows(table.source, shape=side) for side in INDEX_COLUMNS)
    for line, row in table.rows:
        for rows, columns in ((partial, POSITION_COLUMNS[:3]), (full, POSITION_COLUMNS[3:])):
            place = table.numbers(line, row, columns, unfinished)
            rows.position(table.name(row), [np.nan] * 3 if place is None else place)
    return partial, full


def read(data: bytes, name: str) -> Landmarks:
    """Points of one shape: ``x,y,z``, ``l,p,s``, ``r,a,s`` or ``vertex``, and a name or label.

    A column ``defined`` with 0 means that the point is not set. Without a header, three columns
    are coordinates and four are a name and coordinates.
    """
    xyz = ("x", "y", "z")
    table = _read(data, name, {3: xyz, 4: ("name", *xyz)}, "give x,y,z or name,x,y,z")
    columns = _point_columns(table)
    if columns is None:
        pairs = table.has(*INDEX_COLUMNS) or table.has(*POSITION_COLUMNS)
        raise InputError(
            f"{name}: the columns are {', '.join(table.header)}; expected {_POINTS}"
            + ("; a file of pairs is given alone" if pairs else "")
        )
    rows = Rows(name, axes=_AXES.get(columns, ""))
    for line, row in table.rows:
        defined = table.cells(row, ["defined"])[0] if table.has("defined") else "1"
        gone = all(cell.upper() in ("", _MISSING) for cell in table.cells(row, columns))
        place = None if gone else table.numbers(line, row, columns, may_miss=True)
        if place is None or defined.lower() in _NOT_DEFINED:
            rows.missing(table.name(row))
        elif len(columns) == 3:
            rows.position(table.name(row), place)
        else:
            pair = np.array([place * 2], dtype=np.float64)
            shown = table.name(row) or str(len(rows))
            rows.vertex(table.name(row), int(index_pairs(pair, [shown], name)[0, 0]))
    return Landmarks.of(rows)


def holds_pairs(data: bytes, name: str) -> bool:
    """Whether a table is one of pairs; what is neither is taken for one, to be refused there."""
    implied = {2: INDEX_COLUMNS, 6: POSITION_COLUMNS, 3: ("x", "y", "z"), 4: ("x", "y", "z")}
    return _point_columns(_read(data, name, implied, _WANTED)) is None


def _point_columns(table: _Table) -> tuple[str, ...] | None:
    for columns in (*_AXES, ("vertex",)):
        if table.has(*columns):
            return columns
    return None


def _read(data: bytes, name: str, implied: dict[int, tuple[str, ...]], wanted: str) -> _Table:
    lines = csv_rows(data, name, numbers=True, text=_NAMES)
    if not lines:
        raise InputError(f"{name}: there are no anchors in this file; mark matching points")
    first = [cell.strip().lower() for cell in lines[0][1]]
    if any(from_text(cell) is not None for cell in first):
        header = implied.get(len(first))
        if header is None:
            raise InputError(
                f"{name}: line {lines[0][0]} has {len(first)} columns and there is no header; "
                f"{wanted}"
            )
        return _checked(_Table(name, list(header), lines))
    if len(lines) == 1:
        raise InputError(f"{name}: there are no anchors below the header; mark matching points")
    return _checked(_Table(name, first, lines[1:]))


def _checked(table: _Table) -> _Table:
    """Refuse a row that is longer than the header: its cells would be taken for others."""
    for line, row in table.rows:
        if any(cell.strip() for cell in row[len(table.header) :]):
            raise InputError(
                f"{table.source}: line {line} has {len(row)} cells but there are "
                f"{len(table.header)} columns; separate cells by semicolons if decimals have "
                "commas, and put quotes around a name with a comma in it"
            )
    return table


def write(landmarks: Landmarks) -> bytes:
    """Points of one shape, all as vertices or all as coordinates, and what is known of them.

    Missing points are NA.
    """
    there = landmarks.defined
    if (landmarks.kind[there] == VERTEX).all() and not landmarks.facts:
        header, cells = ["vertex"], _index_cells(landmarks)
    else:
        axes = {said: columns for columns, said in _AXES.items()}[landmarks.axes]
        header, cells = list(axes), _position_cells(landmarks)
    cells = [[_MISSING if cell == "" else cell for cell in row] for row in cells]
    for name, values in landmarks.facts.items():
        header.append(name)
        for row, value in zip(cells, values.tolist(), strict=True):
            row.append(_MISSING if is_nan(value) else value)
    return _written(header, cells, landmarks.names if landmarks.named else None)


def write_pairs(pairs: LandmarkPairs) -> bytes:
    """Pairs, all as vertices or all as coordinates; missing points have empty cells."""
    sides = (pairs.partial, pairs.full)
    by_position = any((side.kind == POSITION).any() for side in sides)
    columns = POSITION_COLUMNS if by_position else INDEX_COLUMNS
    cells = [_position_cells(side) if by_position else _index_cells(side) for side in sides]
    joined = [[*first, *second] for first, second in zip(*cells, strict=True)]
    named = pairs.partial.named or pairs.full.named
    return _written(list(columns), joined, pairs.names if named else None)


def _index_cells(landmarks: Landmarks) -> list[list[object]]:
    rows = zip(landmarks.vertex.tolist(), landmarks.defined, strict=True)
    return [[vertex if there else ""] for vertex, there in rows]


def _position_cells(landmarks: Landmarks) -> list[list[object]]:
    places = [place for _, place in landmarks.named_positions()]
    return [[*map(repr, place)] if place else [""] * 3 for place in places]


def _written(header: list[str], cells: list[list[object]], names: Sequence[str] | None) -> bytes:
    if names is None and not all(any(cell != "" for cell in row) for row in cells):
        # A row of empty cells would be no row, and later points would move up.
        names = numbered(len(cells))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    # Slicer, whose columns l,p,s are, looks for a label.
    first = "label" if _AXES.get(tuple(header[:3])) else "name"
    writer.writerow(header if names is None else [first, *header])
    for number, row in enumerate(cells):
        writer.writerow(row if names is None else [names[number], *row])
    return text.getvalue().encode()
