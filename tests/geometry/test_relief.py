"""Relief: known on spheres and planes, signed by the normals, the same in any pose."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.geometry.relief import SCALES, relief, standardised
from nho.geometry.spectrum import laplacian
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane, sphere, torus

KINDS = ["robust", "cotan"]


def relief_of(mesh: Mesh, kind: str = "robust") -> np.ndarray:
    return relief(mesh, laplacian(mesh, kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("radius", [0.3, 1.0])
def test_a_sphere_bulges_by_two_over_its_radius_at_every_scale(radius, kind):
    found = relief_of(sphere(4).scaled(radius), kind)
    # Mean curvature times two: the sum of both principal curvatures, each 1 / radius.
    expected = np.tanh(np.array(SCALES) * 2 / radius)
    np.testing.assert_allclose(np.median(found, axis=0), expected, rtol=0.02)
    np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), rtol=0.15)


def test_turned_over_a_bulge_is_a_dent(whole):
    over = Mesh(whole.vertices, whole.faces[:, ::-1])
    np.testing.assert_allclose(relief_of(over), -relief_of(whole), atol=1e-9)
    assert np.median(relief_of(whole)) > 0.01  # a closed surface that faces outwards


def test_a_saddle_of_opposite_curvatures_has_hardly_any_relief():
    size = 41
    i, j = np.divmod(np.arange(size * size), size)
    x, y = i / 40 - 0.5, j / 40 - 0.5
    a = (i * size + j)[(i < size - 1) & (j < size - 1)]
    faces = np.vstack(
        [np.column_stack([a, a + size, a + size + 1]), np.column_stack([a, a + size + 1, a + 1])]
    )
    middle = np.hypot(x, y) < 0.2

    def at_middle(height: np.ndarray) -> np.ndarray:
        return relief_of(Mesh(np.column_stack([x, y, height]), faces))[middle]

    bowl, saddle = at_middle(x**2 + y**2), at_middle(x**2 - y**2)
    assert (bowl < -0.5 * np.array(SCALES)).all()  # it faces up: a dent
    assert (np.abs(saddle) < 0.1 * np.abs(bowl)).all()
    np.testing.assert_allclose(at_middle(0 * x), 0, atol=1e-9)


def test_inner_and_outer_side_of_a_torus_differ():
    mesh = torus(64, 32, ratio=0.6)
    found = relief_of(mesh)[:, 0]
    from_axis = np.linalg.norm(mesh.vertices[:, :2], axis=1)
    inner, outer = from_axis.argmin(), from_axis.argmax()
    # The circle around the hole bends the other way: the bulge is less there.
    assert found[inner] < 0.7 * found[outer]


def test_rigid_motion_does_not_matter(piece):
    matrix = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    matrix *= np.sign(np.linalg.det(matrix))
    moved = Mesh(piece.mesh.vertices @ matrix + [3.0, -2.0, 1.0], piece.mesh.faces)
    np.testing.assert_allclose(relief_of(moved), relief_of(piece.mesh), atol=1e-7)


def test_a_mirror_image_has_the_same_relief(piece):
    mirrored = Mesh(piece.mesh.vertices * [-1, 1, 1], piece.mesh.faces[:, ::-1])
    np.testing.assert_allclose(relief_of(mirrored), relief_of(piece.mesh), atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_the_boundary_takes_its_value_from_inside(kind):
    cap = cut_by_plane(sphere(4).scaled(0.3), np.array([0.2, 0.5, 1.0]), keep_area=0.6).mesh
    found, rim = relief_of(cap, kind), cap.boundary_vertices
    expected = np.tanh(np.array(SCALES) * 2 / 0.3)
    assert 20 < rim.sum() < len(rim) / 4
    np.testing.assert_allclose(found[rim], np.broadcast_to(expected, (rim.sum(), 3)), rtol=0.1)


def test_a_coarser_scale_sees_less_of_a_small_bump():
    ball = sphere(4)
    away = np.linalg.norm(ball.vertices - ball.vertices[0], axis=1)
    bump = 1 + 0.1 * np.exp(-((away / 0.15) ** 2))
    found = relief_of(Mesh(ball.vertices * bump[:, None], ball.faces).scaled(0.3))
    plain = np.tanh(np.array(SCALES) * 2 / 0.3)
    contrast = found[0] / plain
    assert contrast[0] > contrast[1] > contrast[2] > 1.0
    assert contrast[0] > 1.5


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_values_are_finite_and_within_one(whole, scale):
    found = relief_of(whole.scaled(scale))
    assert found.shape == (len(whole.vertices), len(SCALES))
    assert np.isfinite(found).all() and np.abs(found).max() <= 1


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_surface_without_inside_has_no_relief():
    strip = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]], [[0, 1, 2], [1, 3, 2]])
    np.testing.assert_array_equal(relief_of(strip), 0)


def test_standardised_is_in_deviations_of_the_full_shape():
    partial, full = (relief_of(bumpy_sphere(2, seed=seed)) for seed in (0, 1))
    ours, theirs = standardised(partial, full)
    np.testing.assert_allclose(theirs.std(axis=0), 1)
    np.testing.assert_allclose(ours * full.std(axis=0), partial)  # one unit for both


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_full_shape_without_relief_is_left_as_it_is():
    ours, theirs = standardised(np.full((4, 3), 0.2), np.zeros((5, 3)))
    np.testing.assert_array_equal(ours, 0.2)
    np.testing.assert_array_equal(theirs, 0)
