"""The clean piece written down in every format."""

from __future__ import annotations

import json
import struct

import numpy as np

from tests.conformance.given import PIECE

V, F = PIECE.mesh.vertices, PIECE.mesh.faces
N, M = len(V), len(F)
BOM = b"\xef\xbb\xbf"
ROWS = [" ".join(map(repr, row)) for row in V.tolist()]
CORNERS = [f"3 {a} {b} {c}" for a, b, c in F.tolist()]


def lines(*each: str) -> bytes:
    """A text of these lines."""
    return "".join(line + "\n" for line in each).encode()


OFF = lines("OFF", f"{N} {M} 0", *ROWS, *CORNERS)
COFF = lines("COFF", f"{N} {M} 0", *(f"{row} 200 10 10 255" for row in ROWS), *CORNERS)
OBJ = lines(*(f"v {row}" for row in ROWS), *(f"f {a} {b} {c}" for a, b, c in (F + 1).tolist()))
OBJ_EXTRAS = lines(
    "# scanner 3000",
    "mtllib skin.mtl",
    "o scan",
    *(f"v {row} 0.5 0.5 0.5" for row in ROWS),
    "vt 0 0",
    "vn 0 0 1",
    "usemtl skin",
    *(f"f {a}/1/1 {b}/1/1 {c}/1/1" for a, b, c in (F + 1).tolist()),
)
STL = lines(
    "solid scan",
    *(
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {ROWS[v]}\n" for v in face)
        + "endloop\nendfacet"
        for face in F
    ),
    "endsolid scan",
)
VTK = lines(
    *("# vtk DataFile Version 3.0", "scan", "ASCII", "DATASET POLYDATA", f"POINTS {N} double"),
    *(*ROWS, f"POLYGONS {M} {4 * M}", *CORNERS),
)
VTP = lines(
    '<?xml version="1.0"?><VTKFile type="PolyData" version="0.1" byte_order="LittleEndian">',
    f'<PolyData><Piece NumberOfPoints="{N}" NumberOfPolys="{M}"><Points>',
    '<DataArray type="Float64" NumberOfComponents="3" format="ascii">',
    *ROWS,
    '</DataArray></Points><Polys><DataArray type="Int64" Name="connectivity" format="ascii">',
    " ".join(map(str, F.ravel())),
    '</DataArray><DataArray type="Int64" Name="offsets" format="ascii">',
    " ".join(map(str, 3 * np.arange(1, M + 1))),
    "</DataArray></Polys></Piece></PolyData></VTKFile>",
)


def ply_head(form: str, kind: str = "double", extra: tuple[str, ...] = (), faces: int = M) -> bytes:
    """The header of a PLY file of the piece."""
    return lines(
        *("ply", f"format {form} 1.0", "comment exported by a scanner", f"element vertex {N}"),
        *(f"property {kind} {axis}" for axis in "xyz"),
        *(f"property {line}" for line in extra),
        *(f"element face {faces}", "property list uchar int vertex_indices", "end_header"),
    )


ATTRIBUTES = ("float nx", "float ny", "float nz", "uchar red", "float quality")
PLY = ply_head("ascii") + lines(*ROWS, *CORNERS)
PLY_EXTRAS = ply_head("ascii", extra=ATTRIBUTES) + lines(
    *(f"{row} 0 0 1 128 0.5" for row in ROWS), *CORNERS
)


def ply_body(order: str, kind: str = "f8", shift: float = 0.0) -> bytes:
    """Its vertices and faces in binary."""
    faces = np.empty(M, dtype=[("n", "u1"), ("corners", order + "i4", 3)])
    faces["n"], faces["corners"] = 3, F
    return (V + shift).astype(order + kind).tobytes() + faces.tobytes()


PLY_LITTLE = ply_head("binary_little_endian") + ply_body("<")


def glb() -> bytes:
    """The piece as binary glTF, in 32-bit coordinates."""
    body = V.astype("<f4").tobytes() + F.astype("<u4").tobytes()
    views = [(0, 12 * N), (12 * N, 12 * M)]
    about = {
        "asset": {"version": "2.0"},
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": N, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": 3 * M, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": start, "byteLength": length} for start, length in views
        ],
        "buffers": [{"byteLength": len(body)}],
    }
    text = json.dumps(about).encode()
    text += b" " * (-len(text) % 4)
    total = 12 + 8 + len(text) + 8 + len(body)
    head = struct.pack("<4sII", b"glTF", 2, total) + struct.pack("<I4s", len(text), b"JSON")
    return head + text + struct.pack("<I4s", len(body), b"BIN\0") + body


def quads() -> bytes:
    """The piece as OBJ with pairs of neighbouring triangles merged into quads."""
    free, polygons = np.ones(M, dtype=bool), []
    for face, (a, b, c) in enumerate(F.tolist()):
        if not free[face]:
            continue
        free[face] = False
        beyond = [
            (other, next(v for v in F[other] if v not in (a, b)))
            for other in np.flatnonzero(free & (F == a).any(axis=1) & (F == b).any(axis=1))
        ]
        corners = [a, b, c]
        if beyond:
            free[beyond[0][0]] = False
            corners = [a, beyond[0][1], b, c]
        polygons.append("f " + " ".join(str(v + 1) for v in corners))
    assert any(len(line.split()) == 5 for line in polygons)
    return lines(*(f"v {row}" for row in ROWS), *polygons)


def stl_place() -> np.ndarray:
    """An STL numbers vertices by first appearance."""
    place = np.full(N, -1)
    _, first = np.unique(F.ravel(), return_index=True)
    for number, vertex in enumerate(F.ravel()[np.sort(first)]):
        place[vertex] = number
    return place
