"""The thin-plate spline."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import RBFInterpolator

from nho.geometry.spline import thin_plate_spline


@pytest.fixture
def points() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    start = random.standard_normal((12, 3))
    return start, start + 0.2 * random.standard_normal((12, 3)), random.standard_normal((50, 3))


def test_it_is_the_spline_of_scipy(points):
    start, goal, others = points
    expected = RBFInterpolator(start, goal, kernel="thin_plate_spline")(others)
    np.testing.assert_allclose(thin_plate_spline(start, goal, others), expected, atol=1e-9)


def test_it_takes_every_point_to_its_goal(points):
    start, goal, _ = points
    np.testing.assert_allclose(thin_plate_spline(start, goal, start), goal, atol=1e-10)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_does_not_matter(points, factor):
    start, goal, others = (factor * of for of in points)
    expected = factor * thin_plate_spline(*points)
    np.testing.assert_allclose(thin_plate_spline(start, goal, others), expected, atol=1e-9 * factor)


def test_an_affine_map_is_kept_everywhere(points):
    start, _, others = points
    matrix, shift = np.array([[1.2, 0.1, 0], [0, 0.9, 0.3], [0, 0, 1.1]]), np.array([1.0, 2, 3])
    moved = thin_plate_spline(start, start @ matrix + shift, others)
    np.testing.assert_allclose(moved, others @ matrix + shift, atol=1e-9)


@pytest.mark.parametrize("count", [1, 3, 4])
def test_too_few_points_move_nothing(points, count):
    start, goal, others = points
    moved = thin_plate_spline(start[:count], goal[:count], others)
    np.testing.assert_array_equal(moved, others)


def test_points_in_a_plane_move_nothing(points):
    start, goal, others = points
    flat = start * [1, 1, 0]
    np.testing.assert_array_equal(thin_plate_spline(flat, goal, others), others)


def test_points_that_coincide_are_no_trouble(points):
    start, goal, others = points
    twice = [np.concatenate([of, of[:2]]) for of in (start, goal)]
    expected = thin_plate_spline(start, goal, others)
    np.testing.assert_allclose(thin_plate_spline(*twice, others), expected, atol=1e-8)
