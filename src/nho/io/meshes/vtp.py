"""VTP: VTK's PolyData in XML, with the arrays of PointData and CellData."""

import base64
from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.io.meshes.columns import (
    CORNER_UV,
    UV_NAMES,
    as_numbers,
    left_out,
    to_declared_type,
    uv_of_vertices,
    with_uv,
)
from nho.io.meshes.model import Array, Attributes, ParsedMesh, Written
from nho.io.meshes.polygons import (
    FloatArray,
    IntArray,
    fans,
    lengths_of,
    triangulate,
    whole_numbers,
)
from nho.io.meshes.text import quoted
from nho.io.meshes.vtp_arrays import TYPES, VtpFile, array_of, open_vtp
from nho.runtime.untrusted_xml import Element

_NAMES = {np.dtype(kind).name: name for name, kind in TYPES.items()}


@dataclass(frozen=True)
class _Piece:
    """One piece of a file: points (n, 3), the corners of its polygons, and how many each has."""

    element: Element
    points: FloatArray
    corners: IntArray
    counts: IntArray


def read_vtp(data: bytes, name: str, _folder: object) -> ParsedMesh:
    """The surface of a VTP file, pieces one after the other."""
    file = open_vtp(data, name)
    pieces = [_read_piece(element, file) for element in file.root.iterfind("PolyData/Piece")]
    if not pieces:
        raise InputError(f"{name}: there is no PolyData piece in it; export it as PolyData (.vtp)")
    vertices = np.concatenate([piece.points for piece in pieces])
    first = np.cumsum([0] + [len(piece.points) for piece in pieces])
    corners = [piece.corners + at for piece, at in zip(pieces, first[:-1], strict=True)]
    counts = np.concatenate([piece.counts for piece in pieces])
    cut = triangulate(np.concatenate(corners), counts, vertices, name)
    return ParsedMesh(vertices, cut.faces, lambda: _attributes(pieces, file, cut.faces), cut.notes)


def _read_piece(piece: Element, file: VtpFile) -> _Piece:
    """Points and polygons of a piece."""
    name = file.name
    if piece.get("NumberOfStrips", "0").strip() not in ("", "0"):
        raise InputError(f"{name}: triangle strips are not supported; export it as polygons")
    points = _array(piece, "Points/DataArray", file).astype(np.float64)
    _check_number(piece, "NumberOfPoints", 3, len(points), file)
    points = points.reshape(-1, 3)
    if piece.find("Polys/DataArray") is None:
        nothing = np.zeros(0, dtype=np.int64)
        return _Piece(piece, points, nothing, nothing)
    connectivity = whole_numbers(_array(piece, "Polys/DataArray[@Name='connectivity']", file))
    ends = whole_numbers(_array(piece, "Polys/DataArray[@Name='offsets']", file))
    if connectivity is None or ends is None:
        raise file.broken("the polygons are not made of whole numbers")
    _check_number(piece, "NumberOfPolys", 1, len(ends), file)
    in_piece = (connectivity >= 0) & (connectivity < len(points))
    if not in_piece.all():
        raise InputError(
            f"{name}: a polygon refers to vertex {int(connectivity[np.argmin(in_piece)])} "
            f"but its piece has {len(points)} vertices; re-export the mesh"
        )
    # These offsets are the ends of the polygons; the 0 in front is not written.
    offsets = np.concatenate([[0], ends]).astype(np.int64)
    return _Piece(piece, points, connectivity, lengths_of(offsets, len(connectivity), name))


def _check_number(piece: Element, attribute: str, width: int, present: int, file: VtpFile) -> None:
    """The number a piece promises must be what its array holds."""
    promised = piece.get(attribute, "").strip()
    if present % width or promised != str(present // width):
        raise file.broken(f"{attribute} says {quoted(promised.encode())}, not {present / width:g}")


def _array(piece: Element, path: str, file: VtpFile) -> Array:
    element = piece.find(path)
    if element is None:
        raise file.broken(f"the array {path} is missing")
    return array_of(element, path, file)


def _attributes(pieces: list[_Piece], file: VtpFile, faces: IntArray) -> Attributes:
    """The arrays of PointData and CellData of all pieces."""
    notes: list[str] = []
    points = [_arrays(piece, "PointData", len(piece.points), 0, file, notes) for piece in pieces]
    cells = []
    for piece in pieces:
        before = _number(piece.element, "NumberOfVerts") + _number(piece.element, "NumberOfLines")
        arrays = _arrays(piece, "CellData", len(piece.counts), before, file, notes)
        polygon = fans(piece.counts)[0]
        cells.append({key: values[polygon] for key, values in arrays.items()})
    return with_uv(_whole(points, notes), _whole(cells, notes), faces, notes)


def _arrays(
    piece: _Piece, group: str, count: int, before: int, file: VtpFile, notes: list[str]
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
        values = to_declared_type(values, TYPES[element.get("type", "")], what, file.name)
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


def write_vtp(vertices: Array, faces: Array, attributes: Attributes, _stem: str) -> Written:
    """A VTP file; its arrays are base64 without compression, which every VTK reads."""
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
        *(_data_array(name, values) for name, values in vertex.items()),
        "</PointData>",
        "<CellData>",
        *(_data_array(name, values) for name, values in face.items()),
        "</CellData>",
        f"<Points>\n{_data_array('Points', vertices)}\n</Points>",
        "<Polys>",
        _data_array("connectivity", faces.reshape(-1).astype(np.int64)),
        _data_array("offsets", ends.astype(np.int64)),
        "</Polys>",
        "</Piece>",
        "</PolyData>",
        "</VTKFile>",
    ]
    notes = left_out(words, "words are not numbers")
    if attributes.textures:
        notes.append("VTP holds no images: left out the texture")
    return Written("\n".join(line for line in lines if line).encode(), {}, notes)


def _data_array(name: str, values: Array) -> str:
    """A DataArray element; "" if the values are words."""
    from xml.sax.saxutils import quoteattr  # it loads urllib and ssl

    numbers = as_numbers(values, _NAMES, name)
    if numbers is None:
        return ""
    raw = np.ascontiguousarray(numbers, dtype=numbers.dtype.newbyteorder("<")).tobytes()
    content = base64.b64encode(np.array(len(raw), "<u8").tobytes() + raw).decode()
    width = values.shape[1] if values.ndim == 2 else 1
    # XML has no room for control characters.
    printable = "".join(letter if letter.isprintable() else "_" for letter in name)
    return (
        f'<DataArray type="{_NAMES[numbers.dtype.name]}" Name={quoteattr(printable)} '
        f'NumberOfComponents="{width}" format="binary">{content}</DataArray>'
    )
