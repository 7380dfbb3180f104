"""glTF files made by hand, whole and damaged, and the files that trimesh writes."""

import base64
import json
import struct

import numpy as np
import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from tests.io.meshes.damage import check_damaged

POINTS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 0.75]]
TRIANGLES = [[3, 2, 1], [3, 1, 0], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]


def gltf_json(buffer, change=None):
    positions, indices = np.array(POINTS, "<f4").tobytes(), np.array(TRIANGLES, "<u2").tobytes()
    document = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 5, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 18, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 60},
            {"buffer": 0, "byteOffset": 60, "byteLength": 36},
        ],
        "buffers": [{"byteLength": 96, **buffer}],
    }
    if change:
        change(document)
    return json.dumps(document).encode(), positions + indices


def gltf(change=None):
    data = base64.b64encode(gltf_json({})[1]).decode()
    return gltf_json({"uri": "data:application/octet-stream;base64," + data}, change)[0]


def glb(change=None):
    text, binary = gltf_json({}, change)
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I", len(text)) + b"JSON" + text
    chunks += struct.pack("<I", len(binary)) + b"BIN\0" + binary
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def read(tmp_path, data, suffix):
    path = tmp_path / f"scan{suffix}"
    path.write_bytes(data)
    return Mesh.read(path)


@pytest.mark.parametrize(("data", "suffix"), [(glb(), ".glb"), (gltf(), ".gltf")])
def test_vertices_and_faces_keep_the_order_of_the_file(tmp_path, data, suffix):
    mesh = read(tmp_path, data, suffix)
    assert mesh.vertices.tolist() == POINTS and mesh.faces.tolist() == TRIANGLES


def test_gltf_buffer_beside_the_file_is_found_and_no_other(tmp_path):
    text, binary = gltf_json({"uri": "my%20data.bin"})
    (tmp_path / "my data.bin").write_bytes(binary)
    assert read(tmp_path, text, ".gltf").faces.tolist() == TRIANGLES
    for uri in ("../secret.bin", "/etc/passwd", "http://host/a.bin", "absent.bin"):
        with pytest.raises(InputError, match="is not (beside it|there)"):
            read(tmp_path, gltf_json({"uri": uri})[0], ".gltf")


def two_nodes(document):
    turn = [0, 0, np.sqrt(0.5), np.sqrt(0.5)]
    document["nodes"] = [
        {"children": [2, 1], "translation": [1, 2, 3], "scale": [2, 2, 2]},
        {"mesh": 0, "rotation": turn},
        {"mesh": 0, "matrix": np.diag([1.0, 3, 1, 1]).ravel().tolist()},
    ]
    strip = {"attributes": {"POSITION": 0}, "indices": 1, "mode": 5}
    document["meshes"][0]["primitives"] += [{**strip, "mode": 1}, strip]


def test_gltf_scene_is_walked_in_file_order_with_its_transforms(tmp_path):
    mesh = read(tmp_path, glb(two_nodes), ".glb")
    base = np.array(POINTS)
    stretched = base * [1, 3, 1] * 2 + [1, 2, 3]
    turned = np.column_stack([-base[:, 1], base[:, 0], base[:, 2]]) * 2 + [1, 2, 3]
    # Both primitives use one accessor, so its vertices stand once in each node.
    assert np.allclose(mesh.vertices, np.vstack([stretched, turned]), atol=1e-12)
    flat = np.ravel(TRIANGLES)
    expected = [flat[i : i + 3] if i % 2 == 0 else flat[[i, i + 2, i + 1]] for i in range(16)]
    assert mesh.faces[6:22].tolist() == np.array(expected).tolist()


def test_files_of_trimesh_are_read_as_trimesh_meant_them(tmp_path):
    ball = trimesh.creation.icosphere(subdivisions=1)
    order = np.random.default_rng(5).permutation(len(ball.vertices))
    ball = trimesh.Trimesh(ball.vertices[order], np.argsort(order)[ball.faces], process=False)
    for suffix in (".glb", ".ply", ".off", ".obj", ".stl"):
        path = tmp_path / f"ball{suffix}"
        ball.export(path)
        mesh = Mesh.read(path)
        assert np.allclose(mesh.vertices[mesh.faces], ball.triangles, atol=1e-6), suffix
        if suffix != ".stl":
            assert np.array_equal(mesh.faces, ball.faces), suffix


def setter(*keys, to):
    def change(document):
        for key in keys[:-1]:
            document = document[key]
        document[keys[-1]] = to

    return change


BAD = [
    (glb()[:-4], ".glb", "the file ends after"),
    (glb(setter("accessors", 0, "count", to=10**12)), ".glb", "does not fit its buffer"),
    (glb(setter("accessors", 0, "sparse", to={})), ".glb", "sparse or compressed"),
    (glb(setter("accessors", 1, "count", to=17)), ".glb", "do not make whole triangles"),
    (glb(setter("accessors", 0, "count", to=4)), ".glb", "refers to vertex 4 but there are 4"),
    (glb(setter("nodes", 0, "children", to=[0])), ".glb", "node 0 stands in its scene twice"),
    (glb(setter("nodes", 0, "mesh", to=-1)), ".glb", "entry -1 of `meshes`"),
    (glb(setter("scenes", 0, "nodes", to=[])), ".glb", "no triangles in its scene"),
    (glb(setter("asset", "version", to="1.0")), ".glb", "glTF 1.0 is not supported"),
    (glb(setter("extensionsRequired", to=["KHR_draco_mesh_compression"])), ".glb", "compressed"),
    (b"[" * 100000, ".gltf", "scan.gltf: "),
]


@pytest.mark.parametrize(("data", "suffix", "message"), BAD)
def test_broken_files_are_refused_in_one_sentence(tmp_path, data, suffix, message):
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, data, suffix)
    assert "\n" not in str(caught.value)


CASES = [(glb(), ".glb"), (gltf(), ".gltf"), (glb(two_nodes), ".glb")]


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_damaged_bytes_are_read_or_refused_but_never_crash(tmp_path, data):
    content, suffix = data.draw(st.sampled_from(CASES))
    check_damaged(content, data, lambda damaged: read(tmp_path, damaged, suffix))
