"""Partial functional maps: energies and their gradients, and what the method recovers."""

from __future__ import annotations

import numpy as np
import pytest

from nho.evaluation.metrics import region_scores
from nho.geometry.mesh import Mesh
from nho.geometry.spectrum import Basis, laplacian, neumann_basis
from nho.geometry.synthetic import Cut, bumpy_sphere, cut_by_plane, sphere
from nho.lab import baselines
from nho.lab.baselines import pfm
from nho.lab.baselines.pfm_energies import (
    BoundaryLength,
    MapEnergy,
    RegionEnergy,
    mask,
    slanted_penalty,
)
from nho.lab.baselines.spectral_icp import peaks, refined


@pytest.fixture(scope="module")
def small() -> Mesh:
    """A closed surface of 162 vertices."""
    return bumpy_sphere(2, seed=1)


@pytest.fixture(scope="module")
def most(small) -> Cut:
    return cut_by_plane(small, np.array([0.2, 0.5, 1.0]), keep_area=0.85)


@pytest.fixture(scope="module")
def answer(small, most):
    return baselines.run("pfm", most.mesh, small, None)


def moved(mesh: Mesh, seed: int, scale: float) -> Mesh:
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    return Mesh(scale * mesh.vertices @ turn.T * np.linalg.det(turn), mesh.faces)


def gaps(result, full: Mesh, truth: np.ndarray) -> np.ndarray:
    """Distances from the matched points to the true vertices, in mean edges."""
    found = result.points.positions(full)
    return np.linalg.norm(found - full.vertices[truth], axis=1) / full.mean_edge_length


def assert_gradient(energy, at: np.ndarray, seed: int = 0) -> None:
    way = np.random.default_rng(seed).standard_normal(at.shape)
    step = 1e-6
    slope = (energy(at + step * way)[0] - energy(at - step * way)[0]) / (2 * step)
    assert energy(at)[1] @ way == pytest.approx(slope, rel=1e-5)


def test_the_gradient_of_the_map_energy_is_that_of_the_energy():
    random = np.random.default_rng(0)
    source, target = random.standard_normal((2, 12, 30))
    energy = MapEnergy(source, target, slanted_penalty(12, 7), 7)
    assert_gradient(energy, 0.3 * random.standard_normal(144))


def region_energy(mesh: Mesh) -> RegionEnergy:
    random = np.random.default_rng(1)
    operator = laplacian(mesh)
    project = (operator.mass[:, None] * neumann_basis(operator, 12).functions).T
    descriptors = random.standard_normal((mesh.n_vertices, 20))
    goal = random.standard_normal((12, 20))
    boundary = BoundaryLength(mesh)
    return RegionEnergy(goal, project, descriptors, operator.mass, 0.6 * mesh.area, boundary)


def test_the_gradient_of_the_region_energy_is_that_of_the_energy(small):
    assert_gradient(region_energy(small), np.random.default_rng(2).uniform(0, 1, small.n_vertices))


def test_a_constant_region_has_a_finite_gradient(small):
    value, gradient = region_energy(small)(np.full(small.n_vertices, 0.5))
    assert np.isfinite(value) and np.isfinite(gradient).all()


def test_the_map_energy_is_least_for_a_map_that_is_right():
    # Seven modes of the part, each of them a mode of the whole: no misfit, orthonormal columns.
    random = np.random.default_rng(3)
    right = np.zeros((12, 12))
    right[np.round(np.arange(7) * 12 / 7).astype(int), np.arange(7)] = 1
    source = 100 * random.standard_normal((12, 40))
    energy = MapEnergy(source, right @ source, slanted_penalty(12, 7), 7)
    best = energy(right.ravel())[0]
    # What is left is the slant's small price for rounding to whole modes.
    assert best < 0.01 * energy(np.eye(12).ravel())[0]
    for _ in range(5):
        assert energy((right + 0.1 * random.standard_normal((12, 12))).ravel())[0] > best


def test_the_slanted_penalty_is_zero_along_its_line_and_grows_away_from_it():
    penalty = slanted_penalty(100, 50)
    assert penalty[0, 0] == penalty[40, 20] == 0
    assert penalty[40, 20] < penalty[40, 21] < penalty[40, 25] < penalty[40, 30]
    assert penalty[40, 40] > penalty[80, 20 + 40] > 0  # high frequencies may stray


def test_the_boundary_length_of_a_half_ball_is_that_of_its_equator():
    ball = sphere(4)
    length = BoundaryLength(ball)
    height = ball.vertices[:, 2]
    # Of all level lines between 0 and 1 the near ones count, with total weight sigma sqrt(2 pi).
    value, _ = length(0.5 + height / 0.4)
    # The weight spreads over latitudes near the equator, whose circles are hardly shorter.
    assert value / (0.2 * np.sqrt(2 * np.pi)) == pytest.approx(2 * np.pi, rel=0.02)
    assert length(np.zeros(ball.n_vertices))[0] == 0


def test_the_mask_decides_at_one_half():
    np.testing.assert_allclose(mask(np.array([0.5, 1.5, -0.5])), [0.5, 1, 0], atol=1e-5)


def test_the_rank_is_the_share_of_the_area(whole, piece):
    part, full = (neumann_basis(laplacian(one), 80) for one in (piece.mesh, whole))
    assert pfm.estimated_rank(part, full) / 80 == pytest.approx(0.6, abs=0.1)
    assert pfm.estimated_rank(full, full) == 79
    faster = Basis(full.eigenvalues + 2 * full.eigenvalues[-1], full.functions)
    assert pfm.estimated_rank(faster, full) == 1


def test_spectral_icp_finds_the_rest_of_a_map_that_is_nearly_right(whole):
    operator = laplacian(whole)
    functions = neumann_basis(operator, 30).functions
    random = np.random.default_rng(0)
    start = np.eye(30) + 0.25 * random.standard_normal((30, 30))
    every = np.arange(whole.n_vertices)
    before = refined(start, functions, functions, operator.mass, 0)[1]
    matrix, target = refined(start, functions, functions, operator.mass, 30)
    assert (before == every).mean() < 0.5
    np.testing.assert_array_equal(target, every)
    np.testing.assert_allclose(matrix, np.eye(30), atol=1e-9)


def test_spectral_icp_keeps_a_map_that_no_round_improves(whole):
    operator = laplacian(whole)
    functions = neumann_basis(operator, 20).functions
    matrix, target = refined(np.eye(20), functions, functions, operator.mass, 30)
    np.testing.assert_array_equal(matrix, np.eye(20))
    np.testing.assert_array_equal(target, np.arange(whole.n_vertices))


def test_peaks_sit_at_matches_and_fall_with_distance(whole, piece):
    own, other = peaks(piece.mesh, whole, piece.vertex_of_parent, 10, 2.0)
    assert own.shape == (piece.mesh.n_vertices, 10) and other.shape == (whole.n_vertices, 10)
    np.testing.assert_array_equal(piece.vertex_of_parent[own.argmax(axis=0)], other.argmax(axis=0))
    # Ways on the whole are never longer than on the part, so its peaks are never lower.
    assert (other[piece.vertex_of_parent] >= own - 1e-12).all()
    assert own.max() == 1 and own.min() > 0


@pytest.mark.slow
def test_a_cut_of_the_same_surface_is_recovered(whole, piece):
    result = baselines.run("pfm", piece.mesh, whole, None)
    assert gaps(result, whole, piece.vertex_of_parent).mean() < 0.3
    scores = region_scores(result.region, piece.kept_vertices, whole.vertex_areas)
    assert scores["iou"] > 0.85


@pytest.mark.slow
def test_neither_pose_nor_unit_counts(small, most, answer):
    partial, full = moved(most.mesh, 1, 300.0), moved(small, 2, 300.0)
    other = baselines.run("pfm", partial, full, None)
    for one, shape in ((answer, small), (other, full)):
        assert gaps(one, shape, most.vertex_of_parent).mean() < 0.5
    assert region_scores(other.region, answer.region, small.vertex_areas)["iou"] > 0.9


@pytest.mark.slow
def test_with_waves_a_closed_partial_shape_is_the_whole_even_in_a_mirror(small):
    mirrored = Mesh(small.vertices * [1.0, 1.0, -1.0], small.faces[:, [0, 2, 1]])
    result = baselines.run("pfm-wks", mirrored, small, None)
    np.testing.assert_array_equal(result.vertex_map, np.arange(small.n_vertices))
    assert result.region.all()


@pytest.mark.slow
def test_shapes_the_method_is_not_made_for_get_an_answer_all_the_same(small, most):
    triangle = Mesh(np.eye(3), np.array([[0, 1, 2]]), "triangle")
    for name in ("pfm", "pfm-wks"):
        for partial, full in (
            (triangle, small),
            (small, triangle),
            (most.mesh.scaled(20), bumpy_sphere(0, seed=1)),
            (most.mesh.scaled(1e-3), small),
        ):
            result = baselines.run(name, partial, full, None)
            assert (result.vertex_map >= 0).all() and np.isfinite(result.region_score).all()
