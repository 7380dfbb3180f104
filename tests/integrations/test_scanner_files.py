"""LAS, LAZ and E57 as other programs write them."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.errors import InputError


@pytest.mark.parametrize("suffix", [".las", ".laz"])
def test_las_points_keep_their_order_and_offset(suffix, whole, tmp_path):
    laspy = pytest.importorskip("laspy")
    points = whole.vertices + [431000.0, 5412000.0, 210.0]
    header = laspy.LasHeader(point_format=3, version="1.2")
    header.offsets, header.scales = points.min(axis=0), np.full(3, 1e-5)
    file = laspy.LasData(header)
    file.x, file.y, file.z = points.T
    file.write(tmp_path / f"scan{suffix}")
    mesh = nho.Mesh.read(tmp_path / f"scan{suffix}")
    np.testing.assert_allclose(mesh.vertices, points, atol=2e-5)
    assert mesh.area == pytest.approx(whole.area, rel=0.01)


def test_scans_of_an_e57_follow_each_other(whole, tmp_path):
    pye57 = pytest.importorskip("pye57")
    file = pye57.E57(str(tmp_path / "scan.e57"), mode="w")
    for half in np.array_split(whole.vertices, 2):
        names = ("cartesianX", "cartesianY", "cartesianZ")
        file.write_scan_raw(dict(zip(names, half.T.copy(), strict=True)))
    file.close()
    mesh = nho.Mesh.read(tmp_path / "scan.e57")
    np.testing.assert_allclose(mesh.vertices, whole.vertices, atol=1e-6)


@pytest.mark.parametrize("name", ["scan.las", "scan.e57"])
def test_a_damaged_file_is_refused_by_its_name(name, tmp_path):
    pytest.importorskip("laspy" if name.endswith("las") else "pye57")
    (tmp_path / name).write_bytes(b"not such a file" * 50)
    with pytest.raises(InputError, match=f"^{name}: cannot be read as"):
        nho.Mesh.read(tmp_path / name)


def test_clouds_of_other_libraries_are_taken(whole):
    trimesh, pyvista = pytest.importorskip("trimesh"), pytest.importorskip("pyvista")
    open3d, vertices = pytest.importorskip("open3d"), np.array(whole.vertices)
    legacy = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(vertices))
    for cloud in (
        trimesh.PointCloud(vertices),
        pyvista.PolyData(vertices),
        legacy,
        open3d.t.geometry.PointCloud.from_legacy(legacy),
    ):
        mesh = nho.Mesh.of(cloud)
        np.testing.assert_allclose(mesh.vertices, vertices, atol=1e-6)
        assert mesh.area == pytest.approx(whole.area, rel=0.01)


def test_normals_of_clouds_of_other_libraries_say_which_side_is_outside(whole):
    pyvista, open3d = pytest.importorskip("pyvista"), pytest.importorskip("open3d")
    inwards = -whole.vertex_normals
    legacy = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(np.array(whole.vertices)))
    legacy.normals = open3d.utility.Vector3dVector(inwards)
    named, active = pyvista.PolyData(np.array(whole.vertices)), pyvista.PolyData(whole.vertices)
    named["Normals"] = inwards
    active.point_data.active_normals = inwards
    clouds = [named, active, legacy, open3d.t.geometry.PointCloud.from_legacy(legacy)]
    for cloud in clouds:
        normals = nho.Mesh.of(cloud).vertex_normals
        assert np.einsum("nx,nx->n", normals, inwards).min() > 0.8
