"""Shapes of a symmetric template: their mirror images count as shapes."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

import nho
from nho.geometry.alignment import random_rotation
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.symmetry import Plane, Symmetry
from nho.geometry.synthetic import sphere
from nho.shapes.mirror_images import with_mirror_images

BALL = sphere(2)
TEMPLATE = Mesh(BALL.vertices * [1.0, 1.3, 0.8], BALL.faces, "egg")
ACROSS = np.array([-1.0, 1.0, 1.0])
LEFT = np.array([-0.7, 0.6, 0.4])


@pytest.fixture(scope="module")
def symmetry():
    """Of the egg: every vertex has another one for its partner."""
    distance, rows = cKDTree(TEMPLATE.vertices).query(TEMPLATE.vertices * ACROSS)
    assert distance.max() < 1e-9
    plane = Plane(np.zeros(3), np.array([1.0, 0.0, 0.0]))
    return Symmetry(plane, SurfacePoints.at_vertices(TEMPLATE, rows), distance)


def with_bump(height, at):
    near = np.exp(-8 * ((TEMPLATE.vertices - at) ** 2).sum(axis=1))[:, None]
    return TEMPLATE.vertices * (1 + height * near)


def family(random, count=10):
    """Shapes with a higher or lower bump on the left, and more or less of a waist."""
    shapes = []
    for height, waist in random.normal(size=(count, 2)):
        shape = with_bump(0.2 * height, LEFT) * [1, 1 + 0.05 * waist, 1]
        shape = shape + 0.002 * random.normal(size=shape.shape)
        shapes.append(shape @ random_rotation(random).T + random.normal(size=3))
    return np.stack(shapes)


def test_the_image_of_a_shape_is_its_reflection_with_weights_from_the_other_side(symmetry):
    shape = with_bump(0.3, LEFT)
    weights = (TEMPLATE.vertices[:, 0] < 0.1).astype(float)
    both = with_mirror_images(shape[None], weights[None], TEMPLATE, symmetry)
    assert len(both.positions) == len(both.weights) == 2
    np.testing.assert_array_equal(both.positions[0], shape)
    np.testing.assert_allclose(both.positions[1], with_bump(0.3, LEFT * ACROSS), atol=1e-12)
    np.testing.assert_array_equal(both.weights[1], TEMPLATE.vertices[:, 0] > -0.1)
    with pytest.raises(IndexError):
        both.positions[2]


def test_without_symmetry_there_are_the_given_shapes_alone():
    shapes, weights = np.zeros((3, 4, 3)), np.ones((3, 4))
    assert with_mirror_images(shapes, weights, TEMPLATE, None) == (shapes, weights)


def test_what_varies_on_one_side_is_known_on_the_other(symmetry):
    positions = family(np.random.default_rng(0))
    new = with_bump(0.3, LEFT * ACROSS)
    seen = (new[:, 1] < 0.75).astype(float)  # the top of the bump is missing
    hidden = np.linalg.norm(TEMPLATE.vertices - LEFT * ACROSS, axis=1) < 0.5
    hidden &= seen == 0
    assert hidden.sum() >= 3
    errors = []
    for given in (None, symmetry):
        space = nho.ShapeSpace.fit(positions, TEMPLATE, components=3, symmetry=given)
        assert len(space.names) == len(space.scores) == len(space.validation.residual) == 10
        away = space.estimate(new, seen).positions - new
        errors.append(np.sqrt((away[hidden] ** 2).sum(axis=1).mean()))
    assert errors[1] < 0.7 * errors[0]


def test_the_mean_of_a_symmetric_template_is_symmetric(symmetry):
    positions = family(np.random.default_rng(1))
    mean = nho.ShapeSpace.fit(positions, TEMPLATE, symmetry=symmetry).mean
    images = symmetry.partner.positions(mean)
    lengths = np.linalg.norm(mean.vertices, axis=1) - np.linalg.norm(images, axis=1)
    assert np.abs(lengths).max() < 1e-3
