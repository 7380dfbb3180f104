"""Surfaces through points of a scanner."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.errors import InputError
from nho.geometry.point_cloud import mesh_of_points
from nho.geometry.synthetic import bumpy_sphere, torus


def shuffled(mesh: nho.Mesh) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(0).permutation(mesh.n_vertices)
    return mesh.vertices[order], order


def test_a_closed_surface_comes_back_whole():
    shape = bumpy_sphere(4, seed=1)
    points, _ = shuffled(shape)
    mesh = mesh_of_points(points)
    np.testing.assert_array_equal(mesh.vertices, points)  # the points, in their order
    assert mesh.used_vertices.all()
    assert (mesh.edge_face_counts == 2).all()
    assert mesh.n_faces == shape.n_faces
    assert mesh.area == pytest.approx(shape.area, rel=0.001)


def test_a_grid_where_every_diagonal_is_as_good_is_nearly_closed():
    shape = torus(64, 32)
    mesh = mesh_of_points(shuffled(shape)[0])
    assert mesh.used_vertices.all() and mesh.edge_face_counts.max() == 2
    assert (mesh.edge_face_counts == 1).mean() < 0.01
    assert mesh.area == pytest.approx(shape.area, rel=0.01)


def test_its_outside_is_outside(whole):
    points, order = shuffled(whole)
    mesh = mesh_of_points(points)
    agree = np.einsum("nx,nx->n", mesh.vertex_normals, whole.vertex_normals[order])
    assert agree.min() > 0.8


def test_given_normals_decide_which_side_is_outside(whole):
    mesh = mesh_of_points(whole.vertices, normals=-whole.vertex_normals)
    assert np.einsum("nx,nx->n", mesh.vertex_normals, whole.vertex_normals).max() < -0.8
    with pytest.raises(InputError, match="give one for each"):
        mesh_of_points(whole.vertices, normals=whole.vertex_normals[1:])


def test_an_open_surface_keeps_its_rim(piece):
    mesh = mesh_of_points(piece.mesh.vertices)
    assert mesh.area == pytest.approx(piece.mesh.area, rel=0.05)
    assert (mesh.boundary_vertices == piece.mesh.boundary_vertices).mean() > 0.9


def test_far_off_points_get_no_face_and_are_named(whole):
    stray = np.array([[9.0, 0, 0], [0, -8, 2]])
    mesh = mesh_of_points(np.concatenate([stray, whole.vertices]), "scan")
    assert np.flatnonzero(~mesh.used_vertices).tolist() == [0, 1]
    assert any("left out 2 points" in note for note in mesh.notes)


def test_points_that_lie_on_each_other_are_one(whole):
    points = np.concatenate([whole.vertices, whole.vertices[:40]])
    mesh = mesh_of_points(points)
    assert not mesh.used_vertices[whole.n_vertices :].any()
    np.testing.assert_array_equal(mesh.vertices, points)


def test_noise_is_averaged_out_and_said():
    ball = bumpy_sphere(4, seed=1)
    noise = 0.4 * ball.mean_edge_length * np.random.default_rng(0).normal(size=(ball.n_vertices, 1))
    mesh = mesh_of_points(ball.vertices + noise * ball.vertex_normals)
    assert any("noise" in note for note in mesh.notes)
    off = np.einsum("nx,nx->n", mesh.vertices - ball.vertices, ball.vertex_normals)
    assert off.std() < 0.6 * noise.std()
    assert mesh.area == pytest.approx(ball.area, rel=0.15)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_does_not_matter(unit, whole):
    faces = mesh_of_points(whole.vertices).faces
    np.testing.assert_array_equal(mesh_of_points(whole.vertices * unit).faces, faces)


def test_too_few_points_are_refused():
    with pytest.raises(InputError, match="^scan: 4 points and no faces"):
        mesh_of_points(np.eye(4)[:, :3], "scan")


def test_clouds_are_matched_like_meshes_in_the_order_of_the_points(piece, whole):
    order = np.random.default_rng(1).permutation(whole.n_vertices)
    chosen = nho.sample_vertices(piece.mesh, 8)
    place = np.argsort(order)
    pairs = np.stack([chosen, place[piece.vertex_of_parent[chosen]]], axis=1)
    result = nho.match(piece.mesh.vertices, whole.vertices[order], pairs)
    found = whole.vertices[order][result.vertex_map]
    error = np.linalg.norm(found - piece.mesh.vertices, axis=1) / np.sqrt(whole.area)
    assert error.mean() < 0.01
    assert any("point cloud" in note for note in result.notes)
