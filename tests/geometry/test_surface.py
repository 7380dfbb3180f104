"""Points on a surface: projection is exact, and vertices, points and values agree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, closest_on_triangles, project
from nho.geometry.synthetic import sphere, torus


def segment_distance(point, start, end):
    """Distance of a point to a segment, by the schoolbook."""
    along = end - start
    length = along @ along
    t = 0.0 if length == 0 else np.clip((point - start) @ along / length, 0, 1)
    return np.linalg.norm(point - start - t * along)


def triangle_distance(point, corners):
    """Distance of a point to a triangle: the edges, or the height over the plane.

    An inside test by the signs of the edge normals; another way than the library's.
    """
    a, b, c = corners
    best = min(
        segment_distance(point, a, b), segment_distance(point, b, c), segment_distance(point, c, a)
    )
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal)
    if size <= 1e-12 * max(np.linalg.norm(b - a), np.linalg.norm(c - a)) ** 2:
        return best
    normal = normal / size
    sides = [np.cross(e - s, point - s) @ normal for s, e in ((a, b), (b, c), (c, a))]
    if min(sides) >= 0:
        best = min(best, abs((point - a) @ normal))
    return best


def brute_force(mesh, points):
    corners = mesh.vertices[mesh.faces]
    return np.array([min(triangle_distance(p, t) for t in corners) for p in points])


def triangle_soup(random, count, flatness, size):
    """Unconnected triangles of very different sizes; ``flatness`` makes them slivers."""
    centre = random.normal(size=(count, 1, 3))
    shape = random.normal(size=(count, 3, 3)) * random.lognormal(-1, 1.2, size=(count, 1, 1))
    shape[:, 2] = shape[:, 0] + (shape[:, 1] - shape[:, 0]) * 0.4 + flatness * shape[:, 2]
    return Mesh(size * (centre + shape).reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 40),
    flatness=st.sampled_from([1.0, 0.1, 1e-4, 1e-9, 0.0]),
    far=st.sampled_from([0.0, 0.01, 1.0, 100.0]),
    size=st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_projection_is_the_nearest_of_all_triangles(seed, count, flatness, far, size):
    random = np.random.default_rng(seed)
    mesh = triangle_soup(random, count, flatness, size)
    on_it = mesh.vertices[mesh.faces[random.integers(count, size=12)]]
    on_it = (random.dirichlet([1, 1, 1], size=12)[:, :, None] * on_it).sum(axis=1)
    points = on_it + far * size * random.normal(size=(12, 3))
    found, distance = project(mesh, points)
    extent = np.abs(mesh.vertices).max() + np.abs(points).max()
    np.testing.assert_allclose(distance, brute_force(mesh, points), atol=1e-7 * extent)
    # The point that is returned lies where the distance says, inside its triangle.
    gap = np.linalg.norm(found.positions(mesh) - points, axis=1)
    np.testing.assert_allclose(gap, distance, atol=1e-12 * extent)
    assert (found.barycentric >= 0).all()
    np.testing.assert_allclose(found.barycentric.sum(axis=1), 1, atol=1e-12)


def test_a_long_triangle_far_from_its_own_corners_is_still_found():
    # The nearest vertex belongs to the small triangle; the nearest point to the long one.
    vertices = np.array(
        [[-50.0, 0, 0], [50, 0, 0], [0, -9, 0], [0, 0.1, 2], [1, 0.1, 2], [0, 1, 2]]
    )
    mesh = Mesh(vertices, np.array([[3, 4, 5], [0, 1, 2]]))
    found, distance = project(mesh, np.array([[0.0, -0.5, 0.5]]))
    assert found.face.tolist() == [1]
    assert distance[0] == pytest.approx(0.5, rel=1e-14)


def test_projection_ignores_vertices_that_no_face_uses():
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [5, 5, 5]], [[0, 1, 2]])
    found, distance = project(mesh, np.array([[5.0, 5, 5]]))
    np.testing.assert_allclose(found.positions(mesh), [[0.5, 0.5, 0]], atol=1e-12)
    assert distance[0] == pytest.approx(np.sqrt(2 * 4.5**2 + 25))


def test_projection_of_no_points_is_no_points():
    found, distance = project(sphere(1), np.empty((0, 3)))
    assert len(found) == 0 and distance.shape == (0,) and found.barycentric.shape == (0, 3)


def test_projection_does_not_change_its_input():
    points = np.random.default_rng(0).normal(size=(5, 3))
    before = points.copy()
    project(sphere(1), points)
    assert np.array_equal(points, before)


@pytest.mark.parametrize(
    ("triangle", "point", "expected"),
    [
        ([[1, 1, 1], [1, 1, 1], [1, 1, 1]], [1, 1, 3], 2.0),  # a single point
        ([[0, 0, 0], [2, 0, 0], [2, 0, 0]], [1, 0, 3], 3.0),  # a segment, twice the same end
        ([[0, 0, 0], [4, 0, 0], [1, 0, 0]], [3, 2, 0], 2.0),  # three corners on a line
        ([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [-3, 4, 0], 5.0),  # beyond the end of it
    ],
)
def test_degenerate_triangles_have_a_closest_point(triangle, point, expected):
    triangle = np.array([triangle], dtype=float)
    weights, squared = closest_on_triangles(np.array([point], dtype=float), triangle)
    assert np.sqrt(squared[0]) == pytest.approx(expected)
    assert (weights >= 0).all() and weights.sum() == pytest.approx(1)
    gap = np.linalg.norm(weights[0] @ triangle[0] - point)
    assert gap == pytest.approx(expected)


@pytest.mark.parametrize(
    ("point", "weights"),
    [
        ([1, 1, 5], [0.25, 0.25, 0.5]),  # over the inside
        ([-1, -2, 0], [1, 0, 0]),  # beyond a corner
        ([2, -1, 1], [0.5, 0.5, 0]),  # beyond each edge
        ([-3, 1, 1], [0.5, 0, 0.5]),
        ([4, 3, 0], [0, 0.7, 0.3]),
    ],
)
def test_closest_point_of_a_right_triangle(point, weights):
    corners = np.array([[[0.0, 0, 0], [4, 0, 0], [0, 2, 0]]])
    found, _ = closest_on_triangles(np.array([point], dtype=float), corners)
    np.testing.assert_allclose(found[0], weights, atol=1e-14)


def test_vertices_become_points_and_come_back():
    mesh = torus(12, 8)
    vertices = np.arange(len(mesh.vertices))
    points = SurfacePoints.at_vertices(mesh, vertices)
    assert np.array_equal(points.nearest_vertex(mesh), vertices)
    assert np.array_equal(points.positions(mesh), mesh.vertices)
    projected, distance = project(mesh, mesh.vertices)
    assert np.array_equal(projected.nearest_vertex(mesh), vertices)
    assert (distance <= 1e-15).all()


def test_a_vertex_sits_in_the_first_face_that_uses_it():
    mesh = sphere(1)
    points = SurfacePoints.at_vertices(mesh, np.arange(len(mesh.vertices)))
    first = [np.flatnonzero((mesh.faces == v).any(axis=1))[0] for v in range(len(mesh.vertices))]
    assert points.face.tolist() == first


def test_minus_one_and_unused_vertices_are_no_point():
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [9, 9, 9]], [[0, 1, 2]])
    points = SurfacePoints.at_vertices(mesh, np.array([2, -1, 3, 0]))
    assert points.face.tolist() == [0, -1, -1, 0]
    missing = np.array([False, True, True, False])
    assert np.array_equal(np.isnan(points.barycentric).all(axis=1), missing)
    assert points.nearest_vertex(mesh).tolist() == [2, -1, -1, 0]
    assert np.array_equal(np.isnan(points.positions(mesh)).all(axis=1), missing)
    for values in (np.ones(4), np.ones((4, 2)), np.ones((4, 2, 2))):
        taken = points.interpolate(mesh, values).reshape(4, -1)
        assert np.array_equal(np.isnan(taken).all(axis=1), missing)
        assert (taken[~missing] == 1).all()


def test_the_nearest_vertex_is_the_nearest_in_space_not_the_heaviest():
    # A flat triangle: the obtuse corner is nearest although another has the largest weight.
    mesh = Mesh([[0, 0, 0], [10, 0, 0], [2, 0.1, 0]], [[0, 1, 2]])
    points = SurfacePoints(np.array([0]), np.array([[0.5, 0.25, 0.25]]))  # near (3, 0.025)
    assert points.nearest_vertex(mesh).tolist() == [2]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_interpolation_reproduces_linear_functions(seed):
    random = np.random.default_rng(seed)
    mesh = torus(9, 7)
    face = random.integers(len(mesh.faces), size=20)
    points = SurfacePoints(face, random.dirichlet([1, 1, 1], size=20))
    matrix, offset = random.normal(size=(3, 4)), random.normal(size=4)
    found = points.interpolate(mesh, mesh.vertices @ matrix + offset)
    np.testing.assert_allclose(found, points.positions(mesh) @ matrix + offset, atol=1e-12)
    column = points.interpolate(mesh, mesh.vertices @ matrix[:, 0])
    assert column.shape == (20,)
    np.testing.assert_allclose(column, points.positions(mesh) @ matrix[:, 0], atol=1e-12)


def test_rows_of_points_are_chosen_together():
    mesh = sphere(1)
    points = SurfacePoints.at_vertices(mesh, np.array([5, -1, 7, 9]))
    chosen = points[np.array([3, 1])]
    assert chosen.nearest_vertex(mesh).tolist() == [9, -1]
    assert points[:1].nearest_vertex(mesh).tolist() == [5]
