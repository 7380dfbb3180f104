"""Closest points: exact without normals, on the right sheet with them."""

from __future__ import annotations

import numpy as np
import pytest

from nho.closest import FacingSearch
from nho.mesh import Mesh
from nho.surface import project
from nho.synthetic import torus


def sheet(height: float, size: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """A flat unit square that faces up."""
    i, j = np.divmod(np.arange(size * size), size)
    vertices = np.column_stack([i / (size - 1), j / (size - 1), np.full(len(i), height)])
    a = (i * size + j)[(i < size - 1) & (j < size - 1)]
    b, c, d = a + size, a + size + 1, a + 1
    return vertices, np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])])


@pytest.fixture(scope="module")
def facing_sheets() -> Mesh:
    """The lower sheet faces up, the upper one, a tenth above it, down."""
    (low, faces), (high, _) = sheet(0.0), sheet(0.1)
    return Mesh(np.vstack([low, high]), np.vstack([faces, faces[:, ::-1] + len(low)]))


@pytest.mark.parametrize("make", [lambda whole: whole, lambda whole: torus()])
def test_without_normals_it_is_the_exact_projection(whole, make):
    mesh = make(whole)
    random = np.random.default_rng(0)
    points = mesh.vertices[random.integers(len(mesh.vertices), size=500)]
    points = points + 0.3 * mesh.mean_edge_length * random.standard_normal(points.shape)
    found, positions = FacingSearch(mesh)(points)
    exact, gaps = project(mesh, points)
    np.testing.assert_allclose(np.linalg.norm(positions - points, axis=1), gaps, atol=1e-12)
    np.testing.assert_allclose(positions, exact.positions(mesh), atol=1e-9)
    np.testing.assert_array_equal(positions, found.positions(mesh))


def test_normals_are_ignored_without_a_weight(whole):
    points = 1.05 * whole.vertices
    plain = FacingSearch(whole)(points)[1]
    np.testing.assert_array_equal(FacingSearch(whole)(points, -whole.vertex_normals)[1], plain)


@pytest.mark.parametrize("tried", [8, 484])  # few, or every triangle of both sheets
@pytest.mark.parametrize("up", [1.0, -1.0])
def test_with_a_weight_it_picks_the_sheet_that_faces_the_same_way(facing_sheets, up, tried):
    random = np.random.default_rng(1)
    points = np.column_stack([random.uniform(0.1, 0.9, (60, 2)), random.uniform(0.01, 0.09, 60)])
    normals = np.tile([0, 0, up], (60, 1))
    _, nearest = FacingSearch(facing_sheets, tried=40)(points)
    _, facing = FacingSearch(facing_sheets, 0.3, tried)(points, normals)
    np.testing.assert_allclose(nearest[:, 2], np.where(points[:, 2] < 0.05, 0, 0.1), atol=1e-12)
    np.testing.assert_allclose(facing[:, 2], 0.0 if up > 0 else 0.1, atol=1e-12)
    np.testing.assert_allclose(facing[:, :2], points[:, :2], atol=1e-12)  # the foot, not any point


def test_a_small_weight_lets_a_much_nearer_sheet_win(facing_sheets):
    point, normal = np.array([[0.5, 0.5, 0.01]]), np.array([[0.0, 0.0, -1.0]])
    _, facing = FacingSearch(facing_sheets, 0.02, tried=40)(point, normal)
    assert facing[0, 2] == pytest.approx(0.0)


def test_a_single_triangle_can_be_searched():
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    found, positions = FacingSearch(mesh, 1.0)(np.array([[0.2, 0.3, 5.0]]), np.array([[0, 0, 1.0]]))
    np.testing.assert_allclose(positions, [[0.2, 0.3, 0.0]], atol=1e-12)
    np.testing.assert_allclose(found.barycentric, [[0.5, 0.2, 0.3]], atol=1e-12)
