"""Rows of measurements in a CSV that survives being stopped at any moment."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from nho.errors import CannotWrite, InputError
from nho.runtime.input_file import blaming, read_bytes

ResultRow = dict[str, str]


def read_rows(path: Path) -> list[ResultRow]:
    """Rows so far; a last line without its end was cut off while being written and is no row."""
    with blaming(path):
        text = _whole_lines(path).decode("utf-8")
        return list(csv.DictReader(io.StringIO(text)))


def append_row(path: Path, keys: Mapping[str, str], values: Mapping[str, float | str]) -> None:
    """Add one row, after a header if there is none yet; NaN becomes an empty field.

    A last line that was cut off is overwritten.
    """
    row = {**keys, **{name: _as_text(value) for name, value in values.items()}}
    check_columns(path, list(row))
    written = _whole_lines(path)
    lines = io.StringIO()
    writer = csv.DictWriter(lines, list(row), lineterminator="\n")
    if not written:
        writer.writeheader()
    writer.writerow(row)
    try:
        path.touch()
        with open(path, "r+b", buffering=0) as stream:
            _replace_end(stream, len(written), lines.getvalue().encode("utf-8"))
    except OSError as problem:
        raise CannotWrite.to(path, problem) from problem


def _replace_end(stream: io.FileIO, start: int, line: bytes) -> None:
    """Write a line at ``start``, to the disk; if it does not fit, nothing of it stays."""
    stream.truncate(start)
    stream.seek(start)
    try:
        while line:
            line = line[stream.write(line) :]
        os.fsync(stream.fileno())
    except OSError:
        stream.truncate(start)
        raise


def check_columns(path: Path, columns: Sequence[str]) -> None:
    """Refuse a file that holds another table."""
    header = next(csv.reader(io.StringIO(_whole_lines(path).decode("utf-8"))), None)
    if header is not None and header != list(columns):
        other = sorted(set(header) ^ set(columns)) or ["their order"]
        raise InputError(
            f"{path}: its columns are not those written now ({', '.join(other)}); "
            "give another --out"
        )


def _whole_lines(path: Path) -> bytes:
    """The content up to the end of the last whole line."""
    if not path.exists():
        return b""
    content = read_bytes(path)
    return content[: content.rfind(b"\n") + 1]


def _as_text(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "" if math.isnan(value) else f"{value:.8g}"
