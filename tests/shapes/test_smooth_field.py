"""Smooth fields: functions sum to the kernel, and one side of a shape tells of the other."""

import numpy as np

from nho.geometry.symmetry import Plane
from nho.geometry.synthetic import sphere
from nho.shapes.procrustes import normalised
from nho.shapes.smooth_field import SmoothField

SPHERE = sphere(3)
POSITIONS = normalised(SPHERE.vertices, SPHERE.vertex_areas / SPHERE.area)[0]
ACROSS_X = Plane(np.zeros(3), np.array([1.0, 0.0, 0.0]))


def covariance(field, row):
    """(p, 3, 3) of the field at all vertices with that at one of them."""
    shares = [basis @ basis[row] for basis in field.bases]
    return np.einsum("ap,ax,ay->pxy", np.stack(shares), field.axes, field.axes)


def test_the_covariance_falls_with_the_distance_as_the_kernel_does():
    found = covariance(SmoothField.on(POSITIONS), 0)
    distance = np.linalg.norm(POSITIONS - POSITIONS[0], axis=1)
    expected = 1 / (1 + distance**2 / (2 * 0.3**2))
    np.testing.assert_allclose(found[:, 0, 0], expected, atol=0.25)  # sixty functions, no more
    assert np.sqrt(((found[:, 0, 0] - expected) ** 2).mean()) < 0.03
    np.testing.assert_allclose(found[:, 0, 1], 0, atol=1e-12)


def test_a_point_is_like_its_mirror_image_and_so_is_its_motion():
    row = int(POSITIONS[:, 0].argmax())
    image = int(POSITIONS[:, 0].argmin())
    found = covariance(SmoothField.on(POSITIONS, ACROSS_X), row)
    plain = covariance(SmoothField.on(POSITIONS), row)
    assert abs(plain[image, 1, 1]) < 0.1
    assert found[image, 1, 1] > 0.8 * found[row, 1, 1]
    assert found[image, 0, 0] < -0.8 * found[row, 0, 0]  # what moves out moves out on both sides


def test_fewer_vertices_have_the_same_field():
    field, rows = SmoothField.on(POSITIONS, ACROSS_X), np.array([3, 1, 4])
    numbers = np.random.default_rng(0).normal(size=(3, field.bases[0].shape[1]))
    np.testing.assert_allclose(field.at(rows).values(numbers), field.values(numbers)[rows])


def test_noise_of_vertices_is_rough_and_a_field_is_not():
    field, random = SmoothField.on(POSITIONS), np.random.default_rng(1)
    weights = np.full(len(POSITIONS), 1 / len(POSITIONS))
    smooth = field.values(random.normal(size=(3, field.bases[0].shape[1])))
    noise = random.normal(size=POSITIONS.shape)
    assert field.rough_share(smooth, weights) < 1e-9
    assert 0.9 < field.rough_share(noise, weights) < 1.1
