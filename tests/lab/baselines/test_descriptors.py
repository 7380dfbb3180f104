"""Descriptors: what they must not see (pose, unit, bends) and what they must."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.geometry.spectrum import Basis, laplacian, neumann_basis
from nho.lab.baselines.descriptors import (
    _frames,
    shot,
    shot_of_both,
    wave_energies,
    wave_kernel_signature,
    waves_of_both,
)

RADIUS = 0.35  # of the ball on the shared test shape: a few edges


def turned(mesh: Mesh, scale: float = 1.0) -> Mesh:
    turn = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))[0]
    turn *= np.linalg.det(turn)
    return Mesh(scale * mesh.vertices @ turn.T + scale * np.array([3.0, -1.0, 2.0]), mesh.faces)


def mirrored(mesh: Mesh) -> Mesh:
    return Mesh(mesh.vertices * [1.0, 1.0, -1.0], mesh.faces[:, [0, 2, 1]])


@pytest.fixture(scope="module")
def signatures(whole):
    return shot(whole, RADIUS)


def basis_of(mesh: Mesh, count: int = 60) -> Basis:
    return neumann_basis(laplacian(mesh), count)


def test_shot_does_not_see_pose_nor_unit(whole, signatures):
    np.testing.assert_allclose(shot(turned(whole, 50), 50 * RADIUS), signatures, atol=1e-6)


def test_shot_tells_a_shape_from_its_mirror_image(whole, signatures):
    other = shot(mirrored(whole), RADIUS)
    closeness = (signatures * other).sum(axis=1)
    assert np.median(closeness) < 0.99


def shaken(mesh: Mesh, edges: float) -> Mesh:
    noise = np.random.default_rng(0).standard_normal(mesh.vertices.shape)
    return Mesh(mesh.vertices + edges * mesh.mean_edge_length * noise, mesh.faces)


def test_shot_tells_one_vertex_from_the_others(whole, signatures):
    nearest = (shot(shaken(whole, 1e-3), RADIUS) @ signatures.T).argmax(axis=1)
    assert (nearest == np.arange(whole.n_vertices)).mean() > 0.9


def test_rows_of_shot_have_unit_length_or_are_zero_where_the_ball_is_empty(whole, signatures):
    assert signatures.shape == (whole.n_vertices, 320)
    np.testing.assert_allclose(np.linalg.norm(signatures, axis=1), 1)
    assert (shot(whole, 0.5 * whole.edge_lengths.min()) == 0).all()


def test_shot_changes_little_where_a_neighbour_crosses_from_one_bin_to_the_next(whole, signatures):
    change = np.linalg.norm(shot(shaken(whole, 1e-4), RADIUS) - signatures, axis=1)
    assert np.median(change) < 2e-3


def test_shot_frames_are_right_handed_and_point_to_the_heavier_side():
    random = np.random.default_rng(1)
    owner = np.repeat(np.arange(40), 25)
    offset = random.standard_normal((1000, 3)) * [3.0, 2.0, 1.0] + 0.3
    weight = random.uniform(0.5, 1, 1000)
    frames = _frames(owner, offset, weight, 40)
    identity = np.broadcast_to(np.eye(3), (40, 3, 3))
    np.testing.assert_allclose(frames @ frames.transpose(0, 2, 1), identity, atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(frames), 1)
    along = np.einsum("pij,pj->pi", frames[owner], offset)
    spread, balance = (
        np.stack([np.bincount(owner, weight * column) for column in values.T], axis=1)
        for values in (along**2, along)
    )
    assert (np.diff(spread, axis=1) <= 0).all()
    assert (balance[:, [0, 2]] >= 0).all()


def test_balls_on_coarse_meshes_are_wide_enough_to_describe_something(whole, piece):
    basis = Basis(np.zeros(1), np.zeros((1, 1)))
    own, other = shot_of_both(piece.mesh, basis, whole, basis)
    assert (np.linalg.norm(own, axis=1) > 0.5).all() and (np.linalg.norm(other, axis=1) > 0.5).all()


def test_shot_of_a_cut_is_that_of_the_whole_away_from_the_rim(whole, piece):
    basis = Basis(np.zeros(1), np.zeros((1, 1)))
    own, other = shot_of_both(piece.mesh, basis, whole, basis)
    closeness = (own * other[piece.vertex_of_parent]).sum(axis=1)
    assert (closeness > 1 - 1e-9).mean() > 0.5


def test_wave_kernel_signature_is_a_mean_of_squares_that_integrates_to_one(whole):
    operator = laplacian(whole)
    basis = neumann_basis(operator, 60)
    waves = wave_kernel_signature(basis, wave_energies(basis))
    np.testing.assert_allclose(operator.mass @ waves, 1)
    assert (waves >= 0).all()


def test_wave_kernel_signature_does_not_see_pose_mirror_nor_unit(whole, piece):
    pairs = [
        waves_of_both(*(part for one in pair for part in (one, basis_of(one))))
        for pair in (
            (piece.mesh, whole),
            (turned(piece.mesh, 1e-3), turned(whole, 1e-3)),
            (mirrored(piece.mesh), mirrored(whole)),
        )
    ]
    for moved in pairs[1:]:
        np.testing.assert_allclose(moved[0], pairs[0][0], rtol=1e-5)
        np.testing.assert_allclose(moved[1], pairs[0][1], rtol=1e-5)


def test_wave_kernel_signature_does_not_see_a_bend_that_shot_sees():
    u, v = (axis.ravel().astype(float) for axis in np.meshgrid(range(30), range(12)))
    corner = (np.arange(29) + 30 * np.arange(11)[:, None]).ravel()
    faces = np.stack([corner, corner + 1, corner + 31, corner, corner + 31, corner + 30], axis=1)
    # Chords of unit length: rolling the strip up bends it along edges, the squares stay squares.
    angle, radius = 0.2 * u, 0.5 / np.sin(0.1)
    rolled = np.stack([radius * np.sin(angle), v, radius * np.cos(angle)], axis=1)
    flat, bent = (
        Mesh(at, faces.reshape(-1, 3)) for at in (np.stack([u, v, 0 * u], axis=1), rolled)
    )
    bases = [basis_of(one, 40) for one in (flat, bent)]
    energies = wave_energies(bases[0])
    waves = [wave_kernel_signature(one, energies) for one in bases]
    np.testing.assert_allclose(waves[1], waves[0], rtol=1e-6)
    closeness = (shot(flat, 4.0) * shot(bent, 4.0)).sum(axis=1)
    assert np.median(closeness) < 0.99


def test_waves_of_a_single_triangle_are_finite():
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, np.sqrt(0.75), 0.0]])
    triangle = Mesh(corners, np.array([[0, 1, 2]]))
    basis = basis_of(triangle, 3)
    own, _ = waves_of_both(triangle, basis, triangle, basis)
    assert np.isfinite(own).all()
