"""The densest files there are: memory stays below 128 times the size of the file."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from nho.batch import read_pairs
from nho.errors import InputError
from nho.evaluation.ground_truth import read_ground_truth
from nho.geometry.mesh import Mesh
from nho.problem.anchors import read_anchors
from tests.fuzz import judge, seeds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
SIZE = 1 << 20  # bytes
TRIANGLE = "0 0 0\n1 0 0\n0 1 0\n"
VTP = '<VTKFile type="PolyData">{}</VTKFile>'


def filled(head: str, unit: str, tail: str = "", size: int = SIZE) -> bytes:
    return (head + unit * (size // len(unit)) + tail).encode()


def gltf(places: int, share: int) -> bytes:
    """A strip of points in whole bytes, placed so many times."""
    points = np.zeros((SIZE // share, 3), "u1")
    uri = "data:application/octet-stream;base64," + base64.b64encode(points).decode()
    document = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": list(range(places))}],
        "nodes": [{"mesh": 0}] * places,
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 5}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5121, "count": len(points), "type": "VEC3"}
        ],
        "bufferViews": [{"buffer": 0, "byteLength": points.nbytes}],
        "buffers": [{"byteLength": points.nbytes, "uri": uri}],
    }
    return json.dumps(document).encode()


PLY = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
PLY += f"property float z\nelement face {SIZE // 8}\nproperty list uchar int vertex_indices\n"
DENSE = {
    "polygon.off": filled(f"OFF\n3 1 0\n{TRIANGLE}{SIZE // 2} ", "0 ", "\n"),
    "polygon.obj": filled("v 0 0 0\nv 1 0 0\nv 0 1 0\nf ", "1 ", "\n"),
    "comments.obj": filled("", "#\n"),
    "faces.ply": filled(f"{PLY}end_header\n{TRIANGLE}", "3 0 1 2\n"),
    "elements.vtp": VTP.format("<a/>" * (SIZE // 4)).encode(),
    "attributes.vtp": VTP.format('<a b=""/>' * (SIZE // 9)).encode(),
    "nested.vtp": VTP.format("<a>" * (SIZE // 7) + "</a>" * (SIZE // 7)).encode(),
    "bytes.gltf": gltf(1, 4),
    "repeated.gltf": gltf(1000, 4),
    "objects.gltf": filled('{"asset":{"version":"2.0"},"x":[', "{},", "{}]}"),
    "truth.map": filled("", "0\n"),
    "pairs.csv": filled("partial,full,anchors\n", "a,b,c\n"),
    "anchors.csv": filled("partial,full\n", "0,0\n", size=SIZE // 10),  # slow
}


@pytest.mark.parametrize("name", DENSE)
def test_memory_is_bounded_by_the_size_of_the_file(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(DENSE[name])
    assert len(DENSE[name]) < 1.1 * SIZE
    monkeypatch.setattr(judge, "MEMORY", 128 * SIZE + (32 << 20))
    with judge.limited_memory():
        try:
            if name == "truth.map":
                read_ground_truth(path, seeds.PARTIAL, seeds.FULL)
            elif name == "pairs.csv":
                read_pairs(path)
            elif name == "anchors.csv":
                read_anchors(path, seeds.PARTIAL, seeds.FULL)
            else:
                Mesh.read(path)
        except InputError as refused:
            assert "not enough memory" not in str(refused)
