"""Attributes in files of their own: CSV, NPZ, and text lists of selected vertices.

CSV
    A header with names, then one row for each vertex (or each face), cells between commas,
    semicolons or tabs. A first column ``vertex`` or ``face`` numbers the rows; without it, the
    number of rows decides. A column of whole numbers is a label, one of decimals a scalar (an
    empty cell is NaN), one of ``true`` and ``false`` a selection, and anything else a label in
    words.
NPZ
    Arrays by name, with one row per vertex, or one per face. The name of an array on faces begins
    with ``face_``. ``uv`` is (n, 2), one pair per vertex, or (m, 3, 2), one per corner.
    ``vertices`` and ``faces`` are the mesh itself.
TXT
    The indices of the selected vertices, from 0, in any layout; `#` begins a comment.
"""

import csv
import io
import zipfile

import numpy as np

from nho.errors import InputError
from nho.io.meshes.columns import arrays_to_columns, columns_to_arrays, uv_of_vertices
from nho.io.meshes.model import MASK, UV, Array, Attributes, Written, kind_of
from nho.io.meshes.polygons import whole_numbers
from nho.io.meshes.text import parse_numbers, quoted, unix_text, without_comments
from nho.runtime.csv_table import csv_rows
from nho.runtime.npz import check_archive, npz_bytes, read_array

_MESH = ("vertices", "faces")
_OF_FACE = "face_"
_TAKEN = (UV, "file", "allow_pickle")  # what `numpy.savez` would take for its own arguments
_TRUTH = {"true": True, "false": False}
_LARGEST = 2**63 - 1
_LONGEST = 200  # characters of a cell: every row of a column of words takes as much as the longest


def read_csv(data: bytes, name: str, n_vertices: int, n_faces: int, faces: Array) -> Attributes:
    """Attributes of a mesh with (m, 3) faces out of the text of a CSV file."""
    table = csv_rows(data, name, comments=False, numbers=True)  # `#` may begin a label
    if len(table) < 2:
        raise InputError(f"{name}: there are no rows below a header; give names and then the rows")
    header = [cell.strip() for cell in table[0][1]]
    _check_header(header, name)
    for line, row in table[1:]:
        if len(row) != len(header):
            raise InputError(
                f"{name}: line {line} has {len(row)} cells but the header has {len(header)}; "
                "put quotes around a cell with a comma in it"
            )
    rows = [row for _, row in table[1:]]
    columns = {}
    for at, key in enumerate(header):
        cells = [row[at].strip() for row in rows]
        if max(map(len, cells)) > _LONGEST:
            raise InputError(f"{name}: a cell of column {key!r} is too long; is it a CSV table?")
        columns[key] = _column(cells)
    per_face = _is_per_face(columns, len(rows), n_vertices, n_faces, name)
    arrays, uv = columns_to_arrays(columns)
    if per_face:
        return Attributes(face=arrays)
    return Attributes(vertex=arrays, uv=None if uv is None else uv[faces])


def _check_header(header: list[str], name: str) -> None:
    if all(_is_number(cell) for cell in header):
        raise InputError(f"{name}: the first row holds numbers; name the columns there")
    for at, cell in enumerate(header):
        if not cell or cell in header[:at]:
            raise InputError(
                f"{name}: column {at + 1} of the header is {cell!r}, which is empty or there "
                "twice; give every column a name of its own"
            )


def _is_per_face(
    columns: dict[str, Array], n_rows: int, n_vertices: int, n_faces: int, name: str
) -> bool:
    """Whether the rows are faces; the column that numbers them is taken out."""
    for key, count in (("vertex", n_vertices), ("face", n_faces)):
        numbers = columns.get(key)
        if numbers is None or next(iter(columns)) != key:
            continue
        if n_rows != count or not np.array_equal(numbers, np.arange(count)):
            raise InputError(
                f"{name}: its column {key!r} should count from 0 to {count - 1}, one row for each "
                f"{key} of the mesh, but it has {n_rows} rows or another order; sort it"
            )
        del columns[key]
        return key == "face"
    if n_rows not in (n_vertices, n_faces):
        raise InputError(
            f"{name}: it has {n_rows} rows but the mesh has {n_vertices} vertices and {n_faces} "
            "faces; give one row for each"
        )
    return n_rows != n_vertices


def _column(cells: list[str]) -> Array:
    """The cells in the simplest type that holds them all."""
    lower = {cell.lower() for cell in cells}
    if lower <= set(_TRUTH):
        return np.array([_TRUTH[cell.lower()] for cell in cells], dtype=bool)
    if all(_is_whole(cell) for cell in cells):
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    if all(not cell or _is_number(cell) for cell in cells) and lower != {""}:
        return np.array([float(cell) if cell else np.nan for cell in cells])
    return np.array(cells, dtype=np.str_)


def _is_whole(cell: str) -> bool:
    digits = cell.removeprefix("-").removeprefix("+")
    short = digits.isascii() and digits.isdigit() and len(digits) < 20
    return short and abs(int(cell)) <= _LARGEST


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return cell.isascii() and "_" not in cell


def write_csv(vertices: Array, faces: Array, attributes: Attributes, _stem: str) -> Written:
    """A row per vertex, or per face if nothing is on the vertices; NaN is an empty cell."""
    of, count, arrays, uv = "vertex", len(vertices), attributes.vertex, None
    notes = []
    if attributes.face and not set(attributes.vertex) - {MASK} and attributes.uv is None:
        of, count, arrays = "face", len(faces), attributes.face
    elif attributes.face:
        notes.append(f"this CSV has rows for vertices: left out {', '.join(attributes.face)}")
    if attributes.uv is not None:
        uv = uv_of_vertices(faces, attributes.uv, len(vertices))
        if uv is None:
            notes.append("a vertex at a seam has several texture coordinates: left out uv")
    columns = arrays_to_columns(arrays, uv, ("u", "v"), (of,))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([of, *columns])
    writer.writerows(zip(range(count), *map(_cells, columns.values())))
    return Written(text.getvalue().encode(), notes=notes)


def _cells(values: Array) -> list[object]:
    if values.dtype.kind == "b":
        return ["true" if value else "false" for value in values.tolist()]
    if values.dtype.kind != "f":
        return list(values.tolist())
    # As short as tells it apart in its own type, and with a point even if it is whole.
    return ["" if np.isnan(value) else str(value) for value in values]


def read_npz(data: bytes, name: str, n_vertices: int, n_faces: int, faces: Array) -> Attributes:
    """Attributes of a mesh with (m, 3) faces out of an NPZ file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_archive(archive, len(data))
            found = {
                member.removesuffix(".npy"): read_array(archive, member)
                for member in archive.namelist()
                if member.endswith(".npy")
            }
    except MemoryError:
        raise
    except Exception as problem:
        raise InputError(
            f"{name}: cannot be read as NPZ ({str(problem)[:200]}); save it with numpy.savez"
        ) from problem
    vertex: dict[str, Array] = {}
    face: dict[str, Array] = {}
    uv = None
    for key, array in found.items():
        if key in _MESH:
            continue
        if (
            key == UV
            and array.shape in ((n_vertices, 2), (n_faces, 3, 2))
            and array.dtype.kind == "f"
        ):
            uv = array[faces] if array.ndim == 2 else array
        elif key.startswith(_OF_FACE) and array.shape[:1] == (n_faces,):
            face[key.removeprefix(_OF_FACE)] = array
        elif array.shape[:1] == (n_vertices,):
            vertex[key] = array
        elif array.shape[:1] == (n_faces,):
            face[key] = array
        else:
            raise InputError(
                f"{name}: array {key!r} has shape {array.shape}, but the mesh has {n_vertices} "
                f"vertices and {n_faces} faces; give one row for each"
            )
    return Attributes(vertex, face, uv)


def write_npz(vertices: Array, faces: Array, attributes: Attributes, _stem: str) -> Written:
    """Mesh and attributes as an NPZ file."""
    notes = ["NPZ holds no images: left out the texture"] if attributes.textures else []
    arrays: dict[str, Array] = {"vertices": vertices, "faces": faces}
    for prefix, of in (("", attributes.vertex), (_OF_FACE, attributes.face)):
        for key, array in of.items():
            name = prefix + key.replace("/", "_")
            while name in arrays or name in _TAKEN:
                name = f"data_{name}"
            arrays[name] = array
    if attributes.uv is not None:
        arrays[UV] = attributes.uv
    return Written(npz_bytes(arrays, compress=True), notes=notes)


def read_list(data: bytes, name: str, n_vertices: int, key: str) -> Attributes:
    """The selection ``key`` out of a list of vertex indices."""
    words = without_comments(unix_text(data)).replace(b",", b" ").split()
    values = parse_numbers(b" ".join(words), len(words)) if words else np.zeros(0)
    chosen = None if values is None else whole_numbers(values)
    if chosen is None:
        wrong = next((word for word in words if not word.isdigit()), words[0])
        raise InputError(
            f"{name}: {quoted(wrong)} is not a vertex index; give whole numbers from 0"
        )
    outside = (chosen < 0) | (chosen >= n_vertices)
    if outside.any():
        raise InputError(
            f"{name}: it selects vertex {int(chosen[np.argmax(outside)])} but the mesh has "
            f"{n_vertices} vertices (0-{n_vertices - 1}); is it of the other mesh?"
        )
    selection = np.zeros(n_vertices, dtype=bool)
    selection[chosen] = True
    return Attributes(vertex={key: selection})


def write_list(_vertices: Array, _faces: Array, attributes: Attributes, _stem: str) -> Written:
    """The vertices of a single selection, one index per line below a comment."""
    chosen = [
        name
        for name, values in attributes.vertex.items()
        if kind_of(values) == "selection" and name != MASK
    ]
    if len(chosen) != 1:
        raise InputError(
            f"a text list holds one selection, but there are {len(chosen)}; choose one with --only"
        )
    lines = [f"# {' '.join(chosen[0].split())}: selected vertices, from 0"]
    indices = np.flatnonzero(attributes.vertex[chosen[0]]).tolist()
    return Written("\n".join([*lines, *map(str, indices), ""]).encode())
