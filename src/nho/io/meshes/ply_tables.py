"""PLY files as tables: what the header announces, and the columns of every element."""

import re
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.io.meshes.polygons import IntArray, ragged
from nho.io.meshes.text import TextRows, quoted, unix_text, without_bom

Column = npt.NDArray[np.generic]

_TYPES = {
    **{"char": "i1", "short": "i2", "int": "i4", "uchar": "u1", "ushort": "u2", "uint": "u4"},
    **{"int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8"},
    **{"uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8"},
    **{"float": "f4", "double": "f8", "float32": "f4", "float64": "f8"},
}
_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_TEXTURE = re.compile(rb"^comment +TextureFile +(.+?)\s*$", re.IGNORECASE | re.MULTILINE)


@dataclass
class Property:
    """One column of an element; `length_type` is set for lists."""

    name: str
    type: str
    length_type: str | None = None


@dataclass
class Element:
    """One table of the file."""

    name: str
    count: int
    properties: list[Property] = field(default_factory=list)


@dataclass
class Lists:
    """The values of a list property, row after row, and how many each row has."""

    flat: Column
    counts: IntArray


Table = dict[str, Column | Lists]


@dataclass
class PlyFile:
    """Everything in a PLY file.

    Attributes
    ----------
    elements : what the header says of every table; tables : their columns; textures : names of the
        images that its comments give.
    """

    elements: dict[str, Element]
    tables: dict[str, Table]
    textures: list[str]


def read_tables(data: bytes, name: str) -> PlyFile:
    """All tables; a file that is shorter or longer than its header promises is refused."""
    order, elements, textures, body, lines = _read_header(data, name)
    if order == "":
        tables = _read_text(body, elements, name, lines + 1)
    else:
        tables = _read_binary(body, elements, name, order)
    return PlyFile({element.name: element for element in elements}, tables, textures)


def _read_header(data: bytes, name: str) -> tuple[str, list[Element], list[str], bytes, int]:
    """Byte order ("" for text), elements, textures, bytes after the header, lines in the header."""
    data = without_bom(data)
    # The first line shows how lines end; in a binary body a newline may be data.
    if not data.startswith((b"ply\n", b"ply\r")):
        first = quoted(b"".join(data[:40].split()[:1]))
        raise InputError(
            f"{name}: a PLY file starts with a line `ply`, not with {first}; give it the "
            "suffix of its real format or export it as PLY"
        )
    ending = b"\r\n" if data.startswith(b"ply\r\n") else data[3:4]
    head, found, body = data.partition(b"end_header" + ending)
    if not found:
        raise InputError(f"{name}: the `end_header` line is missing; copy or export it again")
    order: str | None = None
    elements: list[Element] = []
    lines = head.split(ending)
    for number, line in enumerate(lines, start=1):
        words = line.decode("latin-1").split()
        try:
            if not words or words[0] in ("ply", "comment", "obj_info"):
                continue
            if words[0] == "format":
                order = _ORDERS[words[1]]
            elif words[0] == "element":
                elements.append(Element(words[1], _count(words[2])))
            elif words[0] == "property" and words[1] == "list":
                elements[-1].properties.append(
                    Property(words[4], _TYPES[words[3]], _TYPES[words[2]])
                )
            elif words[0] == "property":
                elements[-1].properties.append(Property(words[2], _TYPES[words[1]]))
            else:
                raise ValueError(words[0])
        except (KeyError, IndexError, ValueError) as error:
            raise InputError(
                f"{name}: line {number}: the header line {quoted(line)} is not understood; "
                "re-export the mesh"
            ) from error
    if order is None:
        raise InputError(f"{name}: the header has no `format` line; re-export the mesh")
    for element in elements:
        names = [column.name for column in element.properties]
        if len(set(names)) != len(names) or not names:
            raise InputError(
                f"{name}: element `{element.name}` has no properties or the same one twice; "
                "re-export the mesh"
            )
    if len({element.name for element in elements}) != len(elements):
        raise InputError(f"{name}: an element stands twice in the header; re-export the mesh")
    textures = _TEXTURE.findall(head.replace(b"\r", b"\n"))
    return order, elements, [each.decode("utf-8", "replace") for each in textures], body, len(lines)


def _count(word: str) -> int:
    count = int(word)
    if count < 0:
        raise ValueError(word)
    return count


def _too_short(name: str, element: Element, present: int) -> InputError:
    """The error for a file that ends inside an element."""
    return InputError(
        f"{name}: the header promises {element.count} rows of `{element.name}` but the file ends "
        f"after {present}; copy or export it again"
    )


def _read_text(body: bytes, elements: list[Element], name: str, line: int) -> dict[str, Table]:
    rows = TextRows(unix_text(body), name, first_line=line)
    tables: dict[str, Table] = {}
    begin = 0
    for element in elements:
        end = begin + element.count
        if end > len(rows):
            raise _too_short(name, element, len(rows) - begin)
        tables[element.name] = _text_table(rows, begin, end, element)
        begin = end
    if begin < len(rows):
        raise InputError(
            f"{name}: {len(rows) - begin} more lines follow than the header promises; "
            "re-export the mesh"
        )
    return tables


def _text_table(rows: TextRows, begin: int, end: int, element: Element) -> Table:
    """Walk all rows of an element at once, property by property, with one cursor per row."""
    table: Table = {}
    flat = rows.numbers(begin, end)
    columns = rows.counts[begin:end]
    row_end = np.cumsum(columns)
    cursor = row_end - columns
    row_fits = np.ones(end - begin, dtype=bool)
    for column in element.properties:
        row_fits &= cursor < row_end
        if not row_fits.all():
            break
        values = flat[cursor]
        cursor = cursor + 1
        if column.length_type is None:
            table[column.name] = values
            continue
        row_fits &= (values >= 0) & (values <= row_end - cursor) & (values == np.floor(values))
        if not row_fits.all():
            break
        counts = values.astype(np.int64)
        table[column.name] = Lists(ragged(flat, cursor, counts), counts)
        cursor = cursor + counts
    else:
        row_fits &= cursor == row_end
    if not row_fits.all():
        wrong = int(np.argmin(row_fits))
        raise InputError(
            f"{rows.name}: line {rows.line(begin + wrong)}: row {wrong} of `{element.name}` does "
            "not have the numbers that the header describes; re-export the mesh"
        )
    return table


def _read_binary(body: bytes, elements: list[Element], name: str, order: str) -> dict[str, Table]:
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
            raise _too_short(name, element, (len(body) - at) // smallest)
        tables[element.name], at = _binary_table(body, at, element, order, name)
    if body[at:].strip():
        raise InputError(
            f"{name}: {len(body) - at} more bytes follow than the header promises; was it copied "
            "as text? copy or export it again"
        )
    return tables


def _binary_table(
    body: bytes, at: int, element: Element, order: str, name: str
) -> tuple[Table, int]:
    """The rows of an element, in one go if all lists are as long as in the first row, and the end.

    A list `a` has the fields `a length` and `a` in a row.
    """
    first = _walk(body, at, element, order, name, min(element.count, 1))
    fields: list[tuple[str, str] | tuple[str, str, tuple[int]]] = []
    lengths: dict[str, int] = {}
    for column in element.properties:
        if column.length_type is None:
            fields.append((column.name, order + column.type))
            continue
        lengths[column.name] = length = int(first[column.name][1].sum())
        fields.append((column.name + " length", order + column.length_type))
        fields.append((column.name, order + column.type, (length,)))
    row = np.dtype(fields)
    table: Table = {}
    if element.count * row.itemsize <= len(body) - at:
        rows = np.frombuffer(body, dtype=row, count=element.count, offset=at)
        if all(np.all(rows[key + " length"] == length) for key, length in lengths.items()):
            for column in element.properties:
                values = rows[column.name]
                if column.length_type is not None:
                    counts = np.full(element.count, lengths[column.name], dtype=np.int64)
                    table[column.name] = Lists(values.reshape(-1), counts)
                else:
                    table[column.name] = values
            return table, at + rows.nbytes
    walked = _walk(body, at, element, order, name, element.count)
    every_byte = np.frombuffer(body, dtype=np.uint8)
    for column in element.properties:
        starts, counts = walked[column.name]
        size = np.dtype(column.type).itemsize
        values = ragged(every_byte, starts, counts * size).view(order + column.type)
        table[column.name] = values if column.length_type is None else Lists(values, counts)
    return table, int(walked[""][0][-1])


def _walk(
    body: bytes, at: int, element: Element, order: str, name: str, n_rows: int
) -> dict[str, tuple[IntArray, IntArray]]:
    """Byte offset and length of every list in the first rows; "" holds where each row ends.

    The length of a list is known only where it begins, so this cannot be done for all rows at
    once. A scalar goes as a list of one without a written length.
    """
    steps: list[tuple[str, int, int, bool]] = []
    for column in element.properties:
        length_kind = np.dtype(column.length_type or "V0")
        if length_kind.kind == "f":
            raise InputError(f"{name}: list `{column.name}` has a length with decimals; re-export")
        size = np.dtype(column.type).itemsize
        steps.append((column.name, length_kind.itemsize, size, length_kind.kind == "i"))
    starts: dict[str, list[int]] = {key: [] for key in ("", *(step[0] for step in steps))}
    counts: dict[str, list[int]] = {key: [] for key in starts}
    byte_order: Literal["little", "big"] = "little" if order == "<" else "big"
    for row in range(n_rows):
        for column_name, length_size, size, signed in steps:
            length = 1
            if length_size:
                length = int.from_bytes(body[at : at + length_size], byte_order, signed=signed)
                at += length_size
            if length < 0 or at + length * size > len(body):
                raise _too_short(name, element, row)
            starts[column_name].append(at)
            counts[column_name].append(length)
            at += length * size
        starts[""].append(at)
    return {
        key: (np.array(begin, dtype=np.int64), np.array(counts[key], dtype=np.int64))
        for key, begin in starts.items()
    }
