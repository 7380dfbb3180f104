"""The header of a PLY file: which tables follow, with which columns."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.io.meshes.polygons import IntArray
from nho.io.meshes.text import shown, without_mark

Column = npt.NDArray[np.generic]

_TYPES = {
    **{"char": "i1", "short": "i2", "int": "i4", "uchar": "u1", "ushort": "u2", "uint": "u4"},
    **{"int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8"},
    **{"uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8"},
    **{"float": "f4", "double": "f8", "float32": "f4", "float64": "f8"},
}
_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}


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


def read_header(data: bytes, name: str) -> tuple[str, list[Element], bytes, int]:
    """Byte order ("" for text), elements, the bytes after the header, lines in the header."""
    data = without_mark(data)
    # The first line shows how lines end; in a binary body a newline may be data.
    if not data.startswith((b"ply\n", b"ply\r")):
        raise InputError(
            f"{name}: a PLY file starts with a line `ply`, not with "
            f"{shown(b''.join(data[:40].split()[:1]))}; rename it to what it is or export it as PLY"
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
                f"{name}: line {number}: the header line {shown(line)} is not understood; "
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
    return order, elements, body, len(lines)


def _count(word: str) -> int:
    count = int(word)
    if count < 0:
        raise ValueError(word)
    return count


def too_short(name: str, element: Element, present: int) -> InputError:
    """The error for a file that ends inside an element."""
    return InputError(
        f"{name}: the header promises {element.count} rows of `{element.name}` but the file ends "
        f"after {present}; copy or export it again"
    )
