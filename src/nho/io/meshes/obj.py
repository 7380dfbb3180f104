"""Wavefront OBJ files: the `v` and `f` statements, everything else is skipped."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.io.meshes.polygons import FloatArray, IntArray, triangulate, whole_numbers
from nho.io.meshes.text import TextRows, unix_text, without_comments


@dataclass(frozen=True)
class ObjSurface:
    """The `v` and `f` statements of an OBJ file.

    Attributes
    ----------
    rows : all statements.
    is_vertex, is_face : (rows,) bool.
    written : all numbers on `v` lines; columns : (n,) how many stand on each.
    corners : vertex indices from 0 of all polygons; counts : (p,) corners of each polygon.
    """

    rows: TextRows
    is_vertex: npt.NDArray[np.bool_]
    is_face: npt.NDArray[np.bool_]
    written: FloatArray
    columns: IntArray
    corners: IntArray
    counts: IntArray

    def numbers(self, first: int, last: int) -> FloatArray:
        """(n, last - first) numbers of every `v` line; the lines must be as long as that."""
        begin = np.cumsum(self.columns) - self.columns
        return self.written[begin[:, None] + np.arange(first, last)]


def read_obj(data: bytes, name: str) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) and triangles (m, 3) of an OBJ file, in the order of its `v` lines.

    Objects, groups and materials do not touch the numbering; texture and normal indices, weights
    and colours are skipped; negative indices count back from the vertices read so far.
    """
    surface = read_surface(data, name)
    vertices = surface.numbers(0, 3)
    return vertices, triangulate(surface.corners, surface.counts, len(vertices), name)


def read_surface(data: bytes, name: str) -> ObjSurface:
    """What `read_obj` reads, with the statements it was read from."""
    text = without_comments(unix_text(data))
    if b"\\\n" in text:
        text = text.replace(b"\\\n", b" ")  # a statement may go on after a backslash
    rows = TextRows(text, name)
    if len(rows) == 0:
        raise InputError(f"{name}: there is nothing in it but blank lines; re-export the mesh")
    is_vertex, is_face = rows.starts_with(b"v"), rows.starts_with(b"f")
    if not is_vertex.any():
        raise InputError(
            f"{name}: there are no vertices (`v` lines); rename it to what it is or re-export it"
        )

    flat, columns = rows.numbers_after_keyword(is_vertex, b"v")
    if columns.min() < 3:
        short = int(np.argmax(columns < 3))
        line = rows.line(int(np.flatnonzero(is_vertex)[short]))
        raise InputError(
            f"{name}: line {line}: vertex {short} has {int(columns[short])} numbers but at least 3 "
            "are needed; re-export the mesh"
        )
    written, counts = rows.numbers_after_keyword(is_face, b"f", slashes=True)
    face_rows = np.flatnonzero(is_face)
    vertices_so_far = np.cumsum(is_vertex, dtype=np.int64)[is_face]
    corners = _zero_based(written, counts, vertices_so_far, len(columns), rows, face_rows)
    return ObjSurface(rows, is_vertex, is_face, flat, columns, corners, counts)


def _zero_based(
    written: FloatArray,
    counts: IntArray,
    vertices_so_far: IntArray,
    n_vertices: int,
    rows: TextRows,
    face_rows: IntArray,
) -> IntArray:
    """Indices from 0, out of OBJ's 1, 2, ... and -1, -2, ...; the line is named if one is wrong."""
    numbers = whole_numbers(written)
    if numbers is None:
        at = int(np.argmax(~(np.abs(written) < 2.0**53) | (written != np.floor(written))))
        wrong, shown = True, f"{written[at]:g}"
    else:
        corners = np.where(numbers < 0, np.repeat(vertices_so_far, counts) + numbers, numbers - 1)
        outside = (corners < 0) | (corners >= n_vertices)
        wrong = bool(outside.any())
        if not wrong:
            return corners
        at = int(np.argmax(outside))
        shown = str(int(numbers[at]))
    face = int(np.searchsorted(np.cumsum(counts), at, side="right"))
    raise InputError(
        f"{rows.name}: line {rows.line(int(face_rows[face]))}: face {face} refers to vertex "
        f"{shown} but the {n_vertices} vertices are numbered 1-{n_vertices}; re-export the mesh"
    )
