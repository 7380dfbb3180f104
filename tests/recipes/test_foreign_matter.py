"""A crease that a pose flattens is seen, and only there; small patches are no foreign matter."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import nho
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import bumpy_sphere
from nho.lab.bench.datasets import FAMILIES
from nho.recipes.guided.foreign_matter import ForeignMatter, flattened_creases, likely_parts


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


def half_unlike(difference: float, anchors: int, first: bool = True) -> bool:
    """Whether half of a surface, far from the anchors, is foreign if its relief differs so much."""
    mesh = bumpy_sphere(3, seed=1)
    mesh = mesh.scaled(1 / np.sqrt(mesh.area))
    upper = mesh.vertices[:, 2] > np.median(mesh.vertices[:, 2])
    distances = SimpleNamespace(to_nearest=lambda _: np.ones(mesh.n_vertices), spacing=1.0)
    bending = SimpleNamespace(pinned=np.zeros(anchors))
    matter = ForeignMatter(SimpleNamespace(partial=mesh, distances=distances), bending, None)
    matter._unlike = lambda _: np.full(mesh.n_vertices, difference)
    found = matter.likely(None, upper, first)
    assert found[upper].all() or not found.any()
    return bool(found.any())


@pytest.mark.parametrize(
    ("difference", "anchors", "foreign"),
    [(0.3, 25, False), (0.7, 25, True), (0.7, 12, False), (1.5, 12, False), (2.0, 12, True)],
)
def test_what_looks_like_its_place_is_a_limb_that_bent(difference, anchors, foreign):
    assert half_unlike(difference, anchors) == foreign


def test_the_smaller_a_patch_the_more_unlike_it_has_to_be():
    mesh = bumpy_sphere(3, seed=1)
    mesh = mesh.scaled(1 / np.sqrt(mesh.area))
    height, far = mesh.vertices[:, 2], np.ones(mesh.n_vertices)
    small, large = height > np.quantile(height, 0.95), height < np.quantile(height, 0.5)
    for difference, found in ((0.3, np.zeros_like(small)), (0.6, large), (1.5, small | large)):
        unlike = np.full(mesh.n_vertices, difference)
        np.testing.assert_array_equal(likely_parts(mesh, small | large, far, unlike), found)


def test_what_was_found_stays_foreign_however_it_lies_when_bent_anew():
    assert half_unlike(0.0, 25, first=False)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(("family", "row"), [("pfarm", 0), ("tosca", 0)])
def test_a_limb_without_an_anchor_has_a_partner(data, family, row):
    pair = FAMILIES[family].load(data, FAMILIES[family].names(data)[row])
    result = nho.match(pair.partial, pair.full, pair.anchors(25, "random"))
    assert (result.face >= 0).mean() > 0.998
