"""Anchors in CSV files: vertex indices, or coordinates."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import numpy as np

from nho.anchors import Anchors
from nho.errors import InputError
from nho.mesh import Mesh

INDEX_COLUMNS = ("partial", "full")
POSITION_COLUMNS = ("partial_x", "partial_y", "partial_z", "full_x", "full_y", "full_z")


def read_anchors(path: str | Path, partial: Mesh, full: Mesh) -> Anchors:
    """Read a CSV of anchors.

    Columns ``partial,full`` hold vertex indices counted from 0; columns ``partial_x, partial_y,
    partial_z, full_x, full_y, full_z`` hold coordinates, projected to the surfaces. A column
    ``name`` is optional. Without a header, two columns are indices and six are coordinates.
    """
    path = Path(path)
    header, rows = _rows(path)
    columns = INDEX_COLUMNS if set(INDEX_COLUMNS) <= set(header) else POSITION_COLUMNS
    missing = [name for name in columns if name not in header]
    if missing:
        raise InputError(
            f"{path}: the columns are {', '.join(header)}; expected {','.join(INDEX_COLUMNS)} "
            f"or {','.join(POSITION_COLUMNS)}"
        )
    where = [header.index(name) for name in columns]
    values = np.array(
        [[_number(path, line, row, i, header) for i in where] for line, row in rows], dtype=float
    ).reshape(-1, len(columns))
    if "name" in header:
        at = header.index("name")
        names = tuple(row[at].strip() if at < len(row) else "" for _, row in rows)
        names = tuple(name or str(number) for number, name in enumerate(names))
    else:
        names = tuple(str(number) for number in range(len(rows)))
    if columns == INDEX_COLUMNS:
        return Anchors.from_vertices(partial, full, values, names, str(path))
    return Anchors.from_positions(partial, full, values[:, :3], values[:, 3:], names, str(path))


def write_anchors(path: str | Path, pairs: np.ndarray) -> None:
    """Write (m, 2) vertex indices; a full index of -1 leaves the cell empty, to be filled in."""
    path = Path(path)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(INDEX_COLUMNS)
    for p, q in np.asarray(pairs).tolist():
        writer.writerow([p, q if q >= 0 else ""])
    temporary = path.with_name(path.name + f".{os.getpid()}.tmp")
    try:
        temporary.write_text(text.getvalue(), encoding="utf-8")
        os.replace(temporary, path)
    except OSError as problem:
        temporary.unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written ({problem.strerror})") from problem


def _rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Header (given or implied by the number of columns) and the rows with their line numbers."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; give a CSV of anchors") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            f"{path}: cannot be read as text ({problem}); save it as CSV in UTF-8"
        ) from problem
    try:
        reader = csv.reader(io.StringIO(text, newline=""))
        table = [
            (reader.line_num, row)
            for row in reader
            if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#")
        ]
    except csv.Error as problem:
        raise InputError(
            f"{path}: not a CSV table ({problem}); save it as CSV in UTF-8"
        ) from problem
    if not table:
        raise InputError(f"{path}: there are no anchors in this file; mark matching points")
    first = [cell.strip().lower() for cell in table[0][1]]
    if any(_is_number(cell) for cell in first):
        implied = {2: INDEX_COLUMNS, 6: POSITION_COLUMNS}.get(len(first))
        if implied is None:
            raise InputError(
                f"{path}: line {table[0][0]} has {len(first)} columns and there is no header; "
                "give 2 (vertex indices) or 6 (coordinates)"
            )
        return list(implied), table
    if len(table) == 1:
        raise InputError(f"{path}: there are no anchors below the header; mark matching points")
    return first, table[1:]


def _number(path: Path, line: int, row: list[str], column: int, header: list[str]) -> float:
    cell = row[column].strip() if column < len(row) else ""
    if not cell:
        raise InputError(
            f"{path}: line {line} has no {header[column]!r}; fill it in or delete the line"
        )
    if not _is_number(cell):
        raise InputError(
            f"{path}: line {line}: {header[column]} = {cell!r} is not a number; correct it "
            "(decimals take a point)"
        )
    return float(cell)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
