"""PLY files: text and binary of both byte orders, with any further properties and elements."""

import numpy as np

from nho.errors import InputError
from nho.io.meshes.ply_binary import read_binary
from nho.io.meshes.ply_header import Element, Lists, Table, read_header, too_short
from nho.io.meshes.polygons import FloatArray, IntArray, ragged, triangulate
from nho.io.meshes.text import TextRows, unix_text


def read_ply(data: bytes, name: str) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) and triangles (m, 3) of a PLY file, in the order of the file.

    Colours, normals, texture seams and further elements are skipped and change nothing. A file
    that is shorter or longer than its header promises is refused.
    """
    _, tables = read_tables(data, name)
    vertices, polygons = surface_of(tables, name)
    return vertices, triangulate(polygons.flat, polygons.counts, len(vertices), name)


def read_tables(data: bytes, name: str) -> tuple[list[Element], dict[str, Table]]:
    """Everything in a PLY file: what the header says, and a table for each of its elements."""
    order, elements, body, lines = read_header(data, name)
    if order == "":
        return elements, _read_text(body, elements, name, lines + 1)
    return elements, read_binary(body, elements, name, order)


def surface_of(tables: dict[str, Table], name: str) -> tuple[FloatArray, Lists]:
    """Vertices (n, 3) and polygons out of the tables of a file."""
    if "tristrips" in tables:
        raise InputError(
            f"{name}: triangle strips are not supported; export it with a `face` element"
        )
    vertex = tables.get("vertex", {})
    axes = [vertex.get(axis) for axis in "xyz"]
    if not all(isinstance(axis, np.ndarray) for axis in axes):
        raise InputError(f"{name}: it has no vertices with x, y and z; re-export the mesh")
    vertices = np.column_stack(axes).astype(np.float64)  # type: ignore[arg-type]
    face = tables.get("face", {})
    lists = face.get("vertex_indices", face.get("vertex_index"))
    if not isinstance(lists, Lists):
        raise InputError(
            f"{name}: it has no faces (`face` with `vertex_indices`), only {len(vertices)} points; "
            "export a triangle mesh, not a point cloud"
        )
    return vertices, lists


def _read_text(body: bytes, elements: list[Element], name: str, line: int) -> dict[str, Table]:
    rows = TextRows(unix_text(body), name, first_line=line)
    tables: dict[str, Table] = {}
    begin = 0
    for element in elements:
        end = begin + element.count
        if end > len(rows):
            raise too_short(name, element, len(rows) - begin)
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
