"""OFF: OFF, COFF, NOFF, STOFF and their combinations, as text."""

import re

import numpy as np

from nho.errors import InputError
from nho.io.meshes.model import COLOUR, Array, Attributes, ParsedMesh, Written
from nho.io.meshes.polygons import ragged, triangulate, whole_numbers
from nho.io.meshes.text import TextRows, parse_numbers, quoted, unix_text, without_comments

_HEADER = re.compile(rb"(ST)?(C)?(N)?OFF", re.IGNORECASE)


def read_off(data: bytes, name: str, _folder: object) -> ParsedMesh:
    """The surface of an OFF file, in the order of the file.

    Colours, normals and texture coordinates are skipped. A file with fewer or more lines than its
    header promises is refused: half a mesh must not pass for a whole one.
    """
    rows = TextRows(without_comments(unix_text(data)), name)
    n_vertices, n_faces, least_columns, row = _header(rows, name)
    present = len(rows) - row
    if present != n_vertices + n_faces:
        raise InputError(_count_message(name, n_vertices, n_faces, present))
    if n_vertices == 0 or n_faces == 0:
        raise InputError(
            f"{name}: the header says {n_vertices} vertices and {n_faces} faces; "
            "export triangles, or points alone as .ply or .xyz"
        )

    columns = rows.counts[row : row + n_vertices]
    rows.check_vertices(row + np.arange(n_vertices), columns, least_columns)
    flat = rows.numbers(row, row + n_vertices)
    first = np.cumsum(columns) - columns
    vertices = flat[first[:, None] + np.arange(3)]

    row += n_vertices
    columns = rows.counts[row:]
    flat = rows.numbers(row, len(rows))
    first = np.cumsum(columns) - columns
    corners_per_face = whole_numbers(flat[first])
    if corners_per_face is None or np.any(corners_per_face >= columns):
        wrong = int(np.argmax(~(flat[first] < columns) | (flat[first] != np.floor(flat[first]))))
        raise InputError(
            f"{name}: line {rows.line(row + wrong)}: face {wrong} should be a number of corners "
            "and then that many vertex indices; re-export the mesh"
        )
    # A negative number of corners must not reach np.repeat; triangulate() refuses it as too few.
    corners_per_face = np.maximum(corners_per_face, 0)
    corners = ragged(flat, first + 1, corners_per_face)
    cut = triangulate(corners, corners_per_face, vertices, name)
    return ParsedMesh(vertices, cut.faces, notes=cut.notes)


def _header(rows: TextRows, name: str) -> tuple[int, int, int, int]:
    """Vertices, faces, fewest numbers on a vertex line, and the first row after the header."""
    if len(rows) == 0:
        raise InputError(f"{name}: there is nothing in it but blank lines; re-export the mesh")
    words = rows.text(0).split()
    kind = _HEADER.fullmatch(words[0])
    if kind is None or (len(words) > 1 and words[1].upper() == b"BINARY"):
        raise InputError(
            f"{name}: an OFF text file starts with OFF, COFF, NOFF or STOFF, not with "
            f"{quoted(b' '.join(words[:2]))}; export it as OFF text or as PLY"
        )
    texture, colour, normal = kind.groups()
    least_columns = 3 + 2 * bool(texture) + 3 * bool(colour) + 3 * bool(normal)
    row, words = 1, words[1:]
    if not words:
        if len(rows) < 2:
            raise InputError(f"{name}: the counts after OFF are missing; re-export the mesh")
        row, words = 2, rows.text(1).split()
    values = parse_numbers(b" ".join(words), len(words))
    counts = None if values is None else whole_numbers(values)
    if counts is None or len(counts) not in (2, 3) or counts.min() < 0:
        raise InputError(
            f"{name}: line {rows.line(row - 1)}: the numbers of vertices, faces and edges should "
            f"stand here, not {quoted(b' '.join(words))}; re-export the mesh"
        )
    return int(counts[0]), int(counts[1]), least_columns, row


def _count_message(name: str, n_vertices: int, n_faces: int, present: int) -> str:
    promised = f"{name}: the header promises {n_vertices} vertices and {n_faces} faces"
    if present < n_vertices:
        return f"{promised} but the file ends after {present} vertices; copy or export it again"
    if present < n_vertices + n_faces:
        present -= n_vertices
        return f"{promised} but the file ends after {present} faces; copy or export it again"
    extra = present - n_vertices - n_faces
    return f"{promised} but {extra} more lines follow; correct the header or re-export the mesh"


def write_off(vertices: Array, faces: Array, attributes: Attributes, _stem: str) -> Written:
    """An OFF file, or a COFF file if there are colours; other attributes are not written."""
    colors = attributes.vertex.get(COLOUR)
    lines = [f"{'OFF' if colors is None else 'COFF'}\n{len(vertices)} {len(faces)} 0"]
    if colors is None:
        lines += [f"{x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    else:
        # COFF has four channels: 255 is opaque.
        opaque = np.full((len(colors), 1), 255, dtype=np.uint8)
        rgba = np.column_stack([colors, opaque])[:, :4].tolist()
        lines += [
            f"{x!r} {y!r} {z!r} {r} {g} {b} {a}"
            for (x, y, z), (r, g, b, a) in zip(vertices.tolist(), rgba, strict=True)
        ]
    lines += [f"3 {i} {j} {k}" for i, j, k in faces.tolist()]
    return Written(("\n".join(lines) + "\n").encode())
