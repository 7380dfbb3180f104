"""Attributes survive every format that has room for them, in the order of the mesh."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
import trimesh

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.attributes import (
    Attributes,
    Texture,
    read_data,
    read_with_attributes,
    write_with_attributes,
)
from tests.fuzz import seeds
from tests.fuzz.attributes import glb_seed, obj_seed, ply_seed, vtk_seed, vtp_seed

IMAGE = Texture("skin.png", b"\x89PNG not really")
MESHES, TABLES = (".ply", ".obj", ".glb", ".vtp"), (".npz", ".csv")
LOST = {  # what a format has no room for
    ".ply": set(),
    ".obj": {"label", "thickness", "flow", "chosen", "patch", "q"},
    ".glb": {"patch", "q"},
    ".vtp": set(),
    ".npz": set(),
    ".csv": {"patch", "q", "uv"},
}


@pytest.fixture(scope="module")
def everything(whole) -> Attributes:
    random = np.random.default_rng(0)
    n, m = whole.n_vertices, whole.n_faces
    thickness = random.random(n)
    thickness[::7] = np.nan
    return Attributes(
        vertex={
            "color": random.integers(0, 256, (n, 3), dtype=np.uint8),
            "label": random.integers(-2, 90, n).astype(np.int32),
            "thickness": thickness,
            "flow": random.normal(size=(n, 3)).astype(np.float32),
            "chosen": random.random(n) < 0.3,
        },
        face={"patch": random.integers(0, 9, m).astype(np.int32), "q": random.random(m)},
        uv=random.random((m, 3, 2)),
        textures=(IMAGE,),
    )


def smooth_uv(mesh: Mesh) -> np.ndarray:
    """Coordinates without seams: one pair a vertex."""
    return (mesh.vertices[:, :2] % 1)[mesh.faces]


def written(tmp_path, suffix, mesh, attributes):
    path = tmp_path / f"out{suffix}"
    notes = write_with_attributes(path, mesh, attributes)
    if suffix in MESHES:
        return *read_with_attributes(path), notes
    return mesh, read_data(path, mesh), notes


@pytest.mark.parametrize("suffix", [*MESHES, *TABLES])
def test_what_a_format_has_room_for_comes_back(tmp_path, whole, everything, suffix):
    mesh, back, notes = written(tmp_path, suffix, whole, everything)
    np.testing.assert_allclose(mesh.vertices[: whole.n_vertices], whole.vertices, rtol=1e-6)
    lost = LOST[suffix]
    assert set(back.names()) == set(everything.names()) - lost
    for name in lost:
        assert any(name in note for note in notes), f"nothing is said about {name}"
    for name in set(everything.vertex) - lost:
        values = everything.vertex[name]
        found = back.vertex[name][: whole.n_vertices]
        if suffix == ".glb" and name == "thickness":  # glTF knows no NaN
            values = np.nan_to_num(values)
            assert any("NaN" in note for note in notes)
        np.testing.assert_allclose(found.astype(float), values.astype(float), rtol=1e-6)
    for name in set(everything.face) - lost:
        np.testing.assert_array_equal(back.face[name], everything.face[name])
    if "uv" not in lost and suffix != ".glb":  # there, faces are grouped by image
        np.testing.assert_allclose(back.uv, everything.uv, rtol=1e-6)


@pytest.mark.parametrize("suffix", MESHES)
def test_the_mesh_beside_the_attributes_is_the_one_of_the_plain_reader(
    tmp_path, whole, everything, suffix
):
    mesh, _, _ = written(tmp_path, suffix, whole, everything)
    assert mesh.digest() == Mesh.read(tmp_path / f"out{suffix}").digest()


@pytest.mark.parametrize("suffix", [*MESHES, *TABLES])
def test_types_tell_the_same_kinds_when_they_are_read_again(tmp_path, whole, everything, suffix):
    _, back, _ = written(tmp_path, suffix, whole, everything)
    kinds = {"color": "u", "label": "i", "thickness": "f", "flow": "f", "patch": "i", "q": "f"}
    kinds["chosen"] = "b" if suffix in TABLES else "u"  # no mesh format knows bools
    found = {name: values.dtype.kind for name, values in {**back.vertex, **back.face}.items()}
    assert found == {name: kinds[name] for name in kinds if name not in LOST[suffix]}


@pytest.mark.parametrize("suffix", [".ply", ".obj", ".glb", ".vtp", ".npz", ".csv"])
def test_coordinates_without_seams_stay_with_their_vertices(tmp_path, whole, suffix):
    given = Attributes(uv=smooth_uv(whole))
    mesh, back, notes = written(tmp_path, suffix, whole, given)
    assert mesh.n_vertices == whole.n_vertices and not notes
    np.testing.assert_allclose(back.uv, given.uv, atol=1e-6)


def test_glb_repeats_vertices_at_seams_behind_all_others(tmp_path, whole, everything):
    """One edge loop of the surface is a seam: only its vertices are there twice."""
    uv = smooth_uv(whole)
    upper = whole.vertices[whole.faces].mean(axis=1)[:, 2] > 0
    uv[upper] += 2
    mesh, back, notes = written(tmp_path, ".glb", whole, everything.replace(uv=uv))
    on_seam = np.intersect1d(whole.faces[upper], whole.faces[~upper])
    assert mesh.n_vertices == whole.n_vertices + len(on_seam)
    assert any(f"{len(on_seam)} vertices at texture seams" in note for note in notes)
    assert (mesh.vertices[: whole.n_vertices] == whole.vertices.astype("f4")).all()
    np.testing.assert_array_equal(
        np.sort(mesh.vertices[whole.n_vertices :], axis=0),
        np.sort(whole.vertices[on_seam].astype("f4"), axis=0),
    )
    assert back.vertex["label"].shape == (mesh.n_vertices,)


@pytest.mark.parametrize("suffix", [".ply", ".obj", ".glb"])
def test_images_and_faces_without_coordinates_survive(tmp_path, whole, suffix):
    uv = np.random.default_rng(0).random((whole.n_faces, 3, 2))
    shown = np.arange(whole.n_faces) % 3 - 1
    uv[shown < 0] = np.nan
    second = Texture("second.jpg", b"\xff\xd8\xff not really")
    given = Attributes(uv=uv, textures=(IMAGE, second), texture_of_face=shown)
    mesh, back, _ = written(tmp_path, suffix, whole, given)
    assert [texture.data for texture in back.textures] == [IMAGE.data, second.data]
    order = np.arange(whole.n_faces)
    if suffix == ".glb":  # faces are grouped by the image they show
        order = np.argsort(shown, kind="stable")
    np.testing.assert_array_equal(back.texture_indices(whole.n_faces), shown[order])
    np.testing.assert_allclose(back.uv, uv[order], atol=1e-6)


def test_another_program_reads_the_same(tmp_path, whole, everything):
    given = everything.replace(
        uv=smooth_uv(whole),
        textures=(),
        vertex={name: everything.vertex[name] for name in ("color", "label")},
    )
    for suffix in (".ply", ".glb", ".obj"):
        path = tmp_path / f"out{suffix}"
        write_with_attributes(path, whole, given)
        other = trimesh.load(path, process=False, force="mesh", maintain_order=True)
        np.testing.assert_allclose(other.vertices, whole.vertices, rtol=1e-6)
        np.testing.assert_array_equal(other.faces, whole.faces)
    ply = trimesh.load(tmp_path / "out.ply", process=False)
    assert (ply.metadata["_ply_raw"]["vertex"]["data"]["label"] == given.vertex["label"]).all()
    seen = ply.metadata["_ply_raw"]["vertex"]["data"]
    np.testing.assert_array_equal(
        np.column_stack([seen[channel] for channel in ("red", "green", "blue")]),
        given.vertex["color"],
    )


def test_files_of_another_program_are_read(tmp_path, whole):
    colours = np.random.default_rng(0).integers(0, 256, (whole.n_vertices, 4), dtype=np.uint8)
    colours[:, 3] = 255
    made = trimesh.Trimesh(whole.vertices, whole.faces, vertex_colors=colours, process=False)
    made.export(tmp_path / "a.ply")
    mesh, attributes = read_with_attributes(tmp_path / "a.ply")
    np.testing.assert_array_equal(attributes.vertex["color"][:, :3], colours[:, :3])
    np.testing.assert_array_equal(mesh.faces, whole.faces)


def read_bytes(tmp_path, suffix, data):
    path = tmp_path / f"scan{suffix}"
    path.write_bytes(data)
    (tmp_path / "skin.mtl").write_bytes(b"newmtl skin\nmap_Kd -s 1 1 1 skin.png\nnewmtl plain\n")
    (tmp_path / "skin.png").write_bytes(IMAGE.data)
    return read_with_attributes(path)


@pytest.mark.parametrize("order", ["", "<", ">"])
def test_ply_of_every_byte_order_reads_alike(tmp_path, order):
    _, found = read_bytes(tmp_path, ".ply", ply_seed(order))
    assert found.vertex["label"].tolist() == [0, 1, 2, 3, 4]
    assert found.vertex["label"].dtype == np.int32
    assert found.vertex["color"].tolist() == [[1, 2, 3]] * 5
    assert found.vertex["v"].tolist() == [[1, 2]] * 5
    assert found.face["part"].tolist() == [7] * 6 and found.face["part"].dtype == np.int16
    assert found.uv.tolist() == [[[0, 0], [1, 0], [1, 1]]] * 6  # of the corners, before s and t
    assert [texture.data for texture in found.textures] == [IMAGE.data]


def test_face_data_follow_polygons_into_their_triangles(tmp_path):
    data = seeds.ply("").replace(
        b"property list uchar int vertex_indices\n",
        b"property list uchar int vertex_indices\nproperty int patch\n",
    )
    head, _, body = data.partition(b"end_header\n")
    lines = body.decode().splitlines()
    lines[5:] = [f"{line} {10 + number}" for number, line in enumerate(lines[5:])]
    _, found = read_bytes(tmp_path, ".ply", head + b"end_header\n" + "\n".join(lines).encode())
    assert found.face["patch"].tolist() == [10, 10, 11, 12, 13, 14]  # the first one is a quad


def test_obj_corners_materials_and_colours(tmp_path):
    _, found = read_bytes(tmp_path, ".obj", obj_seed())
    assert found.vertex["color"].tolist() == [[128, 255, 0]] * 5
    assert found.uv[0].tolist() == [[0, 0], [1, 0], [0.5, 1]]
    assert found.uv[1].tolist() == [[0.5, 1], [1, 0], [0, 0]]  # -1, -2 and 1
    assert np.isnan(found.uv[2:]).all()
    assert found.texture_of_face.tolist() == [0, 0, -1, -1, -1, -1]
    assert found.textures == (Texture("skin.png", IMAGE.data),)


def test_gltf_colours_are_linear_and_coordinates_count_from_the_top(tmp_path):
    _, found = read_bytes(tmp_path, ".glb", seeds.glb_of(glb_seed()))
    linear = 200 / 255
    assert found.vertex["color"][0].tolist() == [
        *[round(255 * (1.055 * linear ** (1 / 2.4) - 0.055))] * 3,
        200,
    ]
    assert found.vertex["LABEL"].tolist() == [0, 1, 2, 3, 4]
    parts = glb_seed()
    plain = json.loads(parts[0])
    del plain["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["extensions"]
    _, found = read_bytes(tmp_path, ".glb", seeds.glb_of([json.dumps(plain).encode(), parts[1]]))
    stored = np.linspace(0, 1, 10).reshape(5, 2)
    expected = np.column_stack([stored[:, 0], 1 - stored[:, 1]])[seeds.TRIANGLES]
    np.testing.assert_allclose(found.uv, expected, atol=1e-6)
    assert found.textures[0].data == b"\x89PNG" and found.textures[0].name.endswith(".png")


def test_gltf_images_may_be_in_the_text_or_beside_it(tmp_path):
    text, binary = glb_seed()
    document = json.loads(text)
    inside = "data:image/png;base64," + base64.b64encode(b"\x89PNG inside").decode()
    for uri, content in ((inside, b"\x89PNG inside"), ("skin.png", IMAGE.data)):
        document["images"] = [{"uri": uri}]
        data = seeds.glb_of([json.dumps(document).encode(), binary])
        assert read_bytes(tmp_path, ".glb", data)[1].textures[0].data == content
    document["images"] = [{"uri": "../secret.png"}]
    data = seeds.glb_of([json.dumps(document).encode(), binary])
    with pytest.raises(InputError, match="not beside it"):
        read_bytes(tmp_path, ".glb", data)


@pytest.mark.parametrize("binary", [False, True])
def test_legacy_vtk_sections(tmp_path, binary):
    _, found = read_bytes(tmp_path, ".vtk", vtk_seed(binary))
    assert found.vertex["label"].tolist() == [0, 1, 2, 3, 4]
    assert found.vertex["label"].dtype.kind == "i"
    assert found.vertex["rgb"].tolist() == [[255] * 3] * 5
    np.testing.assert_allclose(found.vertex["flow"], seeds.POINTS)
    assert found.face["part one"].tolist() == [0, 0, 1, 2, 3, 4]
    np.testing.assert_allclose(found.uv, seeds.POINTS[seeds.TRIANGLES][:, :, :2])


def test_vtp_arrays(tmp_path):
    _, found = read_bytes(tmp_path, ".vtp", vtp_seed())
    assert found.vertex["label"].tolist() == [0, 1, 2, 3, 4]
    assert found.vertex["rgb"].dtype == np.uint8 and found.vertex["rgb"].shape == (5, 3)
    assert found.face["q"].tolist() == [1, 1, 2, 3, 4, 5]


def test_cell_data_begin_behind_points_and_lines(tmp_path):
    verts = '<Verts><DataArray type="Int64" Name="connectivity" format="ascii">0</DataArray>'
    verts += '<DataArray type="Int64" Name="offsets" format="ascii">1</DataArray></Verts><Points>'
    data = (
        vtp_seed().replace(b">1 2 3 4 5<", b">99 1 2 3 4 5<").replace(b"<Points>", verts.encode())
    )
    data = data.replace(b"<Piece ", b'<Piece NumberOfVerts="1" ')
    assert read_bytes(tmp_path, ".vtp", data)[1].face["q"].tolist() == [1, 1, 2, 3, 4, 5]


def test_normals_are_not_attributes(tmp_path, whole):
    made = trimesh.Trimesh(whole.vertices, whole.faces, process=False)
    made.export(tmp_path / "a.ply", vertex_normal=True)
    assert (
        b"property" in (tmp_path / "a.ply").read_bytes()[:1000]
        and b"nx" in (tmp_path / "a.ply").read_bytes()[:1000]
    )
    assert read_with_attributes(tmp_path / "a.ply")[1].names() == ()


@pytest.mark.parametrize(
    ("suffix", "data", "message"),
    [
        (".ply", ply_seed("").replace(b" 3 4\n", b" 3 4.5\n"), "'label' .* whole numbers"),
        (
            ".obj",
            obj_seed().replace(b"4/1 ", b"4/9 "),
            "line 11: face 0 .* texture coordinate 9 .* 3",
        ),
        (".obj", obj_seed().replace(b"4/1 ", b"4/x "), "line 11: '4/x' is not a number"),
        (".obj", obj_seed().replace(b"4/1 ", b"4/-7 "), "texture coordinate -7"),
        (".vtp", vtp_seed().replace(b">0 1 2 3 4<", b">0 1 2 3<"), "'label'"),
        (".vtp", vtp_seed().replace(b">0 1 2 3 4<", b">0 1 2 3 4.5<"), "whole numbers"),
        (
            ".vtk",
            vtk_seed(False).replace(b"CELL_DATA 5", b"CELL_DATA 4"),
            "CELL_DATA is for 4 rows",
        ),
        (
            ".vtk",
            vtk_seed(False).replace(b"SCALARS label int", b"SCALARS label word"),
            "type 'word'",
        ),
        (".vtk", vtk_seed(False).replace(b"VECTORS", b"WONDERS"), "WONDERS.* is not understood"),
    ],
)
def test_damaged_attributes_are_refused_in_one_sentence(tmp_path, suffix, data, message):
    with pytest.raises(InputError, match=message) as caught:
        read_bytes(tmp_path, suffix, data)
    assert str(caught.value).startswith("scan")


def test_an_image_that_is_not_there_is_a_note_and_not_an_error(tmp_path):
    path = tmp_path / "scan.obj"
    path.write_bytes(obj_seed())
    _, found = read_with_attributes(path)
    assert found.uv is not None and not found.textures
    assert "the material file 'skin.mtl' is not beside the mesh file" in found.notes[0]


def test_files_elsewhere_are_never_read(tmp_path):
    (tmp_path / "secret.png").write_bytes(IMAGE.data)
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "a.ply").write_bytes(ply_seed("").replace(b"skin.png", b"../secret.png"))
    _, found = read_with_attributes(folder / "a.ply")
    assert not found.textures and "is not beside the mesh file" in found.notes[0]


def test_an_image_of_the_user_is_not_replaced(tmp_path, whole, everything):
    (tmp_path / "out_texture.png").write_bytes(b"mine")
    with pytest.raises(InputError, match="out_texture.png: already exists"):
        write_with_attributes(tmp_path / "out.obj", whole, everything)
    assert (tmp_path / "out_texture.png").read_bytes() == b"mine"
    assert not (tmp_path / "out.obj").exists() and not (tmp_path / "out.mtl").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [("out.stl", "not as '.stl'"), ("missing/out.ply", "a folder that exists")],
)
def test_places_that_cannot_be_written_are_refused(tmp_path, whole, name, message):
    with pytest.raises(InputError, match=message):
        write_with_attributes(tmp_path / name, whole, Attributes())


def test_arrays_that_do_not_fit_are_not_written(tmp_path, whole):
    with pytest.raises(InputError, match="attribute 'short' has type float64 and shape"):
        write_with_attributes(tmp_path / "a.ply", whole, Attributes({"short": np.zeros(3)}))
    large = {"id": np.full(whole.n_vertices, 2**40)}
    with pytest.raises(InputError, match=r"a.ply: attribute 'id' .* write .npz or .csv"):
        write_with_attributes(tmp_path / "a.ply", whole, Attributes(large))
    assert not list(tmp_path.iterdir())


def test_coordinates_beyond_single_precision_are_not_written_as_glb(tmp_path, whole):
    with pytest.raises(InputError, match=r"e\+60 do not fit into glTF.*write PLY"):
        write_with_attributes(tmp_path / "a.glb", whole.scaled(1e60), Attributes())
    assert not list(tmp_path.iterdir())


def test_names_that_a_format_uses_itself_are_changed(tmp_path, whole):
    given = Attributes({"x": np.arange(float(whole.n_vertices)), "a b": np.ones(whole.n_vertices)})
    _, back, _ = written(tmp_path, ".ply", whole, given)
    assert set(back.vertex) == {"data_x", "a_b"}
    assert back.vertex["data_x"].tolist() == given.vertex["x"].tolist()
