"""Nearest rotations: the answer of an SVD, whatever the matrix. Similarities: least squares."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.alignment import nearest_rotation, nearest_rotations, similarity


def by_svd(matrix: np.ndarray) -> np.ndarray:
    """Kabsch's answer for one matrix, by the textbook."""
    u, _, vt = np.linalg.svd(matrix)
    return u @ np.diag([1.0, 1.0, np.linalg.det(u) * np.linalg.det(vt)]) @ vt


def stretched(values: list[float], count: int = 200) -> np.ndarray:
    """Matrices with given singular values; a negative one mirrors."""
    random = np.random.default_rng(1)
    u, v = (np.linalg.qr(random.standard_normal((count, 3, 3)))[0] for _ in range(2))
    u, v = (q * np.sign(np.linalg.det(q))[:, None, None] for q in (u, v))
    return u @ np.diag(values) @ v


def assert_rotations(found: np.ndarray) -> None:
    gram = np.swapaxes(found, 1, 2) @ found
    np.testing.assert_allclose(gram, np.broadcast_to(np.eye(3), gram.shape), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(found), 1, atol=1e-12)


@pytest.mark.parametrize(
    "matrices",
    [
        np.random.default_rng(0).standard_normal((500, 3, 3)),  # every second one mirrors
        stretched([3.0, 2.0, 1.0]),
        stretched([1.0, 1e-2, 1e-4]),
        stretched([1.0, 1e-3, 1e-5]),  # plain by a hair: the slowest that Newton is asked for
        stretched([1.0, 0.5, -0.2]),  # mirrored
        stretched([1.0, 0.5, -1e-3]),
        stretched([1.0, 0.3, 0.0]),  # flat: the third direction follows from the other two
        stretched([1.0, 1.0, 1.0]),  # rotations already
    ],
    ids=["random", "plain", "thin", "very thin", "mirrored", "just mirrored", "flat", "rotation"],
)
def test_they_are_those_of_the_svd(matrices):
    found = nearest_rotations(matrices)
    assert_rotations(found)
    np.testing.assert_allclose(found, [by_svd(m) for m in matrices], atol=1e-7)


@pytest.mark.parametrize("scale", [1e-200, 1e-12, 1e12, 1e150])
def test_the_size_of_a_matrix_does_not_matter(scale):
    matrices = stretched([3.0, 2.0, 1.0])
    np.testing.assert_allclose(
        nearest_rotations(scale * matrices), nearest_rotations(matrices), atol=1e-12
    )


def test_zero_and_rank_one_matrices_give_a_rotation_that_fits_best():
    line = np.outer([1.0, 2.0, 2.0], [0.0, 3.0, 4.0])
    found = nearest_rotations(np.stack([np.zeros((3, 3)), line]))
    assert_rotations(found)
    # The best any rotation can do is the nuclear norm: here |(1, 2, 2)| |(0, 3, 4)|.
    assert (found[1] * line).sum() == pytest.approx(15.0)


def test_one_odd_matrix_does_not_disturb_the_others():
    matrices = stretched([3.0, 2.0, 1.0], 20)
    alone = nearest_rotations(matrices)
    mixed = matrices.copy()
    mixed[7], mixed[11] = 0.0, -mixed[11]
    others = np.delete(np.arange(20), [7, 11])
    np.testing.assert_allclose(nearest_rotations(mixed)[others], alone[others], atol=1e-12)
    assert_rotations(nearest_rotations(mixed))


def test_none_at_all_is_an_empty_table():
    assert nearest_rotations(np.empty((0, 3, 3))).shape == (0, 3, 3)


def test_the_matrices_are_left_alone():
    matrices = np.random.default_rng(2).standard_normal((50, 3, 3))
    before = matrices.tobytes()
    nearest_rotations(matrices)
    assert matrices.tobytes() == before


def test_one_rotation_is_the_one_of_many():
    matrices = stretched([3.0, 2.0, -1.0], 5)
    for matrix, rotation in zip(matrices, nearest_rotations(matrices), strict=True):
        np.testing.assert_allclose(nearest_rotation(matrix), rotation, atol=1e-12)


def test_similarity_never_reflects(piece):
    points = piece.mesh.vertices
    scale, rotation, _ = similarity(points, points * [1.0, 1.0, -1.0])
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(rotation) == pytest.approx(1)
    assert 0 < scale < 1


def test_similarity_is_the_one_of_least_squares(piece):
    random = np.random.default_rng(2)
    start = piece.mesh.vertices
    goal = 3 * start[:, [1, 2, 0]] + 0.3 * random.standard_normal(start.shape)

    def misfit(scale, rotation, shift):
        return ((scale * start @ rotation.T + shift - goal) ** 2).sum()

    scale, rotation, shift = similarity(start, goal)
    best = misfit(scale, rotation, shift)
    assert best < misfit(scale * 1.01, rotation, shift)
    assert best < misfit(scale * 0.99, rotation, shift)
    assert best < misfit(scale, rotation, shift + 0.01)
    for axis in np.eye(3):
        tilt = np.eye(3) + 0.01 * np.cross(np.eye(3), axis)
        tilt = np.linalg.qr(tilt)[0]
        tilt *= np.sign(np.diag(tilt))
        assert best < misfit(scale, tilt @ rotation, shift)
