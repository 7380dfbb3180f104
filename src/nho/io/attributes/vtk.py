"""Attributes of legacy VTK files: the sections POINT_DATA and CELL_DATA."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import numpy as np

from nho.errors import InputError
from nho.io.attributes.model import Array
from nho.io.attributes.shared import Surface, fans, typed
from nho.io.attributes.vtp import UV_NAMES, with_uv
from nho.io.meshes.polygons import triangulate
from nho.io.meshes.text import shown
from nho.io.meshes.vtk import (
    TYPES,
    Cursor,
    count_in,
    field_arrays,
    read_dataset,
    word_in,
)

_WIDTHS = {"VECTORS": 3, "NORMALS": 3, "TENSORS": 9, "TENSORS6": 6, "GLOBAL_IDS": 1}
_WIDTHS["PEDIGREE_IDS"] = 1


def read_vtk(data: bytes, name: str, _folder: Path) -> Surface:
    """Vertices, triangles and attributes of a legacy VTK file."""
    found = read_dataset(data, name)
    faces = triangulate(found.corners, found.counts, len(found.points), name)
    polygon = fans(found.counts)[0]
    vertex: dict[str, Array] = {}
    cell: dict[str, Array] = {}
    words = found.words
    while words:
        section = words[0].upper()
        if section not in ("POINT_DATA", "CELL_DATA"):
            raise InputError(
                f"{name}: the data section {shown(words[0].encode('latin-1'))} is not understood; "
                "re-export the mesh"
            )
        count = count_in(words, 1, name)
        into = vertex if section == "POINT_DATA" else cell
        least = len(found.points) if into is vertex else int(found.cells.max(initial=-1)) + 1
        if count < least or (into is vertex and count != least):
            raise InputError(
                f"{name}: {section} is for {count} rows but the mesh has {least}; re-export it"
            )
        words = _section(found.cursor, count, into)
    face = {key: values[found.cells][polygon] for key, values in cell.items()}
    return found.points, faces, with_uv(vertex, face, faces, [])


def _section(cursor: Cursor, count: int, into: dict[str, Array]) -> list[str]:
    """Read arrays until another section begins; its line is returned."""
    name = cursor.name
    while words := cursor.words():
        kind = words[0].upper()
        if kind == "METADATA":
            cursor.skip_paragraph()
        elif kind == "FIELD":
            for key, width, of, values in field_arrays(cursor, count_in(words, 2, name)):
                if len(values) == count * width:
                    into[unquote(key)] = _rows(values, width, of, key, name)
        elif kind == "SCALARS":
            width = count_in(words, 3, name) if len(words) > 3 else 1
            before = cursor.at
            if cursor.words()[:1] != ["LOOKUP_TABLE"]:
                cursor.at = before
            _read(cursor, words, word_in(words, 2, name), width, count, into)
        elif kind == "COLOR_SCALARS":
            width = count_in(words, 2, name)
            of = "unsigned_char" if cursor.binary else "float"
            values = cursor.array(count * width, of, kind).reshape(count, width)
            if of == "float":
                values = np.rint(255 * np.clip(np.nan_to_num(values), 0, 1)).astype(np.uint8)
            into[unquote(words[1])] = values
        elif kind == "LOOKUP_TABLE":
            cursor.array(4 * count_in(words, 2, name), "unsigned_char", kind)
        elif kind == "TEXTURE_COORDINATES":
            width = count_in(words, 2, name)
            values = cursor.array(count * width, word_in(words, 3, name), kind)
            into[UV_NAMES[0]] = _rows(values, width, word_in(words, 3, name), kind, name)
        elif kind in _WIDTHS:
            _read(cursor, words, word_in(words, 2, name), _WIDTHS[kind], count, into)
        else:
            break
    return words


def _read(
    cursor: Cursor, words: list[str], of: str, width: int, count: int, into: dict[str, Array]
) -> None:
    values = cursor.array(count * width, of, words[0])
    if words[0].upper() != "NORMALS":  # they belong to the pose of the surface
        into[unquote(words[1])] = _rows(values, width, of, words[1], cursor.name)


def _rows(values: Array, width: int, of: str, key: str, name: str) -> Array:
    if width < 1:
        raise InputError(f"{name}: {shown(key.encode())} has no columns; re-export the mesh")
    wide = typed(values, TYPES[of.lower()], shown(key.encode("latin-1", "replace")), name)
    return wide if width == 1 else wide.reshape(-1, width)
