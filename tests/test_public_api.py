"""Every array of the public API has the shape and the type that its documentation states."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

import nho
from nho.geometry.synthetic import Cut, bumpy_sphere, cut_by_plane

KINDS = {"int": np.int64, "float": np.float64, "bool": np.bool_}
ATTRIBUTE = re.compile(r"^(\w+) : \(([^)]*)\) (int|float|bool) array$", re.MULTILINE)


def assert_array(found: Any, shape: tuple[int, ...], kind: type) -> None:
    assert isinstance(found, np.ndarray)
    assert (found.shape, found.dtype) == (shape, kind)


def shape_of(text: str, sizes: dict[str, int]) -> tuple[int, ...]:
    """``"n, 3"`` with the sizes by name."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    return tuple(int(word) if word.isdigit() else sizes[word] for word in words)


def assert_attributes(instance: Any, count: int, sizes: dict[str, int]) -> None:
    """Hold an object against the attributes in the docstring of its class."""
    listed = ATTRIBUTE.findall(inspect.getdoc(type(instance)) or "")
    assert len(listed) == count
    for name, shape, kind in listed:
        assert_array(getattr(instance, name), shape_of(shape, sizes), KINDS[kind])


def assert_points(found: nho.SurfacePoints, count: int) -> None:
    assert isinstance(found, nho.SurfacePoints) and len(found) == count
    assert_attributes(found, 2, {"n": count})


def assert_anchors(found: nho.Anchors, partial: nho.Mesh, full: nho.Mesh) -> None:
    assert len(found) == 12 and all(isinstance(name, str) for name in found.names)
    assert_points(found.partial, 12)
    assert_points(found.full, 12)
    assert_attributes(found, 1, {"m": 12})
    assert_array(found.vertices(partial, full), (12, 2), np.int64)


@pytest.fixture(scope="module")
def pairs(piece: Cut) -> np.ndarray:
    chosen = nho.sample_vertices(piece.mesh, 12)
    return np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)


@pytest.fixture(scope="module")
def result(whole: nho.Mesh, piece: Cut, pairs: np.ndarray) -> nho.MatchResult:
    return nho.match(piece.mesh, whole, pairs)


@pytest.fixture(scope="module")
def truth(whole: nho.Mesh, piece: Cut) -> nho.GroundTruth:
    points = nho.SurfacePoints.at_vertices(whole, piece.vertex_of_parent)
    return nho.GroundTruth(points, piece.kept_vertices)


def test_mesh(piece: Cut) -> None:
    mesh = nho.Mesh(piece.mesh.vertices.astype(np.float32), piece.mesh.faces.astype(np.uint16))
    sizes = {"n": mesh.n_vertices, "m": mesh.n_faces, "e": len(mesh.edges)}
    assert_array(mesh.vertices, (sizes["n"], 3), np.float64)
    assert_array(mesh.faces, (sizes["m"], 3), np.int64)
    arrays = 0
    members = {name: member for of in nho.Mesh.__mro__ for name, member in vars(of).items()}
    for name, member in members.items():
        getter = member.func if isinstance(member, cached_property) else getattr(member, "fget", 0)
        if name.startswith("_") or not getter:
            continue
        found, hint = getattr(mesh, name), get_type_hints(getter)["return"]
        if not isinstance(found, np.ndarray):
            assert type(found) is hint
            continue
        documented = re.match(r"\(([^)]*)\) ", inspect.getdoc(getter) or "")
        assert documented, f"Mesh.{name} does not state its shape"
        assert_array(found, shape_of(documented[1], sizes), get_args(get_args(hint)[1])[0])
        assert not found.flags.writeable
        arrays += 1
    assert arrays == 11


def test_surface_points(whole: nho.Mesh, piece: Cut) -> None:
    n = piece.mesh.n_vertices
    points, distances = nho.project(whole, piece.mesh.vertices)
    assert_points(points, n)
    assert_array(distances, (n,), np.float64)
    assert_points(points[:5], 5)
    assert_points(nho.SurfacePoints.at_vertices(whole, np.array([3, -1], dtype=np.int32)), 2)
    assert_array(points.positions(whole), (n, 3), np.float64)
    assert_array(points.nearest_vertex(whole), (n,), np.int64)
    assert_array(points.interpolate(whole, whole.vertex_areas), (n,), np.float64)
    assert_array(points.interpolate(whole, whole.vertices), (n, 3), np.float64)


@pytest.mark.parametrize("method", ["geodesic", "euclidean", "random"])
def test_sample_vertices(piece: Cut, method: str) -> None:
    assert_array(nho.sample_vertices(piece.mesh, 7, method), (7,), np.int64)


def test_anchors(whole: nho.Mesh, piece: Cut, pairs: np.ndarray, tmp_path: Path) -> None:
    nho.write_anchors(tmp_path / "pairs.csv", pairs)
    places = piece.mesh.vertices[pairs[:, 0]], whole.vertices[pairs[:, 1]]
    for anchors in (
        nho.Anchors.from_vertices(piece.mesh, whole, pairs),
        nho.Anchors.from_positions(piece.mesh, whole, *places),
        nho.read_anchors(tmp_path / "pairs.csv", piece.mesh, whole),
    ):
        assert_anchors(anchors, piece.mesh, whole)


@pytest.mark.slow
def test_find_anchors() -> None:
    full = bumpy_sphere(2)
    partial = cut_by_plane(full, np.array([0.2, 0.5, 1.0]), keep_area=0.6).mesh
    assert_anchors(nho.find_anchors(partial, full, count=12), partial, full)


def test_match_result(whole: nho.Mesh, piece: Cut, result: nho.MatchResult) -> None:
    n_partial = piece.mesh.n_vertices
    arrays = [value for value in vars(result).values() if isinstance(value, np.ndarray)]
    sizes = {"n_partial": n_partial, "n_full": whole.n_vertices, "m": 12}
    assert_attributes(result, len(arrays), sizes)
    assert_points(result.points, n_partial)
    assert set(result.arrays()) < set(vars(result))


def test_a_stored_result_is_no_different(
    whole: nho.Mesh, piece: Cut, result: nho.MatchResult, tmp_path: Path
) -> None:
    nho.write_outputs(tmp_path / "out", piece.mesh, whole, result, report=False)
    test_match_result(whole, piece, nho.MatchResult.load(tmp_path / "out"))


def test_ground_truth_and_evaluation(
    whole: nho.Mesh, piece: Cut, result: nho.MatchResult, truth: nho.GroundTruth, tmp_path: Path
) -> None:
    np.savetxt(tmp_path / "truth.map", piece.vertex_of_parent, fmt="%d")
    for known in (truth, nho.read_ground_truth(tmp_path / "truth.map", piece.mesh, whole)):
        assert_points(known.points, piece.mesh.n_vertices)
        assert_attributes(known, 1, {"n_full": whole.n_vertices})
        evaluation = nho.evaluate(result, whole, known)
        assert all(type(value) is float for value in evaluation.as_dict().values())


def test_no_public_name_imports_a_library_that_only_some_users_have() -> None:
    others = "trimesh pyvista vtk open3d vedo meshio anywidget laspy pye57 bpy torch matplotlib PIL"
    script = (
        "import sys, nho; [getattr(nho, name) for name in nho.__all__]; "
        f"sys.exit(' '.join(name for name in {others.split()!r} if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
