"""Mesh files: the vertex order survives, and whatever is broken is refused in one sentence."""

import struct
import warnings

import numpy as np
import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.meshes import files
from tests.io.meshes.damage import check_damaged

# A pyramid over a square: one quad and four triangles, no two vertices alike.
POINTS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 0.75]]
POLYGONS = [[3, 2, 1, 0], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
TRIANGLES = [[3, 2, 1], [3, 1, 0], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]

VERTEX_LINES = "\n".join(" ".join(map(str, point)) for point in POINTS)
FACE_LINES = "\n".join(f"{len(face)} " + " ".join(map(str, face)) for face in POLYGONS)
OFF = f"OFF\n5 5 0\n{VERTEX_LINES}\n{FACE_LINES}\n"
OBJ = "".join(f"v {x} {y} {z}\n" for x, y, z in POINTS) + "".join(
    "f " + " ".join(str(i + 1) for i in face) + "\n" for face in POLYGONS
)
PLY_HEAD = (
    "ply\nformat {} 1.0\ncomment caf\xe9\nelement vertex 5\nproperty float x\nproperty float y\n"
    "property float z\nproperty uchar red\nelement face 5\nproperty uchar flags\n"
    "property list uchar int vertex_indices\nproperty list uchar float texcoord\n"
    "element extra 2\nproperty list int short numbers\nproperty double d\nend_header\n"
)
PLY_TEXT = PLY_HEAD.format("ascii") + (
    "\n".join(line + " 255" for line in VERTEX_LINES.split("\n"))
    + "\n"
    + "\n".join(f"7 {line} 2 0.5 0.5" for line in FACE_LINES.split("\n"))
    + "\n2 8 9 1.5\n0 2.5\n"
)


def ply_binary(order: str) -> bytes:
    """The file of PLY_TEXT in binary."""
    name = {"<": "binary_little_endian", ">": "binary_big_endian"}[order]
    body = b"".join(struct.pack(order + "3fB", *point, 255) for point in POINTS)
    for face in POLYGONS:
        body += struct.pack(f"{order}BB{len(face)}iB2f", 7, len(face), *face, 2, 0.5, 0.5)
    body += struct.pack(order + "i2hdid", 2, 8, 9, 1.5, 0, 2.5)
    return PLY_HEAD.format(name).encode("latin-1") + body


def read(tmp_path, data, suffix):
    path = tmp_path / f"scan{suffix}"
    path.write_bytes(data.encode("latin-1") if isinstance(data, str) else data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Mesh.read(path)


def refused(tmp_path, data, suffix, message):
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, data, suffix)
    assert "\n" not in str(caught.value)


def assert_pyramid(mesh):
    assert mesh.vertices.tolist() == POINTS
    assert mesh.faces.tolist() == TRIANGLES


COLOURED = "\n".join(line + " 255 0 0 255" for line in VERTEX_LINES.split("\n"))
GOOD = {
    "off": (OFF, ".off"),
    "off, counts beside OFF, no edges": (OFF.replace("OFF\n5 5 0", "OFF 5 5"), ".off"),
    "off, comments, blanks, CRLF": (
        "# made by hand\n\n" + OFF.replace("\n", "  # why\n\n").replace("\n", "\r\n"),
        ".off",
    ),
    "off, old Mac lines and a byte order mark": (
        b"\xef\xbb\xbf" + OFF.replace("\n", "\r").encode(),
        ".OFF",
    ),
    "coff": (f"COFF\n5 5 0\n{COLOURED}\n{FACE_LINES}\n", ".off"),
    "noff": (OFF.replace("OFF", "NOFF").replace(VERTEX_LINES, COLOURED), ".off"),
    "stoff": (OFF.replace("OFF", "STOFF").replace(VERTEX_LINES, COLOURED), ".off"),
    "cnoff": (
        OFF.replace("OFF", "CNOFF").replace(VERTEX_LINES, COLOURED.replace("0 255", "0 255 1 2 3")),
        ".off",
    ),
    "off, colours on some faces": (OFF.replace("0 1 4\n", "0 1 4 0.5 0.5 0.5\n"), ".off"),
    "off, no newline at the end": (OFF.rstrip(), ".off"),
    "obj": (OBJ, ".obj"),
    "obj, slashes": (OBJ.replace("f 1 2 5", "f 1/7 2//8 5/9/10"), ".obj"),
    "obj, negative": (OBJ.replace("f 1 2 5", "f -5 -4 -1"), ".obj"),
    "obj, everything else": (
        "mtllib caf\xe9.mtl\no one\n"
        + OBJ.replace("v 1 1 0", "vn 0 0 1\nvt 0 0\nusemtl red#1\nv 1 1 0 1.0").replace(
            "f 2 3 5", "g two # here\ns off\nl 1 2\nf 2 \\\n3 5"
        ),
        ".obj",
    ),
    "obj, weights, colours, tabs, CRLF": (
        OBJ.replace("v 0 1 0", "v\t0 1 0 0.1 0.2 0.3").replace("\n", " \r\n"),
        ".Obj",
    ),
    "obj, faces before vertices": (
        "".join(sorted(OBJ.splitlines(True), key=lambda line: line[0] != "f")),
        ".obj",
    ),
    "ply text": (PLY_TEXT, ".ply"),
    "ply text, CRLF": (PLY_TEXT.replace("\n", "\r\n"), ".ply"),
    "ply text, vertex_index": (PLY_TEXT.replace("vertex_indices", "vertex_index"), ".ply"),
    "ply little": (ply_binary("<"), ".ply"),
    "ply big": (ply_binary(">"), ".ply"),
    "ply CRLF header": (
        ply_binary("<").replace(
            PLY_HEAD.format("binary_little_endian").encode("latin-1"),
            PLY_HEAD.format("binary_little_endian").replace("\n", "\r\n").encode("latin-1"),
        ),
        ".ply",
    ),
}


@pytest.mark.parametrize("case", GOOD)
def test_every_dialect_gives_the_same_mesh_in_file_order(tmp_path, case):
    assert_pyramid(read(tmp_path, *GOOD[case]))


def test_negative_obj_indices_count_back_from_their_own_line(tmp_path):
    first = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\n"
    mesh = read(tmp_path, first + first.replace("v 0 0 0", "v 0 0 1"), ".obj")
    assert mesh.faces.tolist() == [[0, 1, 2], [3, 4, 5]]


BAD = [
    (OFF.replace("OFF", "PLY"), ".off", "scan.off: an OFF text file starts with OFF"),
    (OFF.replace("OFF", "OFF BINARY"), ".off", "scan.off: an OFF text file"),
    ("OFF\n", ".off", "counts after OFF are missing"),
    (OFF.replace("5 5 0", "5 x 0"), ".off", "line 2: the numbers of vertices"),
    (OFF.replace("5 5 0", "5 -5 0"), ".off", "line 2: the numbers of vertices"),
    (OFF[: OFF.index("3 2 3 4")], ".off", "promises 5 vertices and 5 faces .* after 3 faces"),
    ("OFF\n5 5 0\n0 0 0\n", ".off", "promises 5 vertices and 5 faces .* after 1 vertices"),
    (OFF + "3 0 1 2\n", ".off", "but 1 more lines follow"),
    (OFF.replace("5 5 0", "99999999999 5 0"), ".off", "promises 99999999999 vertices"),
    (f"OFF\n5 0 0\n{VERTEX_LINES}\n", ".off", "5 vertices and 0 faces; export triangles"),
    (OFF.replace("1 1 0", "1 1"), ".off", "line 5: vertex 2 has 2 numbers but at least 3"),
    (OFF.replace("1 1 0", "1 1 zero"), ".off", "line 5: 'zero' is not a number"),
    (OFF.replace("1 1 0", "1 1 0.5.5"), ".off", "line 5: '0.5.5' is not a number"),
    (OFF.replace("OFF", "COFF"), ".off", "vertex 0 has 3 numbers but at least 6"),
    (OFF.replace("1 1 0", "1 1 nan"), ".off", "vertex 2 is .* not finite"),
    (OFF.replace("3 0 1 4", "3 0 1 5"), ".off", r"face 1 refers to vertex 5 but there are 5 ver"),
    (OFF.replace("3 0 1 4", "3 0 1.5 4"), ".off", "not a whole number"),
    (OFF.replace("3 0 1 4", "4 0 1 4"), ".off", "line 9: face 1 should be a number of corners"),
    (OFF.replace("3 0 1 4", "-3 0 1 4"), ".off", "face 1 has 0 corners"),
    (OFF.replace("3 0 1 4", "2 0 1"), ".off", "face 1 has 2 corners"),
    (OFF.encode("utf-16"), ".off", "scan.off"),
    (OBJ.replace("v 1 1 0", "v 1 1"), ".obj", "line 3: vertex 2 has 2 numbers"),
    (OBJ.replace("v 1 1 0", "v 1 1 x"), ".obj", "line 3: 'x' is not a number"),
    (OBJ.replace("f 1 2 5", "f 1 2 6"), ".obj", "line 7: face 1 refers to vertex 6 but the 5"),
    (OBJ.replace("f 1 2 5", "f 1 2 0"), ".obj", "line 7: face 1 refers to vertex 0"),
    (OBJ.replace("f 1 2 5", "f 1 2 -6"), ".obj", "line 7: face 1 refers to vertex -6"),
    (OBJ.replace("f 1 2 5", "f 1 2 1.5"), ".obj", "line 7: face 1 refers to vertex 1.5"),
    (OBJ.replace("f 1 2 5", "f 1 2/3 /5"), ".obj", "line 7: '/5' is not a number"),
    (OBJ.replace("f 1 2 5", "f 1 2"), ".obj", "face 1 has 2 corners"),
    (OBJ[: OBJ.index("f")], ".obj", "there are no faces, only 5 points"),
    ("o nothing\n", ".obj", "there are no vertices"),
    (PLY_TEXT.replace("ply\n", "plx\n"), ".ply", "starts with a line `ply`"),
    (PLY_TEXT.replace("end_header", "end"), ".ply", "`end_header` line is missing"),
    (PLY_TEXT.replace("uchar flags", "what flags"), ".ply", "line 10: the header line"),
    (PLY_TEXT.replace("format ascii 1.0\n", ""), ".ply", "no `format` line"),
    (PLY_TEXT.replace("vertex 5", "vertex -5"), ".ply", "line 4: the header line"),
    (PLY_TEXT.replace("float y", "float x"), ".ply", "the same one twice"),
    (PLY_TEXT.replace("float y", "float why"), ".ply", "no vertices with x, y and z"),
    (PLY_TEXT.replace("vertex_indices", "corners"), ".ply", "no faces .* only 5 points"),
    (PLY_TEXT.replace("element extra", "element tristrips"), ".ply", "triangle strips"),
    (PLY_TEXT.replace("\n0 2.5\n", "\n"), ".ply", "promises 2 rows of `extra` .* after 1"),
    (PLY_TEXT + "1 2 3\n", ".ply", "1 more lines follow"),
    (PLY_TEXT.replace("1 1 0 255", "1 1 0"), ".ply", "line 19: row 2 of `vertex` does not"),
    (PLY_TEXT.replace("7 3 0 1 4", "7 3 0 1"), ".ply", "row 1 of `face` does not"),
    (PLY_TEXT.replace("7 3 0 1 4", "7 3 0 1 9"), ".ply", "face 1 refers to vertex 9"),
    (ply_binary("<")[:-1], ".ply", "promises 2 rows of `extra` but the file ends after 1"),
    (ply_binary("<")[:-170], ".ply", "promises 5 rows of `vertex` but the file ends after 3"),
    (ply_binary("<") + b"x", ".ply", "1 more bytes follow"),
    (
        ply_binary("<").replace(b"vertex 5", b"vertex 999999999999999"),
        ".ply",
        "promises 999999999999999 rows of `vertex`",
    ),
]


@pytest.mark.parametrize(("data", "suffix", "message"), BAD)
def test_broken_files_are_refused_in_one_sentence(tmp_path, data, suffix, message):
    refused(tmp_path, data, suffix, message)


def test_what_is_no_mesh_file_is_refused(tmp_path):
    (tmp_path / "folder.ply").mkdir()
    for path, message in [
        (tmp_path / "folder.ply", "this is a folder"),
        (tmp_path / "absent.ply", "there is no such file"),
        (tmp_path / "nul\0.ply", "cannot be opened|no such file"),
        (tmp_path / "mesh.doc", "ends in .ply, .obj, .off"),
        (tmp_path / "mesh", "ends in .ply, .obj, .off"),
    ]:
        with pytest.raises(InputError, match=message):
            Mesh.read(path)
    for suffix in (".ply", ".obj", ".off", ".stl", ".glb", ".gltf", ".vtk", ".vtp"):
        refused(tmp_path, b"", suffix, "the file is empty")
        refused(tmp_path, b" \r\n\0", suffix, "the file is empty")
        refused(tmp_path, bytes(range(256)) * 3, suffix, f"scan{suffix}: ")


def test_an_unforeseen_failure_names_file_and_cause(tmp_path, monkeypatch):
    def explode(data, name, folder):
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setitem(files.READERS, ".off", explode)
    with pytest.raises(InputError, match=r"cannot be read as OFF \(ZeroDiv.*\); re-export") as it:
        read(tmp_path, OFF, ".off")
    assert isinstance(it.value.__cause__, ZeroDivisionError)


def permuted_ball() -> Mesh:
    ball = trimesh.creation.icosphere(subdivisions=2)
    random = np.random.default_rng(11)
    order = random.permutation(len(ball.vertices))
    vertices = ball.vertices[order] * [1e-7, 1.0, 1e9] + random.normal(size=(len(order), 3))
    return Mesh(vertices, random.permutation(np.argsort(order)[ball.faces]))


@pytest.mark.parametrize("suffix", [".ply", ".off", ".obj"])
@pytest.mark.parametrize("channels", [0, 3, 4])
@pytest.mark.parametrize("kind", [np.uint8, np.float64])
def test_written_files_come_back_bit_for_bit(tmp_path, suffix, channels, kind):
    mesh, path = permuted_ball(), tmp_path / f"out{suffix}"
    colors = np.random.default_rng(0).integers(0, 256, (mesh.n_vertices, channels), dtype=np.uint8)
    given = colors if kind == np.uint8 else colors / 255.0
    path.write_text("an older file")
    mesh.write(path, given if channels else None)
    assert Mesh.read(path).digest() == mesh.digest()
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    oracle = trimesh.load(path, process=False, maintain_order=True)
    assert np.array_equal(oracle.faces, mesh.faces)
    if channels and suffix == ".ply":
        assert np.array_equal(oracle.visual.vertex_colors[:, :channels], colors)
    if channels and suffix == ".off":
        rows = np.loadtxt(path, skiprows=2, max_rows=mesh.n_vertices)
        opaque = np.full((mesh.n_vertices, 4 - channels), 255)
        assert np.array_equal(rows[:, 3:], np.column_stack([colors, opaque]))


@pytest.mark.parametrize(
    ("name", "colors", "message"),
    [
        ("out.stl", None, "out.stl: meshes are written as .ply, .off, .obj"),
        ("absent/out.ply", None, "cannot be written"),
        ("out.ply", np.zeros((3, 3)), "colours have shape"),
        ("out.ply", np.full((162, 3), 1.5), "uint8 or floats from 0 to 1"),
        ("out.ply", np.full((162, 3), np.nan), "uint8 or floats from 0 to 1"),
        ("out.ply", np.full((162, 3), 300), "uint8 or floats from 0 to 1"),
    ],
)
def test_a_failed_write_leaves_nothing_behind(tmp_path, name, colors, message):
    with pytest.raises(InputError, match=message):
        permuted_ball().write(tmp_path / name, colors)
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_breaks_off_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "out.ply"
    path.write_text("old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(InputError, match="disk full"):
        permuted_ball().write(path)
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_damaged_bytes_are_read_or_refused_but_never_crash(tmp_path, data):
    content, suffix = data.draw(st.sampled_from(list(GOOD.values())))
    check_damaged(content, data, lambda damaged: read(tmp_path, damaged, suffix))
