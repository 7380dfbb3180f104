"""CSV files as rows with their line numbers, as spreadsheets of any country write them."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterator
from itertools import islice

from nho.errors import InputError

Rows = list[tuple[int, list[str]]]
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}  # of what may stand between cells
_SAMPLE = 20  # rows by which the kind is chosen where the first one does not decide
_SEP = re.compile(r'"?sep=([,;\t|])"?[ \t]*(?=\r?\n|$)')  # a first line of Excel's
_EXPONENT = r"(?:[eE][-+]?\d+)?"
_WITH_COMMA = re.compile(rf"[-+]?\d*,\d+{_EXPONENT}")
_WITH_POINT = re.compile(rf"[-+]?(?:\d+\.\d*|\.\d+){_EXPONENT}")
_WHOLE = re.compile(rf"[-+]?\d+{_EXPONENT}")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")  # or a decimal comma: nobody can tell


def csv_rows(
    data: bytes,
    name: str,
    *,
    comments: bool = True,
    strict: bool = False,
    numbers: bool = False,
    text: Collection[str] = (),
) -> Rows:
    """Line number (from 1) and cells of every row; blank rows are left out.

    Commas, semicolons or tabs between the cells; UTF-8, or UTF-16 with its byte order mark.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    comments : bool
        Rows that begin with ``#`` are left out too.
    strict : bool
        Refuse quotes in wrong places.
    numbers : bool
        Decimal commas become points, but between commas; a table that has both is refused.
    text : collection of str
        Headers, in small letters, of columns that hold no numbers.
    """
    try:
        content = _decoded(data)
        declared = _SEP.match(content)
        if declared:
            content = content[declared.end() :]  # the end of the line stays, and is counted
        between = declared[1] if declared else _between(content, name, comments)
        rows = list(_parsed(content, between, comments, strict))
    except UnicodeDecodeError as problem:
        raise InputError(
            f"{name}: cannot be read as text ({problem}); save it as CSV in UTF-8"
        ) from problem
    except csv.Error as problem:
        raise InputError(
            f"{name}: not a CSV table ({problem}); save it as CSV in UTF-8"
        ) from problem
    return _with_points(rows, name, between, text) if numbers else rows


def _decoded(data: bytes) -> str:
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if wide else "utf-8-sig")


def _parsed(
    content: str, between: str, comments: bool, strict: bool
) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=between, strict=strict)
    for row in reader:
        if any(cell.strip() for cell in row) and not (comments and row[0].lstrip().startswith("#")):
            yield reader.line_num, row


def _between(content: str, name: str, comments: bool) -> str:
    """What stands between the cells: what the first row has, or else what makes more numbers."""
    samples = {}
    for between in _NAMES:
        rows = [row for _, row in islice(_parsed(content, between, comments, False), _SAMPLE)]
        if rows and len(rows[0]) > 1:
            samples[between] = rows
    if len(samples) < 2:
        return next(iter(samples), ",")
    scores = {between: _score(rows) for between, rows in samples.items()}
    best = max(scores.values())
    chosen = [between for between, score in scores.items() if score == best]
    if len(chosen) > 1:
        words = " or ".join(_NAMES[between] for between in chosen)
        raise InputError(
            f"{name}: its columns may be separated by {words}; save it with one of them, and with "
            "quotes around text that holds the other"
        )
    return chosen[0]


def _score(rows: list[list[str]]) -> tuple[bool, float]:
    """Whether all rows are of one length, and how many of their cells are numbers."""
    cells = [cell.strip() for row in rows for cell in row]
    kinds = (_WHOLE, _WITH_POINT, _WITH_COMMA)
    share = sum(any(kind.fullmatch(cell) for kind in kinds) for cell in cells) / len(cells)
    return len(set(map(len, rows))) == 1, share


def _with_points(rows: Rows, name: str, between: str, text: Collection[str]) -> Rows:
    """The same rows with points for decimal commas; between commas there are none."""
    if between == "," or not any("," in cell for _, row in rows for cell in row):
        return rows
    words = {at for at, cell in enumerate(rows[0][1]) if cell.strip().lower() in text}
    comma, point = "", ""
    decimals = between == ";"  # which programs write where commas are decimal
    for line, row in rows:
        for at, cell in enumerate(map(str.strip, row)):
            if at in words:
                continue
            if _WITH_COMMA.fullmatch(cell):
                comma = comma or f"line {line} has {cell!r}"
                decimals = decimals or not _THOUSANDS.fullmatch(cell)
            elif _WITH_POINT.fullmatch(cell):
                point = point or f"line {line} has {cell!r}"
    if comma and (point or not decimals):
        reason = f"and {point}" if point else "which may be a decimal or thousands"
        raise InputError(f"{name}: {comma}, {reason}; write all decimals with a point")

    def pointed(at: int, cell: str) -> str:
        number = at not in words and _WITH_COMMA.fullmatch(cell.strip())
        return cell.replace(",", ".") if number else cell

    return [(line, [pointed(at, cell) for at, cell in enumerate(row)]) for line, row in rows]
