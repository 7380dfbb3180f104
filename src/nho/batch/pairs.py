"""The table of pairs: a CSV with the columns ``partial,full,anchors`` and optionally ``name``."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from nho.batch.names import folded, name_from_files, problem_with_name
from nho.errors import InputError

COLUMNS = ("partial", "full", "anchors")


@dataclass(frozen=True)
class Pair:
    """One row: a name, which becomes a folder, and three existing files (absolute paths)."""

    name: str
    partial: Path
    full: Path
    anchors: Path


def read_pairs(path: str | Path) -> list[Pair]:
    """Read and check the whole table; paths in it are relative to its own folder.

    Raises
    ------
    InputError
        At the first thing that is wrong, with the line, so that nothing runs on a bad table.
    """
    path = Path(path)
    header, rows = _table(path)
    missing = [column for column in COLUMNS if column not in header]
    if missing:
        raise InputError(
            f"{path}: line 1 has the columns {', '.join(header)}; {missing[0]!r} is missing, "
            f"expected {','.join(COLUMNS)} and optionally name"
        )
    if not rows:
        raise InputError(f"{path}: there are no pairs below the header")
    files = [_files(path, line, row) for line, row in rows]
    return [
        Pair(name, *three) for name, three in zip(_names(path, rows, files), files, strict=True)
    ]


def _table(path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Header, and the rows by column with their line numbers; blank and # lines are left out."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; give a CSV of pairs") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{path}: cannot be read as text ({problem})") from problem
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        table = [
            (reader.line_num, [cell.strip() for cell in cells])
            for cells in reader
            if any(cell.strip() for cell in cells) and not cells[0].lstrip().startswith("#")
        ]
    except csv.Error as problem:
        raise InputError(f"{path}: not a CSV table ({problem})") from problem
    if not table:
        raise InputError(f"{path}: the file is empty; give a CSV with {','.join(COLUMNS)}")
    header = [cell.lower() for cell in table[0][1]]
    rows = []
    for line, cells in table[1:]:
        if len(cells) > len(header):
            raise InputError(
                f"{path}: line {line} has {len(cells)} cells but there are {len(header)} columns; "
                "put quotes around a path with a comma in it"
            )
        rows.append((line, dict(zip(header, cells, strict=False))))
    return header, rows


def _files(path: Path, line: int, row: dict[str, str]) -> tuple[Path, Path, Path]:
    found = []
    for column in COLUMNS:
        cell = row.get(column, "")
        if not cell:
            raise InputError(f"{path}: line {line} has no {column!r}; fill it in")
        file = path.absolute().parent / cell
        try:
            there = file.is_file()
        except (OSError, ValueError):  # a name no file can have
            there = False
        if not there:
            raise InputError(
                f"{path}: line {line}: {column} = {cell!r} is not a file; paths are relative to "
                "the folder of the CSV"
            )
        found.append(file)
    return found[0], found[1], found[2]


def _names(
    path: Path, rows: list[tuple[int, dict[str, str]]], files: list[tuple[Path, Path, Path]]
) -> list[str]:
    """Given names first, so that a name made up for another row never takes one of them."""
    lines: dict[str, int] = {}
    for line, row in rows:
        name = row.get("name", "")
        if not name:
            continue
        problem = problem_with_name(name)
        if problem:
            raise InputError(
                f"{path}: line {line}: the name {name!r} {problem}; a name becomes a folder, so "
                "use letters, digits, - and _"
            )
        if folded(name) in lines:
            raise InputError(
                f"{path}: line {line}: the name {name!r} is also on line {lines[folded(name)]}; "
                "give every pair its own"
            )
        lines[folded(name)] = line
    taken = set(lines)
    names = []
    for (_, row), (partial, full, _anchors) in zip(rows, files, strict=True):
        name = row.get("name", "") or name_from_files(partial, full, taken)
        taken.add(folded(name))
        names.append(name)
    return names
