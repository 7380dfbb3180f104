"""The table of pairs: a CSV with the columns ``partial,full,anchors`` and optionally ``name``.

Paths are relative to the folder of the table.

``auto`` in place of a file of anchors, or ``auto:METHOD``, has them found (`automatic_anchors`).
Landmarks in two files take the place of ``anchors``: ``anchors_partial,anchors_full``, and
optionally ``flip_anchors`` (``partial``, ``full`` or ``both``), where x and y are to be negated.
A name becomes a folder, so it must be safe as one on any system.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from nho.batch.summary import FORMULA_SIGNS, SUMMARY
from nho.errors import InputError
from nho.pipeline.automatic_anchors import check_source, is_automatic
from nho.problem.anchors import FLIPS
from nho.runtime.csv_table import csv_rows
from nho.runtime.file_names import is_device
from nho.runtime.input_file import SMALL, blaming, read_bytes

COLUMNS = ("partial", "full", "anchors")
LANDMARK_COLUMNS = ("anchors_partial", "anchors_full")
_MOST = 50_000  # pairs of one table: some 100 MB of memory
_LONGEST = 200  # bytes; file systems stop at 255, and unfinished folders need a few more
_NOT_IN_NAMES = '<>:"/\\|?*'


@dataclass(frozen=True)
class BatchPair:
    """One row: a name, which becomes a folder, and files (absolute paths), there or not.

    Attributes
    ----------
    anchors : tuple of Path
        One file of pairs, two of landmarks (partial, full), or ``auto`` and the like.
    flip : str
        Where to negate x and y of landmarks, as in `Anchors.read`.
    """

    name: str
    partial: Path
    full: Path
    anchors: tuple[Path, ...]
    flip: str = "none"

    @property
    def automatic(self) -> str:
        """How the anchors are to be found; empty if they are given."""
        return str(self.anchors[0]) if is_automatic(self.anchors[0]) else ""

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that are read."""
        return (self.partial, self.full, *(() if self.automatic else self.anchors))

    def anchors_content(self) -> bytes:
        """All that the anchors depend on, besides the meshes, to be hashed."""
        if self.automatic:
            return self.automatic.encode()
        parts = [read_bytes(file, SMALL) for file in self.anchors]
        if len(parts) == 1 and self.flip == "none":
            return parts[0]
        return b"".join(b"%d:" % len(part) + part for part in (*parts, self.flip.encode()))


def read_pairs(path: str | Path) -> list[BatchPair]:
    """Read and check the whole table; paths in it are relative to its own folder.

    Raises
    ------
    InputError
        At the first thing that is wrong with the table itself, with the line. A file that is
        missing is its pair's failure.
    """
    with blaming(path):
        return _pairs(Path(path))


def _pairs(path: Path) -> list[BatchPair]:
    header, rows = _table(path)
    wanted = COLUMNS if set(LANDMARK_COLUMNS) - set(header) else (*COLUMNS[:2], *LANDMARK_COLUMNS)
    missing = [column for column in wanted if column not in header]
    if missing:
        raise InputError(
            f"{path}: line 1 has the columns {', '.join(header)}; {missing[0]!r} is missing, "
            f"expected {','.join(COLUMNS)} (or {','.join(LANDMARK_COLUMNS)} in place of anchors) "
            "and optionally name"
        )
    if not rows:
        raise InputError(f"{path}: there are no pairs below the header")
    files = [_files(path, line, row) for line, row in rows]
    flips = [_flip(path, line, row) for line, row in rows]
    return [
        BatchPair(name, partial, full, tuple(anchors), flip)
        for name, (partial, full, *anchors), flip in zip(
            _names(path, rows, files), files, flips, strict=True
        )
    ]


def _table(path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Header, and the rows by column with their line numbers; blank and # lines are left out."""
    table = csv_rows(read_bytes(path, SMALL), str(path), strict=True)
    if not table:
        raise InputError(f"{path}: the file is empty; give a CSV with {','.join(COLUMNS)}")
    if len(table) - 1 > _MOST:
        raise InputError(f"{path}: {len(table) - 1:,} pairs, at most {_MOST:,}; split the table")
    header = [cell.strip().lower() for cell in table[0][1]]
    rows = []
    for line, cells in table[1:]:
        if len(cells) > len(header):
            raise InputError(
                f"{path}: line {line} has {len(cells)} cells but there are {len(header)} columns; "
                "put quotes around a path with a comma in it"
            )
        rows.append((line, dict(zip(header, map(str.strip, cells), strict=False))))
    return header, rows


def _files(path: Path, line: int, row: dict[str, str]) -> list[Path]:
    """Partial, full, and one or two files of anchors."""
    two = [column for column in LANDMARK_COLUMNS if row.get(column)]
    if two and row.get("anchors"):
        raise InputError(f"{path}: line {line} has both 'anchors' and {two[0]!r}; empty one")
    by_landmarks = bool(two) or "anchors" not in row
    found = []
    for column in (*COLUMNS[:2], *(LANDMARK_COLUMNS if by_landmarks else COLUMNS[2:])):
        cell = row.get(column, "")
        if not cell:
            raise InputError(f"{path}: line {line} has no {column!r}; fill it in")
        if column == "anchors" and is_automatic(cell):
            found.append(_source(path, line, cell))
            continue
        found.append(path.absolute().parent / cell)
    return found


def _source(path: Path, line: int, cell: str) -> Path:
    try:
        check_source(cell)
    except InputError as problem:
        raise InputError(f"{path}: line {line}: {problem}") from problem
    return Path(cell)


def _flip(path: Path, line: int, row: dict[str, str]) -> str:
    flip = row.get("flip_anchors", "").lower() or "none"
    if flip not in FLIPS:
        raise InputError(f"{path}: line {line}: flip_anchors = {flip!r}; choose {', '.join(FLIPS)}")
    return flip


def _names(
    path: Path, rows: list[tuple[int, dict[str, str]]], files: list[list[Path]]
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
    taken, numbers, names = set(lines), dict[str, int](), []
    for (_, row), (partial, full, *_anchors) in zip(rows, files, strict=True):
        name = row.get("name", "") or name_from_files(partial, full, taken, numbers)
        taken.add(folded(name))
        names.append(name)
    return names


def problem_with_name(name: str) -> str | None:
    """Why ``name`` cannot be a folder inside the output folder; None if it can."""
    if name.startswith("."):
        return "begins with a dot"
    if name.startswith(FORMULA_SIGNS):
        return f"begins with {name[0]!r}, as formulas in spreadsheets do"
    bad = next((c for c in name if c in _NOT_IN_NAMES or not c.isprintable()), None)
    if bad is not None:
        return f"holds the character {bad!r}"
    if name.endswith((".", " ")):
        return "ends in a dot or a blank"
    if len(name.encode("utf-8", "replace")) > _LONGEST:
        return f"is longer than {_LONGEST} bytes"
    if folded(name) == SUMMARY or is_device(name):
        return "is taken"
    return None


def folded(name: str) -> str:
    """Equal for names that some file system takes for the same folder."""
    return unicodedata.normalize("NFC", name).casefold()


def name_from_files(
    partial: Path, full: Path, taken: Container[str], numbers: dict[str, int] | None = None
) -> str:
    """A safe name from two file stems, unlike those already ``taken`` (as `folded`).

    ``numbers`` remembers the last number of every name, for tables of many like names.
    """
    stems = (re.sub(r"[^\w.-]+", "_", path.stem).strip("._-") for path in (partial, full))
    base = "-".join(stem or "mesh" for stem in stems)
    base = base.encode("utf-8")[: _LONGEST - 10].decode("utf-8", "ignore")
    if problem_with_name(base):
        base = f"pair-{base}"
    numbers = {} if numbers is None else numbers
    name = base
    while folded(name) in taken:
        numbers[base] = numbers.get(base, 1) + 1
        name = f"{base}-{numbers[base]}"
    return name
