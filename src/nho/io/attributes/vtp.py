"""Attributes of VTP files: the arrays of PointData and CellData."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nho.io.attributes.model import Array, Attributes
from nho.io.attributes.shared import Surface, fans, typed
from nho.io.meshes.vtp import TYPES, Piece, VtpFile, array_of, open_vtp, read_pieces, surface_of
from nho.runtime.untrusted_xml import Element

UV_NAMES = ("uv", "TCoords", "Texture Coordinates", "TextureCoordinates")
CORNER_UV = "corner_uv"  # six numbers a cell: what nho writes where a vertex has several


def read_vtp(data: bytes, name: str, _folder: Path) -> Surface:
    """Vertices, triangles and attributes of a VTP file."""
    root, file = open_vtp(data, name)
    pieces = read_pieces(root, file)
    vertices, faces = surface_of(pieces, name)
    notes: list[str] = []
    points = [_arrays(piece, "PointData", len(piece.points), 0, file, notes) for piece in pieces]
    cells = []
    for piece in pieces:
        before = _number(piece.element, "NumberOfVerts") + _number(piece.element, "NumberOfLines")
        arrays = _arrays(piece, "CellData", len(piece.counts), before, file, notes)
        polygon = fans(piece.counts)[0] if len(piece.counts) else np.zeros(0, dtype=np.int64)
        cells.append({key: values[polygon] for key, values in arrays.items()})
    vertex, face = _whole(points, notes), _whole(cells, notes)
    return vertices, faces, with_uv(vertex, face, faces, notes)


def with_uv(
    vertex: dict[str, Array], face: dict[str, Array], faces: Array, notes: list[str]
) -> Attributes:
    """Attributes with the arrays that hold texture coordinates told apart."""
    uv = None
    corner = face.get(CORNER_UV)
    if corner is not None and corner.dtype.kind == "f" and corner.shape[1:] == (6,):
        uv = face.pop(CORNER_UV).astype(np.float64).reshape(-1, 3, 2)
    for name in UV_NAMES:
        found = vertex.get(name)
        if found is not None and found.dtype.kind == "f" and found.shape[1:] in ((2,), (3,)):
            of_vertex = vertex.pop(name)[:, :2].astype(np.float64)
            uv = of_vertex[faces] if uv is None else uv
    return Attributes(vertex, face, uv, notes=tuple(notes))


def _arrays(
    piece: Piece, group: str, count: int, before: int, file: VtpFile, notes: list[str]
) -> dict[str, Array]:
    """The arrays of a group by name, without the first ``before`` rows."""
    section = piece.element.find(group)
    if section is None:
        return {}
    normals, coordinates = section.get("Normals", "Normals"), section.get("TCoords")
    arrays: dict[str, Array] = {}
    for element in section.iterfind("DataArray"):
        name = element.get("Name", "")
        if name == normals:
            continue  # they belong to the pose of the surface
        if element.get("type") not in TYPES or not name:
            notes.append(f"the array {name!r} of {group} is not made of numbers and was left out")
            continue
        what = f"{group} {name!r}"
        values = array_of(element, what, file)
        width = _number(element, "NumberOfComponents", 1)
        if width < 1 or len(values) % width or len(values) // width < before + count:
            raise file.broken(f"{what} has {len(values)} numbers, not {width} for each")
        values = typed(values, TYPES[element.get("type", "")], what, file.name)
        rows = values.reshape(-1, width)[before : before + count]
        if len(values) // width != before + count:
            raise file.broken(f"{what} has {len(values) // width} rows, not {before + count}")
        key = UV_NAMES[0] if name == coordinates else name
        arrays[key] = rows[:, 0] if width == 1 else rows
    return arrays


def _whole(parts: list[dict[str, Array]], notes: list[str]) -> dict[str, Array]:
    """Arrays of all pieces; one that a piece lacks, or has in another shape, is left out."""
    whole: dict[str, Array] = {}
    for name in dict.fromkeys(key for part in parts for key in part):
        found = [part[name] for part in parts if name in part]
        if len(found) < len(parts) or len({values.shape[1:] for values in found}) > 1:
            notes.append(f"{name!r} is not the same in every piece and was left out")
        else:
            whole[name] = np.concatenate(found)
    return whole


def _number(element: Element, attribute: str, default: int = 0) -> int:
    text = element.get(attribute, "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default
