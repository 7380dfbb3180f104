"""Small valid files of every kind, so that damage starts from something that is read."""

from __future__ import annotations

import base64
import io
import json
import struct
import zlib

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import sphere
from nho.problem.result import MatchResult
from nho.settings import Settings, preset

POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 0.75]])
POLYGONS = [[3, 2, 1, 0], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
TRIANGLES = np.array([[3, 2, 1], [3, 1, 0], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
_CORNERS = [corner for polygon in POLYGONS for corner in polygon]
_ENDS = np.cumsum([len(polygon) for polygon in POLYGONS])
_ROWS = "\n".join(f"{x:g} {y:g} {z:g}" for x, y, z in POINTS)
_LISTS = "\n".join(" ".join(map(str, [len(polygon), *polygon])) for polygon in POLYGONS)

FULL = sphere(0)
PARTIAL = Mesh(FULL.vertices[:10], FULL.faces[(FULL.faces < 10).all(axis=1)], "partial")


def ply(order: str) -> bytes:
    """Text (""), little ("<") or big (">") endian; colours, and lists of unequal length."""
    kind = {"": "ascii", "<": "binary_little_endian", ">": "binary_big_endian"}[order]
    head = f"ply\nformat {kind} 1.0\ncomment made by hand\nelement vertex 5\n"
    head += "property float x\nproperty float y\nproperty double z\nproperty uchar red\n"
    head += "element face 5\nproperty list uchar int vertex_indices\nend_header\n"
    if not order:
        return (head + _ROWS.replace("\n", " 7\n") + " 7\n" + _LISTS + "\n").encode()
    body = b"".join(struct.pack(order + "ffdB", *point, 7) for point in POINTS)
    for polygon in POLYGONS:
        body += struct.pack(f"{order}B{len(polygon)}i", len(polygon), *polygon)
    return head.encode() + body


def obj() -> bytes:
    vertices = "".join(f"v {row}\n" for row in _ROWS.split("\n"))
    faces = "f 4/1/1 3//2 2 1\n" + "".join(f"f {a} {b} {c}\n" for a, b, c in TRIANGLES[2:] + 1)
    return ("# scan\no part\n" + vertices + "vn 0 0 1\n" + faces + "f -1 -2 \\\n-3\n").encode()


def off(head: str, extra: str) -> bytes:
    rows = _ROWS.replace("\n", extra + "\n") + extra
    return f"{head}\n5 5 0\n{rows}\n{_LISTS}\n".encode()


def stl(binary: bool) -> bytes:
    if binary:
        facets = [struct.pack("<12fH", 0, 0, 1, *POINTS[f].ravel(), 0) for f in TRIANGLES[:2]]
        return b"scan".ljust(80) + struct.pack("<I", len(facets)) + b"".join(facets)
    text = "solid a\n"
    for face in TRIANGLES[:2]:
        text += "facet normal 0 0 1\nouter loop\n"
        text += "".join("vertex {:g} {:g} {:g}\n".format(*POINTS[i]) for i in face)
        text += "endloop\nendfacet\n"
    return (text + "endsolid a\n").encode()


def gltf_parts(uri: str | None, mode: int = 4) -> list[bytes]:
    """The JSON and the binary data of a glTF file."""
    binary = POINTS.astype("<f4").tobytes() + TRIANGLES.astype("<u2").tobytes()
    primitive = {"attributes": {"POSITION": 0}, "indices": 1, "mode": mode}
    buffer: dict[str, object] = {"byteLength": len(binary)}
    if uri is not None:
        buffer["uri"] = uri + base64.b64encode(binary).decode()
    node = {"children": [1], "translation": [1, 2, 3], "scale": [2, 2, 2]}
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [node, {"mesh": 0, "rotation": [0, 0, 0, 1]}],
        "meshes": [{"primitives": [primitive]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 5, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 18, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": 60},
            {"buffer": 0, "byteOffset": 60, "byteLength": 36},
        ],
        "buffers": [buffer],
    }
    return [json.dumps(document).encode(), binary]


def gltf(mode: int = 4) -> bytes:
    return gltf_parts("data:application/octet-stream;base64,", mode)[0]


def glb_parts(data: bytes) -> list[bytes]:
    """JSON and binary chunk of a GLB file; [] if it is none."""
    length = int.from_bytes(data[12:16], "little")
    return [data[20 : 20 + length], data[28 + length :]] if data[:4] == b"glTF" else []


def glb_of(parts: list[bytes]) -> bytes:
    """A GLB file with the right lengths around its parts."""
    text, binary = (part + b" " * (-len(part) % 4) for part in parts)
    chunks = struct.pack("<I", len(text)) + b"JSON" + text
    chunks += struct.pack("<I", len(binary)) + b"BIN\0" + binary
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def vtk(layout: str, binary: bool) -> bytes:
    """A legacy file; layouts: old, new (5.1) and grid (unstructured)."""

    def numbers(values: object, kind: str) -> bytes:
        flat = np.ravel(np.asarray(values))
        return flat.astype(kind).tobytes() if binary else " ".join(map(str, flat)).encode()

    old = [number for polygon in POLYGONS for number in (len(polygon), *polygon)]
    out = b"# vtk DataFile Version 4.2\nscan\n" + (b"BINARY\n" if binary else b"ASCII\n")
    out += b"DATASET " + (b"UNSTRUCTURED_GRID\n" if layout == "grid" else b"POLYDATA\n")
    out += b"FIELD FieldData 1\nTIME 1 1 double\n" + numbers([0.5], ">f8") + b"\n"
    out += b"POINTS 5 float\n" + numbers(POINTS, ">f4") + b"\nMETADATA\nINFORMATION 0\n\n"
    if layout == "grid":
        out += f"CELLS 6 {len(old) + 3}\n".encode() + numbers([2, 0, 1, *old], ">i4")
        out += b"\nCELL_TYPES 6\n" + numbers([3, 9, 5, 5, 7, 5], ">i4")
    elif layout == "new":
        out += f"POLYGONS 6 {len(_CORNERS)}\nOFFSETS vtktypeint64\n".encode()
        out += numbers([0, *_ENDS], ">i8")
        out += b"\nCONNECTIVITY vtktypeint64\n" + numbers(_CORNERS, ">i8")
    else:
        out += f"POLYGONS 5 {len(old)}\n".encode() + numbers(old, ">i4")
    return out + b"\nPOINT_DATA 5\n"


def vtp(form: str, packed: bool = False) -> bytes:
    """A VTP file; `form` is ascii, binary (base64) or appended (raw)."""
    appended = b""
    text = '<?xml version="1.0"?>\n<VTKFile type="PolyData" byte_order="LittleEndian"'
    text += ' compressor="vtkZLibDataCompressor">' if packed else ">"
    text += '<PolyData>\n<Piece NumberOfPoints="5" NumberOfPolys="5">\n'
    for group, name, kind, values in (
        ("Points", "Points", "Float32", POINTS.astype("<f4")),
        ("Polys", "connectivity", "Int64", np.array(_CORNERS, "<i8")),
        ("Polys", "offsets", "Int64", _ENDS.astype("<i8")),
    ):
        raw = zlib.compress(values.tobytes()) if packed else values.tobytes()
        sizes = [1, values.nbytes, 0, len(raw)] if packed else [len(raw)]
        content, place = " ".join(map(str, values.ravel())), ""
        if form == "binary":
            parts = [np.array(sizes, "<u4").tobytes(), raw]
            parts = parts if packed else [b"".join(parts)]
            content = "".join(base64.b64encode(part).decode() for part in parts)
        elif form == "appended":
            content, place = "", f' offset="{len(appended)}"'
            appended += np.array(sizes, "<u4").tobytes() + raw
        array = f'<DataArray type="{kind}" Name="{name}" format="{form}"{place}>{content}'
        text += f"<{group}>{array}</DataArray></{group}>\n"
    # The two arrays of the polygons belong into one group.
    text = text.replace("</Polys>\n<Polys>", "\n") + "</Piece></PolyData>"
    tail = b'<AppendedData encoding="raw">_' + appended + b"</AppendedData>" if appended else b""
    return text.encode() + tail + b"</VTKFile>"


def npz(**arrays: object) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def result() -> MatchResult:
    n_partial, n_full = PARTIAL.n_vertices, FULL.n_vertices
    return MatchResult(
        vertex_map=np.arange(n_partial),
        face=np.zeros(n_partial, dtype=np.int64),
        barycentric=np.full((n_partial, 3), 1 / 3),
        confidence=np.full(n_partial, 0.5),
        region=np.ones(n_full, dtype=bool),
        region_score=np.ones(n_full),
        anchors=np.array([[0, 0], [1, 1], [2, 2]]),
        settings=preset("default"),
        warnings=("a warning",),
        timings={"fit": 0.5},
        curves={"fit": [{"loss": 1.0}]},
        suspect_anchors=(1,),
    )


def settings_text() -> bytes:
    values = {name: value for name, value in Settings().flat().items() if name != "recipe"}.items()
    return "\n".join(f"{name} = {value}" for name, value in values).encode()


_CLOUD = np.column_stack([np.mgrid[0:4, 0:4].reshape(2, -1).T, np.sin(np.arange(16)) / 5])


def xyz() -> bytes:
    return "".join("{:g} {:g} {:g}\n".format(*row) for row in _CLOUD).encode()


def pts() -> bytes:
    return f"{len(_CLOUD)}\n".encode() + xyz()


def npy() -> bytes:
    stream = io.BytesIO()
    np.save(stream, _CLOUD)
    return stream.getvalue()
