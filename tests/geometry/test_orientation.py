"""Turns between anchors: which way round a shape is."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.geometry.orientation import near_pairs, signed_angles
from nho.geometry.sampling import sample_vertices
from nho.recipes.guided.distance_evidence import AnchorDistances


def turned_alike(partial: Mesh, full: Mesh, distances: AnchorDistances) -> float:
    return distances.orientation(partial, full).alike(distances.anchors)


def self_distances(mesh: Mesh, count: int) -> AnchorDistances:
    chosen = sample_vertices(mesh, count)
    return AnchorDistances.measure(mesh, mesh, np.stack([chosen, chosen], axis=1))


@pytest.fixture(scope="module")
def distances(whole):
    return self_distances(whole, 12)


def test_near_pairs_are_unique_sorted_and_near(distances):
    between = distances.between_partial
    pairs = near_pairs(between, near=4)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert [tuple(p) for p in pairs.tolist()] == sorted({tuple(p) for p in pairs.tolist()})
    rank = np.argsort(np.argsort(between, axis=1), axis=1)
    i, j = pairs.T
    assert (np.minimum(rank[i, j], rank[j, i]) <= 4).all()
    listed = {tuple(p) for p in pairs.tolist()}
    for row in range(len(between)):
        for other in np.argsort(between[row])[1:5].tolist():
            assert (min(row, other), max(row, other)) in listed


def test_near_pairs_of_three_anchors_are_all_three():
    between = np.array([[0.0, 1, 2], [1, 0, 2.5], [2, 2.5, 0]])
    np.testing.assert_array_equal(near_pairs(between), [[0, 1], [0, 2], [1, 2]])


def test_turns_keep_under_rigid_motion_and_flip_in_a_mirror(whole):
    distances = self_distances(whole, 8)
    pairs = near_pairs(distances.between_partial)
    plain = signed_angles(whole, distances.partial, pairs)
    matrix = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    matrix *= np.sign(np.linalg.det(matrix))
    moved = Mesh(5 * whole.vertices @ matrix + 1, whole.faces)
    np.testing.assert_allclose(signed_angles(moved, 5 * distances.partial, pairs), plain, atol=1e-9)
    # The mirror image of a surface, its faces still turned outwards.
    mirrored = Mesh(whole.vertices * [-1, 1, 1], whole.faces[:, ::-1])
    np.testing.assert_allclose(signed_angles(mirrored, distances.partial, pairs), -plain, atol=1e-9)
    assert np.abs(plain).mean() > 0.2 and np.abs(plain).max() <= 1 + 1e-9


def test_turns_on_a_plane_are_the_sine_of_the_angle_between_the_anchors():
    size = 21
    i, j = np.divmod(np.arange(size * size), size)
    a = (i * size + j)[(i < size - 1) & (j < size - 1)]
    faces = np.vstack(
        [np.column_stack([a, a + size, a + size + 1]), np.column_stack([a, a + size + 1, a + 1])]
    )
    mesh = Mesh(np.column_stack([i, j, 0 * i]).astype(float), faces)
    sources = np.array([[-40.0, 10.0], [10.0, -40.0]])  # far: their gradients are nearly constant
    straight = np.linalg.norm(mesh.vertices[None, :, :2] - sources[:, None], axis=2)
    found = signed_angles(mesh, straight, np.array([[0, 1]]))[0]
    middle = 10 * size + 10
    assert found[middle] == pytest.approx(1.0, abs=0.01)  # from +x to +y: a left turn


@pytest.mark.parametrize("seed", range(3))
def test_turns_tell_whether_both_surfaces_face_the_same_way(whole, piece, seed):
    mesh = piece.mesh
    partial = Mesh(mesh.vertices + 0.05 * np.sin(3 * mesh.vertices[:, [1, 2, 0]]), mesh.faces)
    chosen = sample_vertices(mesh, 20, seed=seed)
    anchors = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    distances = AnchorDistances.measure(partial, whole, anchors)
    over = Mesh(partial.vertices, partial.faces[:, ::-1])
    alike = turned_alike(partial, whole, distances)
    assert 0.6 < alike <= 1
    assert turned_alike(over, whole, distances) == pytest.approx(-alike)
    full_over = Mesh(whole.vertices, whole.faces[:, ::-1])
    assert turned_alike(over, full_over, distances) == pytest.approx(alike)
    mirrored = Mesh(partial.vertices * [1, 1, -1], partial.faces[:, ::-1])
    assert turned_alike(mirrored, whole, distances) == pytest.approx(-alike)


def test_a_surface_turns_exactly_like_itself(whole):
    chosen = sample_vertices(whole, 10)
    distances = AnchorDistances.measure(whole, whole, np.stack([chosen, chosen], axis=1))
    assert turned_alike(whole, whole, distances) == pytest.approx(1)
    assert turned_alike(whole, whole, distances.subset(np.array([0]))) == 0  # nothing to compare
