"""STL, text and binary.

An STL holds loose triangles and no shared vertices. Corners with exactly equal coordinates are
welded, and the order in which they first appear in the file *is* the vertex order of an STL.
"""

import numpy as np

from nho.errors import InputError
from nho.io.meshes.model import ParsedMesh
from nho.io.meshes.polygons import FloatArray, equal_points
from nho.io.meshes.text import TextRows, unix_text, without_bom

_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_HEADER_BYTES = 84


def read_stl(data: bytes, name: str, _folder: object) -> ParsedMesh:
    """The surface of an STL file, welded, with the vertices in order of appearance."""
    # Many binary files start with "solid" too, so the exact size decides and not the first word.
    if _binary_size(data) == len(data):
        facets = np.frombuffer(data, dtype=_FACET, offset=_HEADER_BYTES)
        corners = facets["corners"].reshape(-1, 3).astype(np.float64)
    elif without_bom(data).lstrip()[:5].lower() == b"solid":
        corners = _text_corners(data, name)
    else:
        raise InputError(_binary_message(data, name))
    if len(corners) == 0:
        raise InputError(f"{name}: there are no triangles in it; re-export the mesh")
    first, group = equal_points(corners)
    return ParsedMesh(corners[first], group.reshape(-1, 3))


def _binary_size(data: bytes) -> int:
    """Bytes that the triangle count of a binary file asks for; -1 without such a count."""
    if len(data) < _HEADER_BYTES:
        return -1
    return _HEADER_BYTES + _FACET.itemsize * int.from_bytes(data[80:84], "little")


def _text_corners(data: bytes, name: str) -> FloatArray:
    rows = TextRows(unix_text(data), name)
    vertex = rows.starts_with(b"vertex")
    begun, ended = rows.starts_with(b"facet"), rows.starts_with(b"endfacet")
    if rows.starts_with(b"endsolid").sum() != rows.starts_with(b"solid").sum():
        raise InputError(f"{name}: the closing `endsolid` is missing; copy or export it again")
    # Which facet a corner, and which facet an end, belongs to: counted by the openings before it.
    facet_of_row = np.cumsum(begun) - 1
    n_facets = int(begun.sum())
    facets = np.arange(n_facets)
    if not (
        np.array_equal(facet_of_row[vertex], np.repeat(facets, 3))
        and np.array_equal(facet_of_row[ended], facets)
    ):
        raise InputError(
            f"{name}: {n_facets} facets should have three vertices each and an `endfacet`, but "
            f"there are {int(vertex.sum())} vertices and {int(ended.sum())} ends; re-export it"
        )
    flat, columns = rows.numbers_after_keyword(vertex, b"vertex")
    if np.any(columns != 3):
        wrong = int(np.argmax(columns != 3))
        line = rows.line(int(np.flatnonzero(vertex)[wrong]))
        raise InputError(
            f"{name}: line {line}: a vertex has {int(columns[wrong])} numbers instead of 3; "
            "re-export the mesh"
        )
    return flat.reshape(-1, 3)


def _binary_message(data: bytes, name: str) -> str:
    size = _binary_size(data)
    if size < 0:
        return f"{name}: {len(data)} bytes are too few for an STL file; re-export the mesh"
    return (
        f"{name}: as a binary STL its triangle count asks for {size} bytes but the file has "
        f"{len(data)}; copy or export it again, or give it the suffix of its real format"
    )
