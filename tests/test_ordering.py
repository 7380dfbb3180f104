"""The solver's own order: the same for every file of one surface."""

from __future__ import annotations

import numpy as np
import pytest

from nho import ordering
from nho.geodesics import distances_from, edge_graph
from nho.mesh import Mesh
from nho.ordering import canonical_order, reordered
from nho.sampling import sample_vertices


@pytest.fixture(scope="module")
def anchored(piece):
    return sample_vertices(piece.mesh, 10)


@pytest.fixture(scope="module")
def order(piece, anchored):
    return canonical_order(piece.mesh, anchored)


def shuffled(mesh: Mesh, seed: int) -> tuple[Mesh, np.ndarray]:
    """The mesh with vertices and faces in another order, and the place of every old vertex."""
    random = np.random.default_rng(seed)
    permutation = random.permutation(len(mesh.vertices))
    place = np.argsort(permutation)
    faces = random.permutation(place[mesh.faces], axis=0)
    return Mesh(mesh.vertices[permutation], faces), place


def test_it_is_a_permutation_by_distance_to_the_anchored(piece, anchored, order):
    np.testing.assert_array_equal(np.sort(order), np.arange(len(piece.mesh.vertices)))
    total = distances_from(edge_graph(piece.mesh), anchored).sum(axis=0)
    assert (np.diff(total[order]) > -1e-9).all()


@pytest.mark.parametrize("seed", range(3))
def test_permuted_vertices_give_the_permuted_order(piece, anchored, order, seed):
    mesh, place = shuffled(piece.mesh, seed)
    np.testing.assert_array_equal(canonical_order(mesh, place[anchored]), place[order])


def test_order_of_the_anchored_does_not_matter(piece, anchored, order):
    mixed = np.random.default_rng(0).permutation(anchored)
    np.testing.assert_array_equal(canonical_order(piece.mesh, mixed), order)


@pytest.mark.parametrize("large", [10**6, 10])
def test_permutations_of_a_symmetric_shape_are_undone_too(large, monkeypatch):
    monkeypatch.setattr(ordering, "_LARGE", large)
    size = 8  # a flat grid, anchored evenly: many ties
    i, j = np.divmod(np.arange(size * size), size)
    a = (i * size + j)[(i < size - 1) & (j < size - 1)]
    faces = np.vstack(
        [np.column_stack([a, a + size, a + size + 1]), np.column_stack([a, a + size + 1, a + 1])]
    )
    mesh = Mesh(0.1 * np.column_stack([i, j, 0 * i]), faces)
    anchored = np.array([0, 7, 20, 43, 56, 63])
    order = canonical_order(mesh, anchored)
    for seed in range(5):
        other, place = shuffled(mesh, seed)
        mixed = np.random.default_rng(seed).permutation(anchored)  # sums round differently
        np.testing.assert_array_equal(canonical_order(other, place[mixed]), place[order])


@pytest.mark.parametrize("scale", [1.0, 1e-4, 3e5])
def test_rigid_motion_and_scale_do_not_matter(piece, anchored, order, scale):
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    moved = Mesh(scale * (piece.mesh.vertices @ turn + [1.0, 2.0, 3.0]), piece.mesh.faces)
    np.testing.assert_array_equal(canonical_order(moved, anchored), order)


def test_another_component_is_ordered_by_its_own_anchors():
    flat = [[0, 0, 0], [1, 0, 0], [0, 2, 0], [9, 0, 0], [10, 0, 0], [9, 2, 0]]
    mesh = Mesh(flat, [[0, 1, 2], [3, 4, 5]])
    order = canonical_order(mesh, np.array([1, 5])).tolist()
    assert [v for v in order if v < 3] == [1, 0, 2]
    assert [v for v in order if v >= 3] == [5, 3, 4]


def test_reordered_keeps_geometry_and_the_order_of_corners(piece, order):
    mesh, face_order = reordered(piece.mesh, order)
    np.testing.assert_array_equal(mesh.vertices, piece.mesh.vertices[order])
    np.testing.assert_array_equal(np.sort(face_order), np.arange(len(piece.mesh.faces)))
    np.testing.assert_array_equal(
        mesh.vertices[mesh.faces], piece.mesh.vertices[piece.mesh.faces[face_order]]
    )


def test_every_file_of_one_surface_gives_the_same_mesh(piece, anchored, order):
    mesh, _ = reordered(piece.mesh, order)
    other, place = shuffled(piece.mesh, 7)
    again, _ = reordered(other, canonical_order(other, place[anchored]))
    np.testing.assert_array_equal(again.vertices, mesh.vertices)
    np.testing.assert_array_equal(again.faces, mesh.faces)


def test_a_large_mesh_is_ordered_by_straight_distances_just_as_canonically(
    piece, anchored, order, monkeypatch
):
    monkeypatch.setattr(ordering, "_LARGE", 100)
    mesh = piece.mesh
    straight = canonical_order(mesh, anchored)
    assert not np.array_equal(straight, order)
    gaps = np.linalg.norm(mesh.vertices[:, None] - mesh.vertices[anchored], axis=2).sum(axis=1)
    assert (np.diff(gaps[straight]) > -1e-9).all()
    for seed in range(3):
        other, place = shuffled(mesh, seed)
        mixed = np.random.default_rng(seed).permutation(anchored)
        np.testing.assert_array_equal(canonical_order(other, place[mixed]), place[straight])
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    moved = Mesh(3e5 * (mesh.vertices @ turn + [1.0, 2.0, 3.0]), mesh.faces)
    np.testing.assert_array_equal(canonical_order(moved, anchored), straight)
