"""CSV files as rows with their line numbers."""

from __future__ import annotations

import csv
import io

from nho.errors import InputError


def csv_rows(
    data: bytes, name: str, *, comments: bool = True, strict: bool = False
) -> list[tuple[int, list[str]]]:
    """Line number (from 1) and cells of every row; blank rows are left out.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    comments : bool
        Rows that begin with ``#`` are left out too.
    strict : bool
        Refuse quotes in wrong places.
    """
    try:
        reader = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=strict)
        return [
            (reader.line_num, row)
            for row in reader
            if any(cell.strip() for cell in row)
            and not (comments and row[0].lstrip().startswith("#"))
        ]
    except UnicodeDecodeError as problem:
        raise InputError(
            f"{name}: cannot be read as text ({problem}); save it as CSV in UTF-8"
        ) from problem
    except csv.Error as problem:
        raise InputError(
            f"{name}: not a CSV table ({problem}); save it as CSV in UTF-8"
        ) from problem
