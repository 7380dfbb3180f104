"""STL, VTK and VTP files made by hand, whole and damaged."""

import base64
import struct
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from tests.io.meshes.damage import check_damaged

POINTS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 0.75]]
POLYGONS = [[3, 2, 1, 0], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
TRIANGLES = [[3, 2, 1], [3, 1, 0], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
FLAT = [corner for face in POLYGONS for corner in face]
ENDS = np.cumsum([len(face) for face in POLYGONS]).tolist()


def words(values):
    return " ".join(map(str, np.ravel(values).tolist()))


def stl_text():
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {words(POINTS[corner])}\n" for corner in face)
        + "endloop\nendfacet\n"
        for face in TRIANGLES
    )
    return f"solid pyramid\n{facets}endsolid pyramid\n".encode()


def stl_binary(head=b"solid but binary"):
    body = b"".join(
        struct.pack("<12fH", 0, 0, 0, *np.ravel([POINTS[corner] for corner in face]), 0)
        for face in TRIANGLES
    )
    return head.ljust(80) + struct.pack("<I", len(TRIANGLES)) + body


def vtk(binary, layout):
    """A legacy file; layouts: old, new (5.1), grid (unstructured)."""

    def numbers(values, kind):
        values = np.ravel(values)
        return values.astype(kind).tobytes() if binary else words(values).encode()

    old = [number for face in POLYGONS for number in (len(face), *face)]
    title = "# vtk DataFile Version 4.2\ncaf\xe9\n".encode("latin-1")
    out = title + (b"BINARY\n" if binary else b"ASCII\n")
    out += b"DATASET " + (b"UNSTRUCTURED_GRID\n" if layout == "grid" else b"POLYDATA\n")
    out += b"FIELD FieldData 1\nTIME 1 1 double\n" + numbers([0.5], ">f8") + b"\n"
    out += b"POINTS 5 float\n" + numbers(POINTS, ">f4") + b"\nMETADATA\nINFORMATION 0\n\n"
    if layout == "grid":
        out += f"CELLS 6 {len(old) + 3}\n".encode() + numbers([2, 0, 1, *old], ">i4")
        out += b"\nCELL_TYPES 6\n" + numbers([3, 9, 5, 5, 7, 5], ">i4")
    elif layout == "new":
        out += b"LINES 1 3\n" + numbers([2, 0, 1], ">i4")
        out += f"\nPOLYGONS 6 {len(FLAT)}\nOFFSETS vtktypeint64\n".encode()
        out += numbers([0, *ENDS], ">i8") + b"\nCONNECTIVITY vtktypeint64\n" + numbers(FLAT, ">i8")
    else:
        out += f"POLYGONS 5 {len(old)}\n".encode() + numbers(old, ">i4")
    return out + b"\nPOINT_DATA 5\nSCALARS s float\nLOOKUP_TABLE default\nanything"


def vtp(form="ascii", header="UInt32", order="<", packed=False, base64_text=True, pieces=1):
    """A VTP file; `form` is the format attribute of its arrays."""
    head, appended = np.dtype(order + {"UInt32": "u4", "UInt64": "u8"}[header]), b""

    def encode(raw):
        if not packed:
            whole = np.array([len(raw)], head).tobytes() + raw
            return base64.b64encode(whole) if base64_text else whole
        size = 16  # small blocks, so that there are several and a short last one
        parts = [zlib.compress(raw[at : at + size]) for at in range(0, len(raw), size)]
        sizes = np.array([len(parts), size, len(raw) % size, *map(len, parts)], head).tobytes()
        wrap = base64.b64encode if base64_text else bytes
        return wrap(sizes) + wrap(b"".join(parts))

    def array(name, values, kind, width=1):
        nonlocal appended
        code = order + {"Float64": "f8", "Int32": "i4", "Int64": "i8"}[kind]
        raw = np.ravel(values).astype(code).tobytes()
        place, text = "", words(values).encode()
        if form == "appended":
            place, text = f' offset="{len(appended)}"', b""
            appended += encode(raw)
        elif form == "binary":
            text = b"\n  " + encode(raw) + b"\n"
        attributes = f'type="{kind}" Name="{name}" NumberOfComponents="{width}" format="{form}"'
        return f"<DataArray {attributes}{place}>".encode() + text + b"</DataArray>"

    piece = b""
    for _ in range(pieces):
        piece += b'<Piece NumberOfPoints="5" NumberOfPolys="5"><Points>'
        piece += array("Points", POINTS, "Float64", 3) + b"</Points><Polys>"
        piece += array("connectivity", FLAT, "Int64") + array("offsets", ENDS, "Int32")
        piece += b"</Polys></Piece>"
    byte_order = "LittleEndian" if order == "<" else "BigEndian"
    compressor = ' compressor="vtkZLibDataCompressor"' if packed else ""
    kind = f'type="PolyData" byte_order="{byte_order}" header_type="{header}"{compressor}'
    out = f'<?xml version="1.0"?>\n<VTKFile {kind}><PolyData>'.encode() + piece + b"</PolyData>"
    if form == "appended":
        encoding = b"base64" if base64_text else b"raw"
        out += b'<AppendedData encoding="' + encoding + b'">\n _' + appended + b"</AppendedData>"
    return out + b"</VTKFile>"


GOOD = {
    **{f"vtk {b} {way}": (vtk(b, way), ".vtk") for b in (0, 1) for way in ("old", "new", "grid")},
    "vtk text CRLF": (vtk(False, "old").replace(b"\n", b"\r\n"), ".vtk"),
    "vtp text": (vtp(), ".vtp"),
    **{
        f"vtp {form} {header} {order} packed={packed} base64={text}": (
            vtp(form, header, order, packed, text),
            ".vtp",
        )
        for form, text in (("binary", True), ("appended", True), ("appended", False))
        for header in ("UInt32", "UInt64")
        for order in "<>"
        for packed in (False, True)
    },
}


def read(tmp_path, data, suffix):
    path = tmp_path / f"scan{suffix}"
    path.write_bytes(data)
    return Mesh.read(path)


@pytest.mark.parametrize("case", GOOD)
def test_every_dialect_gives_the_same_mesh_in_file_order(tmp_path, case):
    mesh = read(tmp_path, *GOOD[case])
    assert mesh.vertices.tolist() == POINTS and mesh.faces.tolist() == TRIANGLES


@pytest.mark.parametrize("data", [stl_text(), stl_binary(), stl_text().replace(b"\n", b"\r\n")])
def test_stl_corners_are_welded_in_order_of_first_appearance(tmp_path, data):
    mesh = read(tmp_path, data, ".stl")
    order = [3, 2, 1, 0, 4]
    assert mesh.vertices.tolist() == [POINTS[index] for index in order]
    assert np.take(order, mesh.faces).tolist() == TRIANGLES


def test_pieces_follow_each_other(tmp_path):
    mesh = read(tmp_path, vtp(pieces=2), ".vtp")
    assert mesh.vertices.tolist() == POINTS * 2
    assert mesh.faces.tolist() == TRIANGLES + (np.array(TRIANGLES) + 5).tolist()


TEXT_VTK, PACKED = vtk(False, "old"), vtp("binary", packed=True)
BAD = [
    (stl_text().replace(b"endsolid", b""), ".stl", "`endsolid` is missing"),
    (stl_text().replace(b"vertex", b"vortex", 1), ".stl", "6 facets should have three"),
    (stl_text().replace(b"vertex 0 1 0", b"vertex 0 1", 1), ".stl", "line 4: a vertex has 2"),
    (stl_text().replace(b"vertex 0 1 0", b"vertex 0 1 o", 1), ".stl", "line 4: 'o' is not a n"),
    (b"solid\nendsolid\n", ".stl", "there are no triangles"),
    (stl_binary(b"x")[:-1], ".stl", "asks for 384 bytes but the file has 383"),
    (b"tiny", ".stl", "4 bytes are too few"),
    (TEXT_VTK.replace(b"# vtk", b"# vtc"), ".vtk", "has `# vtk DataFile`"),
    (TEXT_VTK.replace(b"POLYDATA", b"STRUCTURED_POINTS"), ".vtk", "is not a surface"),
    (TEXT_VTK.replace(b"POINTS 5", b"POINTS 99999999999"), ".vtk", "299999999997 numbers are pro"),
    (vtk(True, "old").replace(b"POINTS 5", b"POINTS 99999999999"), ".vtk", "are promised for P"),
    (TEXT_VTK.replace(b"0.75", b"x"), ".vtk", "POINTS is not made of numbers"),
    (TEXT_VTK.replace(b"POLYGONS 5", b"POLYGONS 4"), ".vtk", "does not hold the 4 cells"),
    (TEXT_VTK.replace(b"POLYGONS", b"TRIANGLE_STRIPS"), ".vtk", "strips are not supported"),
    (TEXT_VTK.replace(b"POLYGONS", b"LINES"), ".vtk", "there are no faces, only 5 points"),
    (TEXT_VTK.replace(b"3 3 0 4", b"3 3 0 9"), ".vtk", "face 4 refers to vertex 9"),
    (vtk(False, "grid").replace(b"3 9 5 5", b"3 10 5 5"), ".vtk", "cell 1 has the type 10"),
    (vtk(False, "new").replace(b"0 4 7", b"0 8 7"), ".vtk", "offsets do not fit"),
    (vtp().replace(b"<VTK", b"<!DOCTYPE x [<!ENTITY a 'b'>]><VTK"), ".vtp", "no DOCTYPE"),
    (vtp()[:-5], ".vtp", "not valid XML"),
    (vtp().replace(b'"PolyData"', b'"ImageData"'), ".vtp", "holds 'ImageData' and not PolyData"),
    (PACKED.replace(b"ZLib", b"LZMA"), ".vtp", "not LZ4 or LZMA"),
    (PACKED.replace(b'"5" NumberOfPolys', b'"6" NumberOfPolys'), ".vtp", "NumberOfPoints says '6'"),
    (vtp("binary").replace(b"AAAA", b"A*AA", 1), ".vtp", "base64 is damaged"),
    (vtp().replace(b'Name="offsets"', b'Name="ends"'), ".vtp", "offsets'. is missing"),
    (vtp().replace(b"0.75", b"x"), ".vtp", "is not made of numbers"),
    (vtp().replace(b"3 0 4<", b"3 0 5<"), ".vtp", "refers to vertex 5 but its piece has 5"),
    (vtp("appended").replace(b'offset="0"', b'offset="99999"'), ".vtp", "outside the appended"),
]


@pytest.mark.parametrize(("data", "suffix", "message"), BAD)
def test_broken_files_are_refused_in_one_sentence(tmp_path, data, suffix, message):
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, data, suffix)
    assert "\n" not in str(caught.value)


def test_a_zlib_block_that_unpacks_to_more_than_it_says_is_refused(tmp_path):
    bomb = zlib.compress(bytes(10**6))
    sizes = struct.pack("<4I", 1, 120, 0, len(bomb))
    text = base64.b64encode(sizes) + base64.b64encode(bomb)
    begin = PACKED.index(b"\n  ")
    data = PACKED[:begin] + text + PACKED[PACKED.index(b"</DataArray>") :]
    with pytest.raises(InputError, match="does not unpack to the 120 bytes"):
        read(tmp_path, data, ".vtp")


CASES = [*GOOD.values(), (stl_text(), ".stl"), (stl_binary(), ".stl")]


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_damaged_bytes_are_read_or_refused_but_never_crash(tmp_path, data):
    content, suffix = data.draw(st.sampled_from(CASES))
    check_damaged(content, data, lambda damaged: read(tmp_path, damaged, suffix))
