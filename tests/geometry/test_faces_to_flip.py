"""Faces that run the other way round than their neighbours are found, and no others."""

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.geometry.repair import faces_to_flip
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane

BALL = bumpy_sphere(1, seed=1)
PIECE = cut_by_plane(BALL, np.array([0.2, 0.5, 1.0]), keep_area=0.6).mesh


def flipped(mesh: Mesh, which: np.ndarray) -> Mesh:
    faces = np.where(which[:, None], mesh.faces[:, ::-1], mesh.faces)
    return Mesh(mesh.vertices, faces)


@pytest.mark.parametrize("mesh", [BALL, PIECE], ids=["closed", "bounded"])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.4])
def test_the_faces_that_were_flipped_are_found(mesh, share):
    which = np.random.default_rng(3).random(len(mesh.faces)) < share
    np.testing.assert_array_equal(faces_to_flip(flipped(mesh, which)), which)


def test_the_majority_is_right():
    which = np.random.default_rng(3).random(len(BALL.faces)) < 0.7
    np.testing.assert_array_equal(faces_to_flip(flipped(BALL, which)), ~which)


def test_a_surface_flipped_as_a_whole_is_left_alone():
    assert not faces_to_flip(flipped(BALL, np.ones(len(BALL.faces), dtype=bool))).any()


def test_every_component_has_its_own_majority():
    m = len(BALL.faces)
    both = Mesh(
        np.vstack([BALL.vertices, BALL.vertices + 5]),
        np.vstack([BALL.faces, BALL.faces + len(BALL.vertices)]),
    )
    which = np.arange(2 * m) >= m  # the second is inside out, which no neighbour contradicts
    which[[4, m + 7]] ^= True
    np.testing.assert_array_equal(np.flatnonzero(faces_to_flip(flipped(both, which))), [4, m + 7])


def test_in_a_tie_the_first_face_stays():
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    assert faces_to_flip(Mesh(square, [[0, 1, 2], [0, 3, 2]])).tolist() == [False, True]


def test_a_moebius_strip_is_left_alone():
    n = 9
    angle = 2 * np.pi * np.arange(n) / n
    centre = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    side = np.cos(angle / 2)[:, None] * centre + np.sin(angle / 2)[:, None] * [0, 0, 1.0]
    rim = np.vstack([centre + 0.3 * side, centre - 0.3 * side])
    i = np.arange(n)
    low, high = i, i + n
    next_low = np.where(i + 1 < n, i + 1, n)  # after one round the two sides have swapped
    next_high = np.where(i + 1 < n, i + 1 + n, 0)
    faces = np.vstack(
        [np.stack([low, next_low, high], 1), np.stack([next_low, next_high, high], 1)]
    )
    assert not faces_to_flip(Mesh(rim, faces)).any()


def test_faces_that_meet_at_a_crowded_edge_say_nothing_about_each_other():
    fan = np.array([[0.0, 0, 0], [0, 0, 1], [1, 0, 0], [-1, 1, 0], [-1, -1, 0]])
    assert not faces_to_flip(Mesh(fan, [[0, 1, 2], [0, 1, 3], [0, 1, 4]])).any()
