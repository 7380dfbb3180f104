"""The software renderer: what is in front is seen, in its colour, and nothing breaks it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane, sphere
from nho.lab.bench.figures.render import render
from nho.report.views import first_view

FRONT = np.eye(3)  # looking along -z, y up
RED, GREEN, BLUE = (200, 0, 0), (0, 200, 0), (0, 0, 200)
FACING = 0.50 + 0.42 * 0.9 / np.sqrt(0.45**2 + 0.65**2 + 0.9**2) + 0.14  # light on normal +z


def painted(mesh: Mesh, colour: tuple[int, int, int]) -> np.ndarray:
    return np.tile(np.array(colour, dtype=np.uint8), (mesh.n_vertices, 1))


def covered(picture: np.ndarray) -> np.ndarray:
    """(h, w) opacity from 0 to 1."""
    return picture[:, :, 3] / 255


def square(lines: int = 2) -> Mesh:
    """A flat square in the plane z = 0 with outward side +z, ``lines`` points a side."""
    x, y = np.meshgrid(np.arange(lines), np.arange(lines))
    at = np.stack([x.ravel(), y.ravel(), np.zeros(lines**2)], axis=1).astype(float)
    low = (np.arange(lines - 1)[:, None] * lines + np.arange(lines - 1)).ravel()
    halves = [[low, low + 1, low + lines + 1], [low, low + lines + 1, low + lines]]
    return Mesh(at, np.concatenate([np.stack(half, axis=1) for half in halves]))


@pytest.mark.parametrize("size", [(200, 200), (300, 160)])
def test_a_sphere_covers_a_disc(size: tuple[int, int]) -> None:
    ball = sphere(4)
    picture = render(ball, painted(ball, RED), FRONT, size, transparent=True)
    assert picture.shape == (size[1], size[0], 4) and picture.dtype == np.uint8
    diameter = 0.96 * min(size)  # a margin of 2 % on every side
    assert covered(picture).sum() == pytest.approx(np.pi / 4 * diameter**2, rel=0.01)


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
@pytest.mark.parametrize("view", [FRONT, np.diag([-1.0, 1.0, -1.0])])
def test_the_nearer_of_two_triangles_is_seen(order: list[int], view: np.ndarray) -> None:
    triangle = np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], dtype=float)
    mesh = Mesh(
        np.concatenate([triangle + [0, 0, 0.5], triangle - [0, 0, 0.5]]),
        np.array([[0, 1, 2], [3, 4, 5]])[order],
    )
    colours = np.repeat(np.array([RED, BLUE], dtype=np.uint8), 3, axis=0)
    middle = render(mesh, colours, view, (81, 81))[45, 40].astype(int)
    ahead, behind = (0, 2) if view[2, 2] > 0 else (2, 0)
    assert middle[ahead] > 80 and middle[behind] == 0


def test_crossing_triangles_hide_each_other_in_part() -> None:
    # One rises towards the eye to the right, the other to the left: they cross in the middle.
    a = np.array([[-1, -1, -0.5], [1, -1, 0.5], [1, 1, 0.5], [-1, 1, -0.5]])
    mesh = Mesh(np.concatenate([a, a * [1, 1, -1]]), [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]])
    colours = np.repeat(np.array([RED, BLUE], dtype=np.uint8), 4, axis=0)
    picture = render(mesh, colours, FRONT, (100, 100)).astype(int)
    left, right = picture[50, 25], picture[50, 75]
    assert right[0] > 80 and right[2] == 0
    assert left[2] > 80 and left[0] == 0


def test_a_face_towards_the_eye_has_its_colour_in_full_light() -> None:
    flat = square()
    picture = render(flat, painted(flat, (200, 100, 50)), FRONT, (50, 50))
    np.testing.assert_allclose(picture[25, 20, :3], np.array([200, 100, 50]) * FACING, atol=0.51)
    assert picture[25, 20, 3] == 255


def test_colours_run_evenly_between_corners() -> None:
    flat = square()
    colours = np.array([(0, 0, 0), (200, 0, 0), (0, 0, 0), (200, 0, 0)], dtype=np.uint8)
    mixed = render(flat, colours, FRONT, (100, 100))[50, 2:98, 0]
    wanted = 200 * FACING * (np.arange(96) + 0.5) / 96
    np.testing.assert_allclose(mixed[1:-1], wanted[1:-1], atol=1.1)


def test_labels_are_not_mixed_and_every_corner_gets_a_third_of_its_face() -> None:
    triangle = Mesh([[0, 0, 0], [4, 0, 0], [1, 3, 0]], [[0, 1, 2]])
    colours = np.array([RED, GREEN, BLUE], dtype=np.uint8)
    picture = render(triangle, colours, FRONT, (200, 200), oversample=1, crisp=True)
    bright = round(200 * FACING)
    shares = [(picture[:, :, :3] == np.eye(3)[i] * bright).all(axis=2).mean() for i in range(3)]
    background = (picture[:, :, :3] == 255).all(axis=2).mean()
    assert sum(shares) + background == pytest.approx(1)
    assert sum(shares) == pytest.approx(0.96**2 * 3 / 4 / 2, rel=0.02)  # 4 wide, 3 high
    assert shares == pytest.approx([sum(shares) / 3] * 3, rel=0.02)


def test_neighbouring_faces_leave_no_gap() -> None:
    flat = square(13)  # samples lie exactly on the diagonal
    for view in (FRONT, Rotation.from_euler("xyz", [30, 40, 5], degrees=True).as_matrix()):
        solid = covered(render(flat, painted(flat, RED), view, (96, 96), transparent=True)) > 0.99
        extents = []
        for lines in (solid, solid.T):
            filled = np.flatnonzero(lines.any(axis=1))
            assert np.diff(filled).max(initial=1) == 1
            # A convex shape: one run of covered pixels in every line that it reaches.
            ends = np.abs(np.diff(np.pad(lines[filled].astype(int), ((0, 0), (1, 1))), axis=1))
            assert (ends.sum(axis=1) == 2).all()
            extents.append(len(filled))
        assert max(extents) >= 90  # as large as the picture allows


def test_the_inside_of_an_open_surface_is_darker() -> None:
    bowl = cut_by_plane(sphere(3), np.array([0.0, 0.0, 1.0]), keep_area=0.5).mesh
    opened = bowl.vertices[bowl.boundary_vertices].mean(axis=0)
    up = np.sign(opened[2] - bowl.vertices[:, 2].mean())
    inside = np.diag([up, 1.0, up])  # the opening looks at the eye
    outside = np.diag([-up, 1.0, -up])
    shades = [
        render(bowl, painted(bowl, (200, 200, 200)), view, (60, 60))[30, 30, 0]
        for view in (inside, outside)
    ]
    assert shades[0] < 0.75 * shades[1]


def test_faces_that_all_look_inwards_give_the_same_picture() -> None:
    ball = bumpy_sphere(3, seed=1)
    inverted = Mesh(ball.vertices, ball.faces[:, ::-1])
    pictures = [
        render(mesh, painted(mesh, (210, 160, 90)), FRONT, (80, 80)).astype(int)
        for mesh in (ball, inverted)
    ]
    assert np.abs(pictures[0] - pictures[1]).max() <= 1


def test_the_same_input_gives_the_same_picture_whatever_the_unit_and_place() -> None:
    ball = bumpy_sphere(3, seed=2)
    colours = np.random.default_rng(0).integers(0, 255, (ball.n_vertices, 3)).astype(np.uint8)
    view = first_view(ball)
    first = render(ball, colours, view, (90, 70))
    np.testing.assert_array_equal(first, render(ball, colours, view, (90, 70)))
    moved = Mesh(1e-6 * ball.vertices + [1e-5, 0, -3e-5], ball.faces)
    gaps = np.abs(first.astype(int) - render(moved, colours, view, (90, 70)))
    assert (gaps > 2).mean() < 0.002  # a sample on the very edge of a face may change sides


def test_faces_without_area_and_stray_vertices_change_nothing() -> None:
    ball = sphere(2)
    colours = painted(ball, GREEN)
    clean = render(ball, colours, FRONT, (60, 60))
    n = ball.n_vertices
    middle = ball.vertices[[0, 1]].mean(axis=0)
    mesh = Mesh(
        np.concatenate([ball.vertices, [middle, [500, 0, 900]]]),
        np.concatenate([ball.faces, [[0, 0, 0], [0, 1, 1], [0, 1, n]]]),
    )
    more = np.concatenate([colours, painted(mesh, RED)[:2]])
    np.testing.assert_array_equal(render(mesh, more, FRONT, (60, 60)), clean)


@pytest.mark.parametrize(
    "corners",
    [
        [[1, 1, 1], [1, 1, 1], [1, 1, 1]],
        [[0, 0, 0], [1, 1, 0], [2, 2, 0]],
        [[0, 0, 0], [0, 0, 1], [0, 0, 2]],  # seen end-on
        [[0, 0, 0], [1, 0, 0], [0.5, 1e-200, 0]],
    ],
)
def test_a_mesh_of_nothing_but_lines_is_an_empty_picture(corners: list[list[float]]) -> None:
    mesh = Mesh(corners, [[0, 1, 2]])
    for transparent, background in ((True, 0), (False, 255)):
        picture = render(mesh, painted(mesh, RED), FRONT, (20, 20), transparent=transparent)
        assert (picture[:, :, 3] == background).all()


def test_a_transparent_picture_laid_on_white_is_the_white_one() -> None:
    ball = sphere(2)
    white = render(ball, painted(ball, BLUE), FRONT, (40, 40)).astype(float)
    clear = render(ball, painted(ball, BLUE), FRONT, (40, 40), transparent=True).astype(float)
    share = clear[:, :, 3:] / 255
    assert ((share > 0) & (share < 1)).any()  # the outline is smooth
    np.testing.assert_allclose(
        share * clear[:, :, :3] + 255 * (1 - share), white[:, :, :3], atol=1.5
    )
    assert (white[:, :, 3] == 255).all()


def test_drawn_edges_are_dark_lines_on_the_faces() -> None:
    flat = square(3)
    plain = render(flat, painted(flat, RED), FRONT, (101, 101))
    lined = render(flat, painted(flat, RED), FRONT, (101, 101), edges=True)
    assert lined[50, 30, 0] < 0.6 * plain[50, 30, 0]  # the line in the middle
    assert lined[35, 20, 0] == plain[35, 20, 0]  # away from every edge


def test_colours_that_do_not_fit_the_mesh_are_refused() -> None:
    with pytest.raises(InputError, match="162 vertices"):
        render(sphere(2), np.zeros((5, 3), dtype=np.uint8), FRONT)
