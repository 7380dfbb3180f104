"""Closest points: exact without normals, on the right sheet with them, or by relief."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.closest import FacingSearch
from nho.geometry.mesh import Mesh
from nho.geometry.surface import project
from nho.geometry.synthetic import torus


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


@pytest.fixture(scope="module")
def stacked() -> Mesh:
    """Two sheets that face up alike, one a tenth above the other."""
    (low, faces), (high, _) = sheet(0.0), sheet(0.1)
    return Mesh(np.vstack([low, high]), np.vstack([faces, faces + len(low)]))


@pytest.mark.parametrize("tried", [8, 484])  # few: the tree must know of relief
@pytest.mark.parametrize("weight", [0.0, 0.3])
@pytest.mark.parametrize("like", [0.0, 0.1])
def test_with_curvatures_it_picks_the_sheet_of_like_relief(stacked, like, weight, tried):
    curvatures = np.repeat([[0.0, 0.2], [0.3, 0.2]], len(stacked.vertices) // 2, axis=0)
    search = FacingSearch(stacked, weight, tried, curvatures)
    random = np.random.default_rng(1)
    points = np.column_stack([random.uniform(0.1, 0.9, (60, 2)), random.uniform(0.01, 0.09, 60)])
    own = np.tile([0.0 if like == 0 else 0.3, 0.2], (60, 1))
    _, found = search(points, np.tile([0.0, 0.0, 1.0], (60, 1)), own)
    np.testing.assert_allclose(found[:, 2], like, atol=1e-12)
    np.testing.assert_allclose(found[:, :2], points[:, :2], atol=1e-12)


def test_normals_count_beside_looks(facing_sheets):
    # Both sheets look alike, so the normals decide; the other way round, the curvatures.
    points = np.tile([0.4, 0.6, 0.05], (2, 1))
    normals = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    same = np.full((len(facing_sheets.vertices), 1), 0.2)
    _, found = FacingSearch(facing_sheets, 0.3, 40, same)(points, normals, np.full((2, 1), 0.2))
    np.testing.assert_allclose(found[:, 2], [0.0, 0.1], atol=1e-12)
    curvatures = 9.0 * facing_sheets.vertices[:, 2:]
    _, found = FacingSearch(facing_sheets, 0.3, 40, curvatures)(
        points, normals, np.full((2, 1), 0.9)
    )
    np.testing.assert_allclose(found[:, 2], [0.1, 0.1], atol=1e-12)


def test_looks_between_corners_are_their_mean():
    # A point on the edge between two triangles with curvatures 1 and 3: 1.9 is nearer to the first.
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    search = FacingSearch(mesh, curvatures=np.array([[2.0], [-1.0], [2.0], [5.0]]))
    points = np.tile([0.5, 0.5, 0.0], (2, 1))
    found, _ = search(points, None, np.array([[1.9], [2.1]]))
    np.testing.assert_array_equal(found.face, [0, 1])


def test_candidates_serve_while_points_move_little(whole):
    search = FacingSearch(whole, 0.5 * whole.mean_edge_length)
    points, normals = 1.02 * whole.vertices, whole.vertex_normals
    near = search.candidates(points, normals)
    assert near.shape == (len(points), 8)
    step = 0.05 * whole.mean_edge_length * np.random.default_rng(0).standard_normal(points.shape)
    _, again = search.among(near, points + step, normals)
    _, anew = search(points + step, normals)
    same = np.linalg.norm(again - anew, axis=1) < 1e-9
    assert same.mean() > 0.98


def test_slivers_do_not_attract_points_that_are_nearer_to_another():
    """Triangles without an area, as images on one edge are: rounding decides their plane."""
    random = np.random.default_rng(0)
    corner, way = random.standard_normal((2, 300, 1, 3))
    line = corner + way * random.uniform(size=(300, 3, 1)) * [1, 1, 1 + 1e-9]
    mesh = Mesh(line.reshape(-1, 3), np.arange(900).reshape(-1, 3))
    points = random.standard_normal((200, 3))
    search = FacingSearch(mesh, tried=300)
    found, positions = search(points)
    best, gaps = project(mesh, points)
    np.testing.assert_allclose(np.linalg.norm(points - positions, axis=1), gaps, rtol=1e-6)


def test_a_single_triangle_can_be_searched():
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    found, positions = FacingSearch(mesh, 1.0)(np.array([[0.2, 0.3, 5.0]]), np.array([[0, 0, 1.0]]))
    np.testing.assert_allclose(positions, [[0.2, 0.3, 0.0]], atol=1e-12)
    np.testing.assert_allclose(found.barycentric, [[0.5, 0.2, 0.3]], atol=1e-12)
