"""A crease that a pose flattens is seen, and only there; small patches are no foreign matter."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import bumpy_sphere
from nho.recipes.guided.foreign_matter import flattened_creases, likely_parts


def sheet(count: int, height: np.ndarray) -> Mesh:
    """A strip of squares along x, two triangles each, at these heights."""
    x = np.arange(count, dtype=float)
    one = np.column_stack([x, np.zeros(count), height])
    a = np.arange(count - 1)
    first = np.column_stack([a, a + 1, a + count])
    second = np.column_stack([a + 1, a + 1 + count, a + count])
    return Mesh(np.concatenate([one, one + [0.0, 1.0, 0.0]]), np.concatenate([first, second]))


@pytest.mark.parametrize("side", [1, -1])
def test_a_flattened_fold_is_seen_along_the_fold_alone(side):
    x = np.arange(7.0)
    folded, flat = sheet(7, side * np.maximum(x - 3, 0)), sheet(7, np.zeros(7))
    creases = flattened_creases(folded, flat.vertices)
    np.testing.assert_allclose(creases[[3, 10]], np.pi / 4)
    assert (np.delete(creases, [3, 10]) < 1e-6).all()


def test_a_fold_turned_inside_out_counts_twice():
    x = np.arange(7.0)
    ridge, valley = sheet(7, -np.abs(x - 3)), sheet(7, np.abs(x - 3))
    np.testing.assert_allclose(flattened_creases(ridge, valley.vertices)[3], np.pi)


def test_a_rigid_motion_flattens_nothing():
    mesh = bumpy_sphere(2, seed=1)
    turned = mesh.vertices[:, [1, 2, 0]] + 3.0
    assert flattened_creases(mesh, turned).max() < 1e-6


def test_only_large_patches_far_from_the_anchors_may_be_foreign():
    mesh = bumpy_sphere(3, seed=1)
    mesh = mesh.scaled(1 / np.sqrt(mesh.area))
    height = mesh.vertices[:, 2]
    above, below = height > np.quantile(height, 0.7), height < np.quantile(height, 0.02)
    far = np.full(mesh.n_vertices, 0.7)
    np.testing.assert_array_equal(likely_parts(mesh, above | below, far), above)
    assert not likely_parts(mesh, above | below, 0.5 * far).any()
    lower = height < np.quantile(height, 0.3)
    away = np.where(above, 0.2, 0.7)  # one of two is around an anchor
    np.testing.assert_array_equal(likely_parts(mesh, above | lower, away), lower)
