"""PLY: text and binary of both byte orders, with any further properties and elements.

Texture coordinates are ``s, t`` (or ``u, v``, ``texture_u, texture_v``) of the vertices, or the
list ``texcoord`` of the faces with the image in ``texnumber``; images are named by comments
``TextureFile``.
"""

from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.io.meshes.columns import (
    CHANNELS,
    arrays_to_columns,
    as_numbers,
    columns_to_arrays,
    left_out,
    to_declared_type,
    uv_of_vertices,
)
from nho.io.meshes.model import Array, Attributes, ParsedMesh, Written
from nho.io.meshes.ply_tables import Element, Lists, PlyFile, Table, read_tables
from nho.io.meshes.polygons import FloatArray, IntArray, Triangles, triangulate
from nho.io.meshes.textures import image_files, texture_beside
from nho.io.meshes.word_labels import coded

_NAMES = {  # the first that holds a label is taken
    **{"int32": "int", "uint32": "uint", "float32": "float", "float64": "double"},
    **{"int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort"},
}
_CORNERS = ("vertex_indices", "vertex_index")
_OWN_OF_VERTEX = ("x", "y", "z", "nx", "ny", "nz")
_OWN_OF_FACE = (*_CORNERS, "texcoord", "texnumber")


def read_ply(data: bytes, name: str, folder: Path) -> ParsedMesh:
    """The surface of a PLY file, in the order of the file."""
    file = read_tables(data, name)
    vertices, polygons = _surface(file.tables, name)
    if polygons is None:
        return _cloud(file, vertices, name)
    cut = triangulate(polygons.flat, polygons.counts, vertices, name)
    return ParsedMesh(
        vertices,
        cut.faces,
        lambda: _attributes(file, cut, polygons.counts, name, folder),
        cut.notes,
    )


def _surface(tables: dict[str, Table], name: str) -> tuple[FloatArray, Lists | None]:
    """Vertices (n, 3) and polygons out of the tables of a file; None = a cloud of points."""
    if "tristrips" in tables:
        raise InputError(
            f"{name}: triangle strips are not supported; export it with a `face` element"
        )
    vertex = tables.get("vertex", {})
    axes = [axis for axis in map(vertex.get, "xyz") if isinstance(axis, np.ndarray)]
    if len(axes) < 3:
        raise InputError(f"{name}: it has no vertices with x, y and z; re-export the mesh")
    vertices = np.column_stack(axes).astype(np.float64)
    face = tables.get("face", {})
    lists = face.get(_CORNERS[0], face.get(_CORNERS[1]))
    if isinstance(lists, Lists):
        return vertices, lists if len(lists.counts) else None
    if face:
        raise InputError(
            f"{name}: it has no faces (`face` with `vertex_indices`), only {len(vertices)} points; "
            "export a triangle mesh"
        )
    return vertices, None


def _cloud(file: PlyFile, vertices: FloatArray, name: str) -> ParsedMesh:
    """Points without faces, with the normals that scanners write."""
    vertex = file.tables["vertex"]
    axes = [axis for axis in map(vertex.get, ("nx", "ny", "nz")) if isinstance(axis, np.ndarray)]
    normals = np.column_stack(axes).astype(np.float64) if len(axes) == 3 else None

    def attributes() -> Attributes:
        notes: list[str] = []
        arrays, _ = columns_to_arrays(_columns(file.elements["vertex"], vertex, name, notes))
        return Attributes(
            {key: arrays[key] for key in arrays if key not in "xyz"}, notes=tuple(notes)
        )

    return ParsedMesh(vertices, np.empty((0, 3), dtype=np.int64), attributes, normals=normals)


def _attributes(
    file: PlyFile, cut: Triangles, counts: IntArray, name: str, folder: Path
) -> Attributes:
    """Scalar properties, texture coordinates and images; ``counts`` are corners of polygons."""
    polygon, corners = cut.polygon, cut.corners
    notes: list[str] = []
    columns = {
        key: _columns(file.elements[key], file.tables[key], name, notes)
        for key in ("vertex", "face")
    }
    vertex, uv_of_vertex = columns_to_arrays(columns["vertex"])
    for axis in "xyz":
        del vertex[axis]
    image = columns["face"].pop("texnumber", None)
    of_face, _ = columns_to_arrays(columns["face"])
    uv = _corner_uv(file.tables["face"].get("texcoord"), counts, corners, notes)
    if uv is None and uv_of_vertex is not None:
        uv = uv_of_vertex[cut.faces]
    found = [texture_beside(folder, texture, notes) for texture in file.textures]
    textures = tuple(texture for texture in found if texture is not None)
    face = {key: values[polygon] for key, values in of_face.items()}
    shown = _texture_of_face(image, polygon, len(textures), name)
    return Attributes(vertex, face, uv, textures, shown, tuple(notes))


def _columns(element: Element, table: Table, name: str, notes: list[str]) -> dict[str, Array]:
    """The scalar properties of an element in their own types."""
    columns: dict[str, Array] = {}
    for column in element.properties:
        values = table[column.name]
        if not isinstance(values, Lists):
            what = f"property {column.name!r} of `{element.name}`"
            columns[column.name] = to_declared_type(values, column.type, what, name)
        elif column.name not in (*_CORNERS, "texcoord"):
            notes.append(f"the list {column.name!r} of `{element.name}` was left out")
    return columns


def _corner_uv(
    lists: object, counts: IntArray, corners: IntArray, notes: list[str]
) -> Array | None:
    """(m, 3, 2) out of a list of 2 k numbers for every polygon of k corners, or of none."""
    if not isinstance(lists, Lists):
        return None
    there = lists.counts > 0
    if not np.array_equal(lists.counts[there], 2 * counts[there]):
        notes.append("the list 'texcoord' does not hold two numbers per corner and was left out")
        return None
    # The rows without a list have no numbers in `flat`, so the others follow in their order.
    flat = np.full((int(counts.sum()), 2), np.nan)
    flat[np.repeat(there, counts)] = lists.flat.astype(np.float64).reshape(-1, 2)
    return flat[corners]


def _texture_of_face(
    image: Array | None, polygon: IntArray, n_textures: int, name: str
) -> IntArray | None:
    """(m,) the image that every triangle shows, where there is a choice."""
    if image is None or n_textures < 2:
        return None
    if image.dtype.kind not in "iu" or image.min(initial=0) < -1 or image.max() >= n_textures:
        raise InputError(
            f"{name}: a face has `texnumber` {image.max()} but {n_textures} textures are named; "
            "re-export the mesh"
        )
    return image[polygon].astype(np.int64)


def write_ply(vertices: Array, faces: Array, attributes: Attributes, stem: str) -> Written:
    """A binary PLY file, little endian; images go beside it."""
    return _written(vertices, faces, attributes, stem, as_text=False)


def write_ascii_ply(vertices: Array, faces: Array, attributes: Attributes, stem: str) -> Written:
    """The same as text, with every digit."""
    return _written(vertices, faces, attributes, stem, as_text=True)


def _written(
    vertices: Array, faces: Array, attributes: Attributes, stem: str, as_text: bool
) -> Written:
    # 32-bit indices are what other programs read.
    if len(vertices) > np.iinfo(np.int32).max:
        raise InputError(f"{len(vertices)} vertices are too many for a PLY file; simplify the mesh")
    attributes, legend, notes = coded(attributes, stem)
    uv_of_vertex = uv_of_vertices(faces, attributes.uv, len(vertices))
    pair = None if uv_of_vertex is None else uv_of_vertex.astype(np.float32)
    of_vertex = {axis: vertices[:, at] for at, axis in enumerate("xyz")}
    of_vertex |= _numbers(
        arrays_to_columns(attributes.vertex, pair, ("s", "t"), _OWN_OF_VERTEX), notes
    )
    of_face = _numbers(arrays_to_columns(attributes.face, None, ("s", "t"), _OWN_OF_FACE), notes)
    images = image_files(attributes.textures, stem)
    if len(images) > 1:
        of_face["texnumber"] = attributes.texture_indices(len(faces)).astype(np.int32)
    corner_uv = attributes.uv if uv_of_vertex is None else None

    header = ["ply", f"format {'ascii' if as_text else 'binary_little_endian'} 1.0"]
    header += [f"comment TextureFile {name}" for name in images]
    header += [f"element vertex {len(vertices)}", *_properties(of_vertex, as_text)]
    header += [f"element face {len(faces)}", "property list uchar int vertex_indices"]
    if corner_uv is not None:
        header.append("property list uchar float texcoord")
    header += [*_properties(of_face, as_text), "end_header\n"]
    if as_text:
        lines = [*_lines(of_vertex), *_face_lines(faces, corner_uv, of_face)]
        beside = {**images, **legend}
        return Written(("\n".join(header) + "\n".join(lines) + "\n").encode(), beside, notes)
    vertex_rows = np.empty(len(vertices), dtype=_row(of_vertex))
    _fill(vertex_rows, of_vertex)
    body = vertex_rows.tobytes() + _face_rows(faces, corner_uv, of_face)
    return Written("\n".join(header).encode() + body, {**images, **legend}, notes)


def _lines(columns: dict[str, Array]) -> list[str]:
    """A line for each row; numbers in the fewest digits that give them back exactly."""
    texts = [
        list(map(str, values.tolist() if values.dtype == np.float64 else values))
        for values in columns.values()
    ]
    return [" ".join(row) for row in zip(*texts, strict=True)]


def _face_lines(faces: Array, uv: Array | None, columns: dict[str, Array]) -> list[str]:
    """Corners, texture coordinates (an empty list where there are none) and further columns."""
    lines = [f"3 {a} {b} {c}" for a, b, c in faces.tolist()]
    if uv is not None:
        six = uv.astype(np.float32).reshape(-1, 6)
        lists = [f"6 {' '.join(map(str, row))}" if np.isfinite(row).all() else "0" for row in six]
        lines = [f"{line} {more}" for line, more in zip(lines, lists, strict=True)]
    if columns:
        lines = [f"{line} {more}" for line, more in zip(lines, _lines(columns), strict=True)]
    return lines


def _numbers(columns: dict[str, Array], notes: list[str]) -> dict[str, Array]:
    """The columns in types that PLY has; a note names those made of words."""
    numbers = {name: as_numbers(values, _NAMES, name) for name, values in columns.items()}
    for name in (name for name, values in numbers.items() if values is None):
        notes += left_out([name], "PLY cannot store text")
    return {name: values for name, values in numbers.items() if values is not None}


def _properties(columns: dict[str, Array], as_text: bool) -> list[str]:
    """The line of the header for each column."""
    names = {name: _NAMES[values.dtype.name] for name, values in columns.items()}
    if as_text:  # geomorph's read.ply looks for coordinates among lines with `property float`,
        names |= {axis: "float64" for axis in "xyz" if axis in columns}
        # and takes columns 4 to 6 for colours if there is any `property uchar`.
        bytes_ = {name for name, kind in names.items() if kind == "uchar"}
        names |= dict.fromkeys(bytes_.difference(CHANNELS), "uint8")
    return [f"property {kind} {name}" for name, kind in names.items()]


def _row(columns: dict[str, Array]) -> list[tuple[str, np.dtype]]:
    """Fields "0", "1", ... of a row of bytes that holds one entry of every column."""
    kinds = [values.dtype.newbyteorder("<") for values in columns.values()]
    return [(str(at), kind) for at, kind in enumerate(kinds)]


def _fill(rows: Array, columns: dict[str, Array]) -> None:
    for at, values in enumerate(columns.values()):
        rows[str(at)] = values


def _face_rows(faces: Array, uv: Array | None, columns: dict[str, Array]) -> bytes:
    """Corners, texture coordinates (an empty list where there are none) and further columns."""
    lists = [("n", "u1"), ("corners", "<i4", 3), ("k", "u1"), ("uv", "<f4", 6)]
    row = np.dtype([*(lists if uv is not None else lists[:2]), *_row(columns)])
    rows = np.empty(len(faces), dtype=row)
    rows["n"], rows["corners"] = 3, faces
    _fill(rows, columns)
    if uv is None:
        return rows.tobytes()
    known = np.isfinite(uv).all(axis=(1, 2))
    rows["k"], rows["uv"] = np.where(known, 6, 0), uv.reshape(-1, 6)
    every = rows.view(np.uint8).reshape(len(faces), -1)
    kept = np.ones(every.shape, dtype=bool)
    start = 14  # bytes before the texture coordinates: n, corners and k
    kept[~known, start : start + 24] = False
    return every[kept].tobytes()
