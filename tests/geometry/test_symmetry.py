"""Planes of symmetry: found in any pose, with partners on the other side, or refused."""

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.alignment import random_rotation
from nho.geometry.mesh import Mesh
from nho.geometry.symmetry import Plane, find_symmetry, mirrored, plane_between
from nho.geometry.synthetic import bumpy_sphere, sphere


def symmetric_shape(subdivisions=3):
    """A bumpy ball whose bumps stand in pairs, left and right; its plane is x = 0."""
    ball = sphere(subdivisions)
    v = ball.vertices
    places = np.array([[0.6, 0.5, 0.6], [0.3, -0.9, 0.2], [0.0, 0.3, -0.95], [0.8, -0.1, -0.5]])
    heights = (0.4, 0.3, 0.25, -0.2)
    for place, height in zip(places / np.linalg.norm(places, axis=1)[:, None], heights):
        for side in (1, -1):
            v = (
                v
                * (1 + height / 2 * np.exp(8 * (ball.vertices @ (place * [side, 1, 1]) - 1)))[
                    :, None
                ]
            )
    return Mesh(v * [1.0, 1.4, 0.8], ball.faces, "symmetric")


@pytest.mark.parametrize("seed", range(3))
def test_the_plane_is_found_in_any_pose_and_unit(seed):
    shape, random = symmetric_shape(), np.random.default_rng(seed)
    rotation, shift = random_rotation(random), 50 * random.normal(size=3)
    posed = Mesh(1000 * shape.vertices @ rotation.T + shift, shape.faces, "posed")
    found = find_symmetry(posed)
    assert abs(found.plane.normal @ rotation[:, 0]) > np.cos(np.deg2rad(0.3))
    assert abs((found.plane.point - shift) @ rotation[:, 0]) < 1e-3 * posed.diagonal
    partners = found.partner.positions(posed)
    truth = 1000 * (shape.vertices * [-1, 1, 1]) @ rotation.T + shift
    assert np.median(np.linalg.norm(partners - truth, axis=1)) < 5e-3 * posed.diagonal


def test_a_shape_without_symmetry_is_refused():
    lopsided = bumpy_sphere(3, seed=3)
    v = (
        lopsided.vertices
        * (1 + 0.6 * np.exp(3 * (lopsided.vertices @ [0.6, 0.64, 0.48] - 1)))[:, None]
    )
    v = v @ np.array([[1, 0.5, 0.2], [0, 1, 0.7], [0, 0, 1.6]])
    v[:, 0] += 0.5 * v[:, 1] * v[:, 2]
    with pytest.raises(InputError, match="no plane of symmetry"):
        find_symmetry(Mesh(v, lopsided.faces, "lopsided"))


def test_the_plane_between_points_and_their_images_is_exact():
    random = np.random.default_rng(0)
    normal = random.normal(size=3)
    plane = Plane(random.normal(size=3), normal / np.linalg.norm(normal))
    points = random.normal(size=(40, 3)) + plane.normal
    found = plane_between(points, plane.reflect(points), random.uniform(0.1, 1, 40))
    assert abs(found.normal @ plane.normal) > 1 - 1e-12
    assert abs((found.point - plane.point) @ plane.normal) < 1e-12


def test_mirrored_twice_is_the_same_and_the_outside_stays_outside():
    shape = bumpy_sphere(2)
    plane = Plane(np.array([0.2, 0, 0]), np.array([0.6, 0.8, 0]))
    image = mirrored(shape, plane)
    outward = (image.vertex_normals * (image.vertices - image.vertices.mean(axis=0))).sum(axis=1)
    assert (outward > 0).mean() > 0.99
    np.testing.assert_allclose(mirrored(image, plane).vertices, shape.vertices, atol=1e-12)
    np.testing.assert_array_equal(mirrored(image, plane).faces, shape.faces)
