"""The ray under the pointer meets the point that is seen, exactly."""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import Mesh
from nho.studio.marks import points_of
from nho.studio.picking import first_hit
from nho.studio.shape import ShownShape


def test_a_ray_through_a_known_point_finds_it_and_nothing_behind_it(whole: Mesh) -> None:
    random = np.random.default_rng(0)
    centre = whole.vertices.mean(axis=0)
    for face in random.choice(len(whole.faces), 40, replace=False):
        weights = random.dirichlet(np.ones(3))
        point = weights @ whole.vertices[whole.faces[face]]
        far = centre + 5 * (point - centre)  # the sphere is star-shaped around its centre
        mark = first_hit(whole, far, point - far)
        assert mark is not None and mark.face == face
        np.testing.assert_allclose(mark.barycentric, weights, atol=1e-9)


def test_a_ray_that_misses_or_looks_away_finds_nothing(whole: Mesh) -> None:
    outside = np.array([0.0, 0.0, 10.0])
    assert first_hit(whole, outside, np.array([0.0, 1.0, 0.0])) is None
    assert first_hit(whole, outside, np.array([0.0, 0.0, 1.0])) is None


def test_flat_triangles_are_no_obstacle() -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0, 1.0], [1, 0, 1.0]])
    mesh = Mesh(corners, np.array([[3, 4, 5], [0, 1, 2]]))
    mark = first_hit(mesh, np.array([0.2, 0.2, 5.0]), np.array([0.0, 0.0, -1.0]))
    assert mark is not None and mark.face == 1


def test_the_pages_coordinates_lead_to_the_same_point(whole: Mesh) -> None:
    far_off = Mesh(1e-3 * whole.vertices + [1e3, -2e3, 5e2], whole.faces)
    shape = ShownShape(far_off, 1)
    vertex = 17
    at = np.frombuffer(shape.array("positions") or b"", "<f4").reshape(-1, 3)[vertex]
    mark = shape.hit(4 * at.astype(float), -at.astype(float))
    assert mark is not None
    assert shape.described_mark(mark)["vertex"] == vertex
    position = points_of([mark]).positions(far_off)[0]
    gap = np.linalg.norm(position - far_off.vertices[vertex])
    assert gap < 1e-2 * far_off.edge_lengths.mean()


def test_few_triangles_for_moving_use_vertices_that_are_there() -> None:
    from nho.geometry.synthetic import bumpy_sphere

    shape = ShownShape(bumpy_sphere(5, seed=1), 1)
    fluent = np.frombuffer(shape.array("coarse") or b"", "<u4").reshape(-1, 3)
    assert 0 < len(fluent) < len(shape.mesh.faces) / 2
    assert fluent.max() < len(shape.mesh.vertices)
    assert shape.array("nothing") is None
