"""PLY with attributes: binary, little endian."""

from __future__ import annotations

import numpy as np

from nho.errors import InputError
from nho.io.attributes.columns import split
from nho.io.attributes.model import Array, Attributes, uv_of_vertices
from nho.io.attributes.written import Written, as_numbers, image_files

_NAMES = {  # the first that holds a label is taken
    **{"int32": "int", "uint32": "uint", "float32": "float", "float64": "double"},
    **{"int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort"},
}
_OWN_OF_VERTEX = ("x", "y", "z", "nx", "ny", "nz")
_OWN_OF_FACE = ("vertex_indices", "vertex_index", "texcoord", "texnumber")


def write_ply(vertices: Array, faces: Array, attributes: Attributes, stem: str) -> Written:
    """The bytes of a PLY file; images go beside it."""
    if len(vertices) > np.iinfo(np.int32).max:
        raise InputError(f"{len(vertices)} vertices are too many for a PLY file; simplify the mesh")
    notes: list[str] = []
    uv = attributes.uv
    uv_of_vertex = None if uv is None else uv_of_vertices(faces, uv, len(vertices))
    pair = None if uv_of_vertex is None else uv_of_vertex.astype(np.float32)
    of_vertex = {axis: vertices[:, at] for at, axis in enumerate("xyz")}
    of_vertex |= _numbers(split(attributes.vertex, pair, ("s", "t"), _OWN_OF_VERTEX), notes)
    of_face = _numbers(split(attributes.face, None, ("s", "t"), _OWN_OF_FACE), notes)
    images = image_files(attributes.textures, stem)
    if len(images) > 1:
        of_face["texnumber"] = attributes.texture_indices(len(faces)).astype(np.int32)
    corner_uv = uv if uv_of_vertex is None else None

    header = ["ply", "format binary_little_endian 1.0"]
    header += [f"comment TextureFile {name}" for name in images]
    header += [f"element vertex {len(vertices)}", *_properties(of_vertex)]
    header += [f"element face {len(faces)}", "property list uchar int vertex_indices"]
    if corner_uv is not None:
        header.append("property list uchar float texcoord")
    header += [*_properties(of_face), "end_header\n"]
    body = _rows(of_vertex, len(vertices)).tobytes() + _face_rows(faces, corner_uv, of_face)
    return Written("\n".join(header).encode() + body, images, notes)


def _numbers(columns: dict[str, Array], notes: list[str]) -> dict[str, Array]:
    numbers = {}
    for name, values in columns.items():
        known = as_numbers(values, _NAMES, name)
        if known is None:
            notes.append(f"PLY has no words: left out {name}")
        else:
            numbers[name] = known
    return numbers


def _properties(columns: dict[str, Array]) -> list[str]:
    return [f"property {_NAMES[values.dtype.name]} {name}" for name, values in columns.items()]


def _rows(columns: dict[str, Array], count: int) -> Array:
    """Columns as rows of bytes."""
    kinds = [
        (str(at), values.dtype.newbyteorder("<")) for at, values in enumerate(columns.values())
    ]
    rows = np.empty(count, dtype=kinds)
    for at, values in enumerate(columns.values()):
        rows[str(at)] = values
    return rows


def _face_rows(faces: Array, uv: Array | None, columns: dict[str, Array]) -> bytes:
    """Corners, texture coordinates (an empty list where there are none) and further columns."""
    lists = [("n", "u1"), ("corners", "<i4", 3), ("k", "u1"), ("uv", "<f4", 6)]
    further = _rows(columns, len(faces)).dtype.descr if columns else []
    rows = np.empty(len(faces), dtype=(lists if uv is not None else lists[:2]) + further)
    rows["n"], rows["corners"] = 3, faces
    for at, values in enumerate(columns.values()):
        rows[str(at)] = values
    if uv is None:
        return rows.tobytes()
    known = np.isfinite(uv).all(axis=(1, 2))
    rows["k"], rows["uv"] = np.where(known, 6, 0), uv.reshape(-1, 6)
    every = rows.view(np.uint8).reshape(len(faces), -1)
    kept = np.ones(every.shape, dtype=bool)
    start = rows.dtype.fields["uv"][1]  # type: ignore[index]
    kept[~known, start : start + 24] = False
    return every[kept].tobytes()
