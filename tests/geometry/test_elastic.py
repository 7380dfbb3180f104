"""Elasticity: what costs nothing, what costs a lot, and the linear system in between."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.elastic import Elastic
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import bumpy_sphere, torus


def rotation(seed: int) -> np.ndarray:
    matrix = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    return matrix * np.sign(np.linalg.det(matrix))


@pytest.fixture(scope="module")
def elastic(whole):
    return Elastic(whole)


@pytest.mark.parametrize("make", [lambda: bumpy_sphere(2, seed=1), torus])
def test_a_rigid_motion_costs_nothing_and_is_a_fixed_point(make):
    mesh = make()
    elastic = Elastic(mesh)
    moved = mesh.vertices @ rotation(0).T + [3.0, -1.0, 2.0]
    assert elastic.distortion(moved).max() < 1e-6
    np.testing.assert_allclose(elastic.local_step(moved), elastic.stiffness @ moved, atol=1e-11)


def test_a_bent_pose_is_no_fixed_point(elastic, whole):
    bent = whole.vertices * [1.0, 1.0, 1.5]
    gap = elastic.local_step(bent) - elastic.stiffness @ bent
    assert np.abs(gap).max() > 1e-3 * np.abs(elastic.stiffness @ bent).max()


def test_elastic_forces_cancel(elastic, whole):
    bent = whole.vertices + 0.2 * np.sin(3 * whole.vertices[:, [1, 2, 0]])
    right = elastic.local_step(bent)
    assert np.abs(right.sum(axis=0)).max() < 1e-9 * np.abs(right).sum()


def test_distortion_turns_with_the_pose(elastic, whole):
    bent = whole.vertices + 0.05 * np.sin(3 * whole.vertices[:, [1, 2, 0]])
    turned = bent @ rotation(1).T + 7
    np.testing.assert_allclose(elastic.distortion(turned), elastic.distortion(bent), atol=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_distortion_has_no_unit(elastic, whole, scale):
    random = np.random.default_rng(0)
    bent = whole.vertices + 0.02 * random.standard_normal(whole.vertices.shape)
    scaled = Elastic(whole.scaled(scale)).distortion(bent * scale)
    np.testing.assert_allclose(scaled, elastic.distortion(bent), rtol=1e-9)


def test_distortion_grows_with_noise_and_only_where_it_is(elastic, whole):
    noise = np.random.default_rng(1).standard_normal(whole.vertices.shape)
    edge = whole.mean_edge_length
    means = [
        elastic.distortion(whole.vertices + size * edge * noise).mean()
        for size in (0.001, 0.01, 0.1, 0.5)
    ]
    assert means[0] > 0 and all(a < 0.5 * b for a, b in zip(means, means[1:]))
    one_sided = noise * (whole.vertices[:, 2:] > 0)
    local = elastic.distortion(whole.vertices + 0.1 * edge * one_sided)
    far = whole.vertices[:, 2] < -6 * edge  # beyond the reach of the smoothing
    assert local[far].max() < 1e-6 < 1e-2 < local[whole.vertices[:, 2] > 0].mean()


def test_smoothing_averages_over_neighbours(elastic, whole):
    positions = whole.vertices.copy()
    positions[100] *= 1.1
    spread = [elastic.distortion(positions, rounds) for rounds in (0, 2, 4)]
    assert spread[0].max() > spread[1].max() > spread[2].max()
    touched = [(values > 1e-6).sum() for values in spread]
    assert touched[0] < touched[1] < touched[2] < len(positions)


def test_a_mirror_image_is_strongly_distorted():
    # Coarse, so that fans are far from flat: a flat fan is its own mirror image, turned over.
    mesh = bumpy_sphere(1, seed=0)
    mirrored = mesh.vertices * [-1.0, 1.0, 1.0]
    assert Elastic(mesh).distortion(mirrored).min() > 0.2


def test_solver_solves_stiffness_plus_targets(elastic, whole):
    random = np.random.default_rng(2)
    weights = random.uniform(0.01, 1, len(whole.vertices)) * elastic.unit
    right = random.standard_normal(whole.vertices.shape)
    solution = elastic.solver(weights).solve(right)
    np.testing.assert_allclose(
        elastic.stiffness @ solution + weights[:, None] * solution, right, atol=1e-10
    )


def test_stiffness_is_a_laplacian_of_positive_weights(elastic):
    stiffness = elastic.stiffness
    assert abs(stiffness - stiffness.T).max() < 1e-12
    assert np.abs(stiffness.sum(axis=1)).max() < 1e-9
    off = stiffness.tocoo()
    assert (off.data[off.row != off.col] < 0).all()
    assert elastic.unit == pytest.approx(stiffness.diagonal().mean())


def test_local_and_global_steps_undo_a_distortion(elastic, whole):
    noise = np.random.default_rng(3).standard_normal(whole.vertices.shape)
    positions = whole.vertices + 0.3 * whole.mean_edge_length * noise
    before = elastic.distortion(positions).mean()
    held = np.full(len(positions), 1e-6 * elastic.unit)  # only to take the freedom of position
    solver = elastic.solver(held)
    for _ in range(5):
        positions = solver.solve(elastic.local_step(positions) + held[:, None] * positions)
    assert elastic.distortion(positions).mean() < 0.2 * before


def test_rotations_of_a_turned_surface_are_the_turn(elastic, whole):
    turn = rotation(4)
    found = elastic.rotations(whole.vertices @ turn.T + [1.0, 2.0, 3.0])
    np.testing.assert_allclose(found, np.broadcast_to(turn, found.shape), atol=1e-9)


def test_rotations_passed_on_change_nothing_and_are_used(elastic, whole):
    bent = whole.vertices + 0.2 * np.sin(3 * whole.vertices[:, [1, 2, 0]])
    turn = elastic.rotations(bent)
    np.testing.assert_array_equal(elastic.local_step(bent, turn), elastic.local_step(bent))
    np.testing.assert_array_equal(
        elastic.distortion(bent, rotations=turn), elastic.distortion(bent)
    )
    still = np.broadcast_to(np.eye(3), turn.shape)
    np.testing.assert_allclose(
        elastic.local_step(bent, still), elastic.stiffness @ whole.vertices, atol=1e-9
    )
    # No rotation fits a fan better than its own.
    assert (elastic.distortion(bent, 0, still) >= elastic.distortion(bent, 0) - 1e-12).all()
    assert elastic.distortion(bent, 0, still).mean() > 1.05 * elastic.distortion(bent, 0).mean()


def test_slivers_and_degenerate_faces_stay_finite():
    vertices = [[0, 0, 0], [1, 0, 0], [0.5, 1e-9, 0], [0.5, 1, 0], [0.5, 0, 0]]
    mesh = Mesh(vertices, [[0, 1, 2], [0, 2, 3], [2, 1, 3], [0, 4, 1]])
    elastic = Elastic(mesh)
    assert np.isfinite(elastic.distortion(mesh.vertices * 1.3)).all()
    assert np.isfinite(elastic.stiffness.toarray()).all()


def test_let_go_a_bent_surface_springs_back_to_its_shape(elastic, whole):
    below = np.maximum(np.median(whole.vertices[:, 1]) - whole.vertices[:, 1], 0)
    held = below == 0
    bent = whole.vertices + np.outer(below**2, [1.0, 0.5, -0.5])
    released = elastic.released(bent, held)
    np.testing.assert_allclose(released[held], bent[held], atol=0.02)
    away = np.linalg.norm(released - whole.vertices, axis=1)[~held]
    assert away.mean() < 0.25 * np.linalg.norm(bent - whole.vertices, axis=1)[~held].mean()


def test_let_go_the_rest_turns_with_what_is_held(elastic, whole):
    turned = whole.vertices @ rotation(3).T + [1.0, 2.0, 3.0]
    held = np.arange(whole.n_vertices) < whole.n_vertices // 3
    pose = np.where(held[:, None], turned, whole.vertices)
    # The fans between the two are torn; what is held tells where the rest belongs.
    inner = held & ~np.isin(np.arange(len(held)), whole.edges[held[whole.edges].sum(axis=1) == 1])
    np.testing.assert_allclose(elastic.released(pose, inner), turned, atol=1e-3)
