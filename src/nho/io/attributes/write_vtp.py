"""VTP with attributes: arrays as base64, without compression, which every VTK reads."""

from __future__ import annotations

import base64
from xml.sax.saxutils import quoteattr

import numpy as np

from nho.io.attributes.model import Array, Attributes, uv_of_vertices
from nho.io.attributes.vtp import CORNER_UV, UV_NAMES
from nho.io.attributes.written import Written, as_numbers, left_out

_NAMES = {
    **{f"int{bits}": f"Int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"UInt{bits}" for bits in (8, 16, 32, 64)},
    **{"float32": "Float32", "float64": "Float64"},
}


def write_vtp(vertices: Array, faces: Array, attributes: Attributes, _stem: str) -> Written:
    """The text of a VTP file."""
    vertex, face, active = dict(attributes.vertex), dict(attributes.face), ""
    if attributes.uv is not None:
        of_vertex = uv_of_vertices(faces, attributes.uv, len(vertices))
        if of_vertex is not None:
            vertex[UV_NAMES[0]], active = of_vertex, f' TCoords="{UV_NAMES[0]}"'
        else:
            face[CORNER_UV] = attributes.uv.reshape(-1, 6)
    ends = 3 * np.arange(1, len(faces) + 1)
    words = [name for name, values in {**vertex, **face}.items() if values.dtype.kind == "U"]
    lines = [
        '<?xml version="1.0"?>',
        '<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">',
        "<PolyData>",
        f'<Piece NumberOfPoints="{len(vertices)}" NumberOfVerts="0" NumberOfLines="0" '
        f'NumberOfStrips="0" NumberOfPolys="{len(faces)}">',
        f"<PointData{active}>",
        *(_array(name, values) for name, values in vertex.items()),
        "</PointData>",
        "<CellData>",
        *(_array(name, values) for name, values in face.items()),
        "</CellData>",
        f"<Points>\n{_array('Points', vertices)}\n</Points>",
        "<Polys>",
        _array("connectivity", faces.reshape(-1).astype(np.int64)),
        _array("offsets", ends.astype(np.int64)),
        "</Polys>",
        "</Piece>",
        "</PolyData>",
        "</VTKFile>",
    ]
    notes = left_out(words, "words are not numbers")
    if attributes.textures:
        notes.append("VTP holds no images: left out the texture")
    return Written("\n".join(line for line in lines if line).encode(), {}, notes)


def _array(name: str, values: Array) -> str:
    numbers = as_numbers(values, _NAMES, name)
    if numbers is None:
        return ""
    raw = np.ascontiguousarray(numbers, dtype=numbers.dtype.newbyteorder("<")).tobytes()
    content = base64.b64encode(np.array(len(raw), "<u8").tobytes() + raw).decode()
    width = values.shape[1] if values.ndim == 2 else 1
    return (
        f'<DataArray type="{_NAMES[numbers.dtype.name]}" Name={quoteattr(_printable(name))} '
        f'NumberOfComponents="{width}" format="binary">{content}</DataArray>'
    )


def _printable(name: str) -> str:
    """XML has no room for control characters."""
    return "".join(character if character.isprintable() else "_" for character in name)
