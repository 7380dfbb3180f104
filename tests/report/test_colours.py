"""Colours: the same point keeps its colour, the region stands out, numbers keep their order."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import bumpy_sphere
from nho.problem.result import MatchResult
from nho.report.colours import (
    UNMATCHED,
    distance_colours,
    position_colours,
    region_colours,
    scalar_colours,
    transfer_colours,
)
from nho.settings import Settings


def lopsided() -> Mesh:
    """A closed shape with three different extents and no symmetry."""
    ball = bumpy_sphere(3, seed=1)
    x, y, z = ball.vertices.T
    bent = np.stack([3.0 * x + 0.8 * x**2, 1.7 * y + 0.4 * y**2, z + 0.2 * z**2], axis=1)
    return Mesh(bent, ball.faces, "lopsided")


def result_at(points: SurfacePoints, full: Mesh) -> MatchResult:
    n = len(points)
    return MatchResult(
        vertex_map=points.nearest_vertex(full),
        face=points.face,
        barycentric=points.barycentric,
        confidence=np.ones(n),
        region=np.ones(len(full.vertices), dtype=bool),
        region_score=np.ones(len(full.vertices)),
        anchors=np.zeros((0, 2), dtype=np.int64),
        settings=Settings(),
    )


def luminance(colours: np.ndarray) -> np.ndarray:
    share = colours / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_position_colours_ignore_rigid_motion_and_scale(seed: int, scale: float) -> None:
    mesh = lopsided()
    turn = Rotation.random(random_state=seed).as_matrix()
    moved = Mesh(scale * (mesh.vertices @ turn.T + [5.0, -3.0, 2.0]), mesh.faces, "moved")
    gap = position_colours(moved).astype(int) - position_colours(mesh)
    assert np.abs(gap).max() <= 1  # one step of rounding


@pytest.mark.parametrize("seed", range(5))
def test_position_colours_of_a_symmetric_box_ignore_rotation(seed: int) -> None:
    ball = bumpy_sphere(2, seed=0)
    vertices = np.concatenate([ball.vertices, -ball.vertices]) * [3.0, 2.0, 1.0]
    faces = np.concatenate([ball.faces, ball.faces + len(ball.vertices)])
    turn = Rotation.random(random_state=seed).as_matrix()
    straight, turned = Mesh(vertices, faces), Mesh(vertices @ turn.T, faces)
    gap = position_colours(turned).astype(int) - position_colours(straight)
    assert np.abs(gap).max() <= 1


def test_position_colours_follow_a_renumbering_of_the_vertices() -> None:
    mesh = lopsided()
    order = np.random.default_rng(0).permutation(len(mesh.vertices))
    place = np.argsort(order)
    shuffled = Mesh(mesh.vertices[order], place[mesh.faces], "shuffled")
    gap = position_colours(shuffled).astype(int) - position_colours(mesh)[order]
    assert np.abs(gap).max() <= 1


def test_position_colours_are_smooth_and_tell_distant_points_apart() -> None:
    mesh = lopsided()
    colours = position_colours(mesh).astype(int)
    assert colours.shape == mesh.vertices.shape
    steps = np.abs(colours[mesh.edges[:, 0]] - colours[mesh.edges[:, 1]]).max(axis=1)
    # The steepest colour may change over the longest edge by no more than its share of the shape.
    share = mesh.edge_lengths.max() / np.ptp(mesh.vertices, axis=0).max()
    assert steps.max() < 255 * 6 * share
    for axis in range(2):
        low, high = mesh.vertices[:, axis].argmin(), mesh.vertices[:, axis].argmax()
        assert np.abs(colours[low] - colours[high]).max() > 60
    assert (np.ptp(colours, axis=1) > 25).all()  # never grey, which means "no match"


def test_a_flat_mesh_has_colours() -> None:
    flat = Mesh([[0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]], "flat")
    turn = Rotation.random(random_state=3).as_matrix()
    turned = Mesh(flat.vertices @ turn.T, flat.faces, "turned")
    gap = position_colours(flat).astype(int) - position_colours(turned)
    assert np.abs(gap).max() <= 1
    assert len(np.unique(position_colours(flat), axis=0)) == 4


def test_transferred_colours_are_those_of_the_matched_points() -> None:
    full = lopsided()
    colours = position_colours(full)
    vertices = np.array([5, -1, 17, 40])
    transferred = transfer_colours(
        full, result_at(SurfacePoints.at_vertices(full, vertices), full), colours
    )
    assert transferred.dtype == np.uint8
    np.testing.assert_array_equal(transferred[[0, 2, 3]], colours[[5, 17, 40]])
    assert tuple(transferred[1]) == UNMATCHED


def test_colours_inside_a_face_are_interpolated() -> None:
    full = lopsided()
    colours = np.zeros((len(full.vertices), 3), dtype=np.uint8)
    colours[full.faces[8]] = np.diag([100, 200, 40])
    inside = SurfacePoints(np.array([8]), np.array([[0.5, 0.3, 0.2]]))
    transferred = transfer_colours(full, result_at(inside, full), colours)
    np.testing.assert_array_equal(transferred, [[50, 60, 8]])


def test_outside_the_region_colours_are_lighter_and_greyer_and_inside_they_stay() -> None:
    colours = position_colours(lopsided())
    before = colours.copy()
    region = np.arange(len(colours)) % 3 == 0
    marked = region_colours(colours, region)
    np.testing.assert_array_equal(colours, before)
    np.testing.assert_array_equal(marked[region], colours[region])
    outside, was = marked[~region], colours[~region]
    assert (luminance(outside) > luminance(was)).all()
    assert (np.ptp(outside, axis=1) < 0.3 * np.ptp(was, axis=1)).all()


def test_the_colour_scale_grows_lighter_with_the_value() -> None:
    values = np.linspace(0, 1, 64)
    light = luminance(scalar_colours(values))
    assert (np.diff(light) > 0).all()
    assert light[0] < 0.05 and light[-1] > 0.6


def test_values_beyond_the_limits_take_the_end_colours_and_nan_is_grey() -> None:
    colours = scalar_colours(np.array([-np.inf, 0.0, np.nan, 1.0, 7.0]))
    np.testing.assert_array_equal(colours[0], colours[1])
    np.testing.assert_array_equal(colours[3], colours[4])
    assert tuple(colours[2]) == UNMATCHED
    stretched = scalar_colours(np.array([2.0, 4.0]), low=2.0, high=4.0)
    np.testing.assert_array_equal(stretched, colours[[1, 3]])


def test_nothing_matched_is_all_grey() -> None:
    full = lopsided()
    nothing = SurfacePoints(np.full(4, -1), np.full((4, 3), np.nan))
    result = dataclasses.replace(result_at(nothing, full), confidence=np.zeros(4))
    assert (transfer_colours(full, result, position_colours(full)) == UNMATCHED).all()


def test_far_is_darker_than_near_and_beyond_the_scale_is_its_end():
    light = luminance(distance_colours(np.linspace(0, 3, 50), 3.0))
    assert (np.diff(light) < 0).all()
    colours = distance_colours(np.array([3.0, 9.0, np.nan]), 3.0)
    np.testing.assert_array_equal(colours[0], colours[1])
    np.testing.assert_array_equal(colours[2], UNMATCHED)
