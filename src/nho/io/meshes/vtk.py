"""Legacy VTK files: POLYDATA, and UNSTRUCTURED_GRID made of flat cells; text and binary."""

from urllib.parse import unquote

import numpy as np

from nho.errors import InputError
from nho.io.meshes.columns import UV_NAMES, to_declared_type, with_uv
from nho.io.meshes.model import Array, Attributes, ParsedMesh
from nho.io.meshes.polygons import (
    FloatArray,
    IntArray,
    lengths_of,
    ragged,
    triangulate,
    whole_numbers,
)
from nho.io.meshes.text import quoted
from nho.io.meshes.vtk_cursor import TYPES, AnyArray, Cursor

_CELL_SECTIONS = ("VERTICES", "LINES", "POLYGONS", "TRIANGLE_STRIPS", "CELLS")
_FLAT_CELLS, _THIN_CELLS = (5, 7, 9), (1, 2, 3, 4)  # triangle, polygon, quad; points and lines
_WIDTHS = {
    **{"VECTORS": 3, "NORMALS": 3, "TENSORS": 9, "TENSORS6": 6},
    **{"GLOBAL_IDS": 1, "PEDIGREE_IDS": 1},
}

Cells = tuple[AnyArray, IntArray]  # corners of all cells, one after the other; corners of each
_NO_CELLS: Cells = (np.zeros(0), np.zeros(0, dtype=np.int64))


def read_vtk(data: bytes, name: str, _folder: object) -> ParsedMesh:
    """The surface of a legacy VTK file, in the order of the file.

    Points and lines among the cells are skipped; strips, volumes and other datasets are refused.
    """
    cursor = Cursor(data, name)
    points: FloatArray | None = None
    cells: dict[str, Cells] = {}
    types: IntArray | None = None
    while words := cursor.words():
        section = words[0].upper()
        if section == "DATASET":
            if words[1:] not in (["POLYDATA"], ["UNSTRUCTURED_GRID"]):
                raise InputError(
                    f"{name}: a dataset {quoted(' '.join(words[1:]).encode())} is not a surface; "
                    "export it as POLYDATA"
                )
        elif section == "POINTS":
            flat = cursor.array(3 * cursor.count(words, 1), cursor.word(words, 2), "POINTS")
            points = flat.astype(np.float64).reshape(-1, 3)
        elif section in _CELL_SECTIONS:
            cells[section] = _cells(cursor, words)
        elif section == "CELL_TYPES":
            types = whole_numbers(cursor.array(cursor.count(words, 1), "int", "CELL_TYPES"))
        elif section == "FIELD":
            for _ in cursor.field(words):
                pass
        elif section == "METADATA":
            cursor.skip_paragraph()
        elif section in ("POINT_DATA", "CELL_DATA"):
            break  # what follows describes the mesh that has been read
        else:
            raise InputError(
                f"{name}: the section {quoted(words[0].encode('latin-1'))} is not understood; "
                "re-export the mesh"
            )
    if points is None:
        raise InputError(f"{name}: the section POINTS is missing; re-export the mesh")
    corners, counts, cell_of_polygon = _polygons(cells, types, name)
    n_points, n_cells = len(points), int(cell_of_polygon.max(initial=-1)) + 1
    cut = triangulate(corners, counts, points, name)
    data_begin = cursor.at

    def read_attributes() -> Attributes:
        cursor.at = data_begin
        vertex, cell = _data_sections(cursor, words, n_points, n_cells)
        polygon = cell_of_polygon[cut.polygon]
        face = {key: values[polygon] for key, values in cell.items()}
        return with_uv(vertex, face, cut.faces, ())

    return ParsedMesh(points, cut.faces, read_attributes, cut.notes)


def _cells(cursor: Cursor, words: list[str]) -> Cells:
    """The cells of a section, in either layout of the format."""
    section, name = words[0], cursor.name
    n_cells, size = cursor.count(words, 1), cursor.count(words, 2)
    before = cursor.at
    following = cursor.words()
    if following[:1] == ["OFFSETS"]:  # file version 5.1: n_cells counts the offsets
        offsets = whole_numbers(cursor.array(n_cells, cursor.word(following, 1), section))
        following = cursor.words()
        if following[:1] != ["CONNECTIVITY"]:
            raise InputError(f"{name}: {section} has no CONNECTIVITY; re-export the mesh")
        corners = cursor.array(size, cursor.word(following, 1), section)
        return corners, lengths_of(offsets, size, name)
    cursor.at = before
    flat = whole_numbers(cursor.array(size, "int", section))
    width = -1 if flat is None or size == 0 else int(flat[0])
    alike = flat is not None and width >= 0 and size == n_cells * (width + 1)
    if flat is not None and alike and np.all(flat[:: width + 1] == width):  # no need to walk
        table = flat.reshape(n_cells, width + 1)[:, 1:]
        return table.reshape(-1), np.full(n_cells, width, dtype=np.int64)
    counts, starts, at = [], [], 0
    lengths = [] if flat is None else flat.tolist()
    while at < len(lengths) and 0 <= lengths[at] < size - at:
        counts.append(lengths[at])
        starts.append(at + 1)
        at += lengths[at] + 1
    if flat is None or at != size or len(counts) != n_cells:
        raise InputError(
            f"{name}: {section} does not hold the {n_cells} cells it promises; re-export the mesh"
        )
    per_cell = np.array(counts, dtype=np.int64)
    return ragged(flat, np.array(starts, dtype=np.int64), per_cell), per_cell


def _polygons(
    cells: dict[str, Cells], types: IntArray | None, name: str
) -> tuple[AnyArray, IntArray, IntArray]:
    """Corners, corners per polygon, and which of the cells that CELL_DATA counts each is."""
    if len(cells.get("TRIANGLE_STRIPS", _NO_CELLS)[1]):
        raise InputError(f"{name}: triangle strips are not supported; export it as POLYGONS")
    if "CELLS" not in cells:
        corners, counts = cells.get("POLYGONS", _NO_CELLS)
        # Cell data count points first, then lines, then polygons.
        before = sum(len(cells.get(section, _NO_CELLS)[1]) for section in ("VERTICES", "LINES"))
        return corners, counts, before + np.arange(len(counts))
    corners, counts = cells["CELLS"]
    if types is None or len(types) != len(counts):
        raise InputError(f"{name}: every cell needs one CELL_TYPES entry; re-export the mesh")
    flat, thin = np.isin(types, _FLAT_CELLS), np.isin(types, _THIN_CELLS)
    if not np.all(flat | thin):
        cell = int(np.argmin(flat | thin))
        raise InputError(
            f"{name}: cell {cell} has the type {int(types[cell])}, only triangles (5), polygons (7)"
            " and quads (9) make a surface; extract the surface and export it as POLYDATA"
        )
    starts = np.cumsum(counts) - counts
    return ragged(corners, starts[flat], counts[flat]), counts[flat], np.flatnonzero(flat)


def _data_sections(
    cursor: Cursor, words: list[str], n_points: int, n_cells: int
) -> tuple[dict[str, Array], dict[str, Array]]:
    """The arrays of POINT_DATA and of CELL_DATA; the cursor stands behind the line ``words``."""
    vertex: dict[str, Array] = {}
    cell: dict[str, Array] = {}
    while words:
        section = words[0].upper()
        if section not in ("POINT_DATA", "CELL_DATA"):
            raise InputError(
                f"{cursor.name}: the data section {quoted(words[0].encode('latin-1'))} is not "
                "understood; re-export the mesh"
            )
        count = cursor.count(words, 1)
        of_points = section == "POINT_DATA"
        least = n_points if of_points else n_cells
        if count < least or (of_points and count != least):
            raise InputError(
                f"{cursor.name}: {section} is for {count} rows but the mesh has {least}; "
                "re-export it"
            )
        words = _data_arrays(cursor, count, vertex if of_points else cell)
    return vertex, cell


def _data_arrays(cursor: Cursor, count: int, into: dict[str, Array]) -> list[str]:
    """Read arrays until another section begins; its line is returned."""
    while words := cursor.words():
        kind = words[0].upper()
        if kind == "METADATA":
            cursor.skip_paragraph()
        elif kind == "FIELD":
            for key, width, type_name, values in cursor.field(words):
                if len(values) == count * width:
                    into[unquote(key)] = _rows(values, width, type_name, key, cursor.name)
        elif kind == "SCALARS":
            width = cursor.count(words, 3) if len(words) > 3 else 1
            before = cursor.at
            if cursor.words()[:1] != ["LOOKUP_TABLE"]:
                cursor.at = before
            _read(cursor, words, width, count, into)
        elif kind == "COLOR_SCALARS":
            width = cursor.count(words, 2)
            type_name = "unsigned_char" if cursor.binary else "float"
            colours: Array = cursor.array(count * width, type_name, kind).reshape(count, width)
            if type_name == "float":
                colours = np.rint(255 * np.clip(np.nan_to_num(colours), 0, 1)).astype(np.uint8)
            into[unquote(words[1])] = colours
        elif kind == "LOOKUP_TABLE":
            cursor.array(4 * cursor.count(words, 2), "unsigned_char", kind)
        elif kind == "TEXTURE_COORDINATES":
            width, type_name = cursor.count(words, 2), cursor.word(words, 3)
            values = cursor.array(count * width, type_name, kind)
            into[UV_NAMES[0]] = _rows(values, width, type_name, kind, cursor.name)
        elif kind in _WIDTHS:
            _read(cursor, words, _WIDTHS[kind], count, into)
        else:
            break
    return words


def _read(cursor: Cursor, words: list[str], width: int, count: int, into: dict[str, Array]) -> None:
    """An array whose line is keyword, name and type."""
    type_name = cursor.word(words, 2)
    values = cursor.array(count * width, type_name, words[0])
    if words[0].upper() != "NORMALS":  # they belong to the pose of the surface
        into[unquote(words[1])] = _rows(values, width, type_name, words[1], cursor.name)


def _rows(values: Array, width: int, type_name: str, key: str, name: str) -> Array:
    if width < 1:
        raise InputError(f"{name}: {quoted(key.encode())} has no columns; re-export the mesh")
    wide = to_declared_type(
        values, TYPES[type_name.lower()], quoted(key.encode("latin-1", "replace")), name
    )
    return wide if width == 1 else wide.reshape(-1, width)
