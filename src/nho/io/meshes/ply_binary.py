"""The tables of a binary PLY file."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.io.meshes.ply_header import Element, Lists, Table, too_short
from nho.io.meshes.polygons import IntArray, ragged


def read_binary(body: bytes, elements: list[Element], name: str, order: str) -> dict[str, Table]:
    """All elements after the header; `order` is "<" or ">"."""
    tables: dict[str, Table] = {}
    at = 0
    for element in elements:
        # A row takes at least its scalars and its list lengths, so that a count which the file
        # cannot hold is refused before any memory is asked for.
        smallest = sum(
            np.dtype(column.length_type or column.type).itemsize for column in element.properties
        )
        if element.count * smallest > len(body) - at:
            raise too_short(name, element, (len(body) - at) // smallest)
        if all(column.length_type is None for column in element.properties):
            rows = _uniform_rows(body, at, element, order, {})
            assert rows is not None
            tables[element.name] = {column: rows[column] for column in rows.dtype.names or ()}
            at += rows.nbytes
        else:
            tables[element.name], at = _binary_lists(body, at, element, order, name)
    if body[at:].strip():
        raise InputError(
            f"{name}: {len(body) - at} more bytes follow than the header promises; was it copied "
            "as text? copy or export it again"
        )
    return tables


def _uniform_rows(
    body: bytes, at: int, element: Element, order: str, lengths: dict[str, int]
) -> npt.NDArray[np.void] | None:
    """All rows of an element whose lists have the given lengths; None if the file is too short.

    A list `a` gives the fields `a` and `a length`.
    """
    fields: list[tuple[str, str] | tuple[str, str, tuple[int]]] = []
    for column in element.properties:
        if column.length_type is None:
            fields.append((column.name, order + column.type))
        else:
            fields.append((column.name + " length", order + column.length_type))
            fields.append((column.name, order + column.type, (lengths[column.name],)))
    row = np.dtype(fields)
    if element.count * row.itemsize > len(body) - at:
        return None
    return np.frombuffer(body, dtype=row, count=element.count, offset=at)


def _binary_lists(
    body: bytes, at: int, element: Element, order: str, name: str
) -> tuple[Table, int]:
    """Rows with lists: in one go if every row is like the first, otherwise row by row."""
    if element.count:
        lengths = _walk(body, at, element, order, name, 1)
        first = {
            column.name: int(lengths[column.name][1][0])
            for column in element.properties
            if column.length_type is not None
        }
        rows = _uniform_rows(body, at, element, order, first)
        if rows is not None and all(
            np.all(rows[list_name + " length"] == length) for list_name, length in first.items()
        ):
            table: Table = {}
            for list_name, length in first.items():
                counts = np.full(element.count, length, dtype=np.int64)
                table[list_name] = Lists(rows[list_name].reshape(-1), counts)
            for column in element.properties:
                if column.length_type is None:
                    table[column.name] = rows[column.name]
            return table, at + rows.nbytes
    walked = _walk(body, at, element, order, name, element.count)
    table = {}
    for column in element.properties:
        starts, counts = walked[column.name]
        size = np.dtype(column.type).itemsize
        every_byte = np.frombuffer(body, dtype=np.uint8)
        values = ragged(every_byte, starts, counts * size).view(order + column.type)
        table[column.name] = values if column.length_type is None else Lists(values, counts)
    end = at if not element.count else int(walked[""][0][-1])
    return table, end


def _walk(
    body: bytes, at: int, element: Element, order: str, name: str, n_rows: int
) -> dict[str, tuple[IntArray, IntArray]]:
    """Byte offset and length of every list in the first rows; "" holds where each row ends.

    The length of a list is known only where it begins, so this cannot be done for all rows at
    once. A scalar goes as a list of one without a written length.
    """
    starts: dict[str, list[int]] = {"": []}
    counts: dict[str, list[int]] = {"": []}
    steps: list[tuple[str, int, int, bool]] = []
    for column in element.properties:
        size = np.dtype(column.type).itemsize
        if column.length_type is None:
            steps.append((column.name, 0, size, False))
            starts[column.name], counts[column.name] = [], []
            continue
        kind = np.dtype(column.length_type)
        if kind.kind == "f":
            raise InputError(f"{name}: list `{column.name}` has a length with decimals; re-export")
        steps.append((column.name, kind.itemsize, size, kind.kind == "i"))
        starts[column.name], counts[column.name] = [], []
    byte_order: Literal["little", "big"] = "little" if order == "<" else "big"
    for row in range(n_rows):
        for column_name, length_size, size, signed in steps:
            length = 1
            if length_size:
                length = int.from_bytes(body[at : at + length_size], byte_order, signed=signed)
                at += length_size
            if length < 0 or at + length * size > len(body):
                raise too_short(name, element, row)
            starts[column_name].append(at)
            counts[column_name].append(length)
            at += length * size
        starts[""].append(at)
        counts[""].append(0)
    return {
        column: (np.array(begin, dtype=np.int64), np.array(counts[column], dtype=np.int64))
        for column, begin in starts.items()
    }
