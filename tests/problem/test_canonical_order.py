"""The solver's own order: the same for every file of one surface."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.problem.preparation import prepare
from nho.problem.prepared_shape import canonical_order


@pytest.fixture(scope="module")
def order(piece):
    return canonical_order(piece.mesh.vertices)


def shuffled(mesh: Mesh, seed: int) -> tuple[Mesh, np.ndarray]:
    """The mesh with vertices and faces in another order, and the place of every old vertex."""
    random = np.random.default_rng(seed)
    permutation = random.permutation(len(mesh.vertices))
    place = np.argsort(permutation)
    faces = random.permutation(place[mesh.faces], axis=0)
    return Mesh(mesh.vertices[permutation], faces), place


def test_it_is_a_permutation_by_distance_to_the_middle(piece, order):
    np.testing.assert_array_equal(np.sort(order), np.arange(len(piece.mesh.vertices)))
    gap = np.linalg.norm(piece.mesh.vertices - piece.mesh.vertices.mean(axis=0), axis=1)
    assert (np.diff(gap[order]) > -1e-9).all()


@pytest.mark.parametrize("seed", range(3))
def test_permuted_vertices_give_the_permuted_order(piece, order, seed):
    mesh, place = shuffled(piece.mesh, seed)
    np.testing.assert_array_equal(canonical_order(mesh.vertices), place[order])


def test_permutations_of_a_symmetric_shape_are_undone_too():
    size = 8  # a flat grid: many ties
    i, j = np.divmod(np.arange(size * size), size)
    a = (i * size + j)[(i < size - 1) & (j < size - 1)]
    faces = np.vstack(
        [np.column_stack([a, a + size, a + size + 1]), np.column_stack([a, a + size + 1, a + 1])]
    )
    mesh = Mesh(0.1 * np.column_stack([i, j, 0 * i]), faces)
    order = canonical_order(mesh.vertices)
    for seed in range(5):  # a mean over vertices in another order would round differently
        other, place = shuffled(mesh, seed)
        np.testing.assert_array_equal(canonical_order(other.vertices), place[order])


@pytest.mark.parametrize("scale", [1.0, 1e-4, 3e5])
def test_rigid_motion_and_scale_do_not_matter(piece, order, scale):
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    moved = Mesh(scale * (piece.mesh.vertices @ turn + [1.0, 2.0, 3.0]), piece.mesh.faces)
    np.testing.assert_array_equal(canonical_order(moved.vertices), order)


def test_prepared_meshes_keep_geometry_and_the_order_of_corners(whole, piece, order):
    side = prepare(piece.mesh, whole, None).partial
    np.testing.assert_array_equal(side.given_of_solver, order)
    np.testing.assert_array_equal(np.sort(side.given_face), np.arange(len(piece.mesh.faces)))
    np.testing.assert_array_equal(
        side.given_of_solver[side.mesh.faces], piece.mesh.faces[side.given_face]
    )


def test_every_file_of_one_surface_gives_the_same_mesh(whole, piece):
    side = prepare(piece.mesh, whole, None).partial
    again = prepare(shuffled(piece.mesh, 7)[0], whole, None).partial
    np.testing.assert_array_equal(again.mesh.vertices, side.mesh.vertices)
    np.testing.assert_array_equal(again.mesh.faces, side.mesh.faces)
