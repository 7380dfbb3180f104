"""Surfaces through points of a scanner."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest

import nho
from nho.errors import InputError
from nho.geometry.alignment import random_rotation
from nho.geometry.point_cloud import mesh_of_points
from nho.geometry.repair import neighbouring_faces
from nho.geometry.synthetic import bumpy_sphere, sphere, torus


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


def test_points_that_are_no_surface_are_refused():
    with pytest.raises(InputError, match="^scan: 1 points and no faces"):
        mesh_of_points(np.ones((50, 3)), "scan")
    with pytest.raises(InputError, match="^scan: its points lie on a line"):
        mesh_of_points(np.outer(np.arange(50), [1, 2, 3]), "scan")


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


@pytest.fixture(scope="module")
def thin_wall() -> nho.Mesh:
    """A hollow ball; its wall is half as thick as its points are apart."""
    outer, turned = (
        sphere(3),
        sphere(3).moved(sphere(3).vertices @ random_rotation(np.random.default_rng(0)).T),
    )
    inside = turned.moved((1 - 0.5 * outer.mean_edge_length) * turned.vertices)
    return nho.Mesh(
        np.concatenate([outer.vertices, inside.vertices]),
        np.concatenate([outer.faces, outer.n_vertices + inside.faces[:, ::-1]]),
    )


def test_normals_without_a_side_are_not_used_and_that_is_said(whole):
    sides = np.random.default_rng(0).choice([-1.0, 1.0], (whole.n_vertices, 1))
    mesh = mesh_of_points(whole.vertices, normals=sides * whole.vertex_normals)
    np.testing.assert_array_equal(mesh.faces, mesh_of_points(whole.vertices).faces)
    assert "do not agree on which side is outside" in mesh.notes[-1]


def test_normals_keep_sheets_apart_that_are_closer_than_points(thin_wall):
    mesh = mesh_of_points(thin_wall.vertices, normals=thin_wall.vertex_normals)
    assert mesh.components.max() == 1 and not mesh.doubts
    assert (mesh.edge_face_counts == 2).all() and mesh.n_faces == thin_wall.n_faces
    # A few without a direction follow their neighbours.
    some = np.array(thin_wall.vertex_normals)
    some[::9] = 0
    assert mesh_of_points(thin_wall.vertices, normals=some).components.max() == 1


def test_without_normals_such_sheets_are_doubted(thin_wall):
    mesh = mesh_of_points(thin_wall.vertices, "wall")
    assert len(mesh.doubts) == 1 and "too close to be told apart" in mesh.doubts[0]
    assert copy.deepcopy(mesh).doubts == mesh.doubts
    assert not any("noise" in note for note in mesh.notes)  # two walls are not averaged to one


def test_a_doubted_surface_makes_a_match_doubtful_with_the_reason_first(piece, whole):
    chosen = nho.sample_vertices(piece.mesh, 8)
    pairs = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    scan = dataclasses.replace(piece.mesh, name="scan", doubts=("its points are too close",))
    result = nho.match(scan, whole, pairs)
    assert result.status == "doubtful: points may be joined across gaps"
    assert result.warnings[0] == "scan: its points are too close"


def test_parts_that_nearly_touch_stay_apart():
    """Two balls, hardly farther from each other than their points are."""
    ball = sphere(4)
    gap = [2 + 1.2 * ball.mean_edge_length, 0, 0]
    mesh = mesh_of_points(np.concatenate([ball.vertices, ball.vertices + gap]))
    assert not mesh.doubts
    assert mesh.components.max() == 1 and (mesh.edge_face_counts == 2).all()


def test_a_strip_with_one_side_is_torn_somewhere_and_has_one_side_elsewhere():
    around, across = np.meshgrid(np.arange(120) * 2 * np.pi / 120, np.linspace(-0.3, 0.3, 12))
    radius = 1 + across * np.cos(around / 2)
    places = [radius * np.cos(around), radius * np.sin(around), across * np.sin(around / 2)]
    mesh = mesh_of_points(np.stack(places, axis=-1).reshape(-1, 3))
    assert mesh.n_faces > 0.9 * 2 * 120 * 11
    assert neighbouring_faces(mesh)[2].all()
