"""Hamiltonian spectrum alignment: the loss, the starts, and the region that comes out."""

from __future__ import annotations

import numpy as np
import pytest

from nho import InputError
from nho.evaluation.metrics import region_scores
from nho.geometry.mesh import Mesh
from nho.geometry.relief import relief, standardised
from nho.geometry.spectrum import dirichlet_basis, laplacian, neumann_basis
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.lab import baselines
from nho.lab.baselines.spectrum_alignment import (
    Alignment,
    query_basis,
    seen_by_modes,
    unlikeness,
)
from nho.lab.baselines.spectrum_starts import gaussians, look_alikes
from nho.operator.hamiltonian import ReducedHamiltonian, SparseHamiltonian


@pytest.fixture(scope="module")
def small() -> Mesh:
    """A closed surface of 162 vertices at unit area."""
    ball = bumpy_sphere(2, seed=1)
    return ball.scaled(1 / np.sqrt(ball.area))


@pytest.fixture(scope="module")
def cap(small):
    return cut_by_plane(small, np.array([0.3, 0.2, 1.0]), keep_area=0.5)


@pytest.fixture(scope="module")
def alignment(small, cap):
    operator = laplacian(small)
    lambdas = query_basis(cap.mesh, laplacian(cap.mesh), 10).eigenvalues
    return Alignment(SparseHamiltonian(operator), operator.mass, lambdas)


@pytest.mark.parametrize("reduced", [False, True])
def test_the_gradient_is_that_of_the_loss(small, alignment, reduced):
    if reduced:
        basis = neumann_basis(laplacian(small), 60)
        hamiltonian = ReducedHamiltonian(basis, alignment.mass)
        alignment = Alignment(hamiltonian, alignment.mass, alignment.lambdas)
    random = np.random.default_rng(0)
    w, way = random.standard_normal((2, small.n_vertices))
    step = 1e-5
    slope = (alignment(w + step * way)[0] - alignment(w - step * way)[0]) / (2 * step)
    assert alignment(w)[1] @ way == pytest.approx(slope, rel=1e-5)


def test_the_true_region_nearly_has_the_spectrum_of_the_part(small, cap, alignment):
    inside = np.zeros(small.n_vertices, dtype=bool)
    inside[cap.vertex_of_parent[~cap.mesh.boundary_vertices]] = True
    right = alignment(np.where(inside, -9.0, 9.0))[0]
    wrong = alignment(np.where(inside, 9.0, -9.0))[0]
    assert right < 0.05 and wrong > 20 * right


def test_no_step_makes_the_fit_worse_and_many_make_it_good(small, alignment):
    start = gaussians(small, alignment.mass, 0.5)[0]
    losses = [alignment(start)[0], *(alignment.lowered(start, steps)[0] for steps in (3, 60))]
    assert losses[0] > losses[1] > losses[2]
    assert losses[2] < 1e-3 * losses[0]


def test_the_search_takes_the_same_steps_in_any_unit(small, alignment):
    start = gaussians(small, alignment.mass, 0.5)[4]
    scaled = Alignment(
        SparseHamiltonian(laplacian(small.scaled(30))),
        alignment.mass * 900,
        alignment.lambdas / 900,
    )
    one, other = alignment.lowered(start, 3), scaled.lowered(start, 3)
    assert one[0] == pytest.approx(other[0], rel=1e-6)
    np.testing.assert_allclose(one[1], other[1], atol=1e-6)


def test_starts_hold_a_region_as_large_as_asked(small):
    mass = laplacian(small).mass
    starts = gaussians(small, mass, 0.3)
    assert len(starts) == 40
    inside = np.array([mass[start < 0].sum() / mass.sum() for start in starts]).reshape(10, 4)
    np.testing.assert_allclose(inside, np.tile([0.3, 0.15, 0.3, 0.65], (10, 1)), atol=0.05)


def test_starts_cover_the_whole_surface(small):
    starts = gaussians(small, laplacian(small).mass, 0.3)
    assert (np.array(starts[::4]) < 0).any(axis=0).all()


def test_the_mask_of_look_alikes_prefers_the_part_itself(whole):
    unit = whole.scaled(1 / np.sqrt(whole.area))
    cut = cut_by_plane(unit, np.array([0.2, 0.5, 1.0]), keep_area=0.4)
    operator = laplacian(unit)
    looks = standardised(relief(cut.mesh, laplacian(cut.mesh)), relief(unit, operator))
    start = look_alikes(*looks, operator.mass, 0.4)
    assert operator.mass[start < 0].sum() == pytest.approx(0.4, abs=0.01)
    by_chance = 0.4
    scores = region_scores(start < 0, cut.kept_vertices, operator.mass)
    assert scores["precision"] > 1.25 * by_chance


def test_the_spectrum_of_a_part_is_that_with_its_rim_held(cap):
    operator = laplacian(cap.mesh)
    held = dirichlet_basis(operator, cap.mesh.boundary_vertices, 5).eigenvalues
    np.testing.assert_array_equal(query_basis(cap.mesh, operator, 5).eigenvalues, held)
    assert held[0] > 0


def test_the_true_region_looks_more_like_the_part_than_the_rest_does(whole):
    unit = whole.scaled(1 / np.sqrt(whole.area))
    cut = cut_by_plane(unit, np.array([0.2, 0.5, 1.0]), keep_area=0.5)
    operator, own_operator = laplacian(unit), laplacian(cut.mesh)
    own, other = standardised(relief(cut.mesh, own_operator), relief(unit, operator))
    query = query_basis(cut.mesh, own_operator, 20)
    wanted = seen_by_modes(query, own_operator.mass, own)
    alignment = Alignment(SparseHamiltonian(operator), operator.mass, query.eigenvalues)
    right, wrong = (
        unlikeness(wanted, seen_by_modes(alignment.modes(w), operator.mass, other))
        for w in (np.where(cut.kept_vertices, -9.0, 9.0), np.where(cut.kept_vertices, 9.0, -9.0))
    )
    assert right < wrong / 2
    assert unlikeness(wanted, wanted[:7]) == 0


@pytest.fixture(scope="module")
def answer(small, cap):
    return baselines.run("hamiltonian", cap.mesh, small, None)


@pytest.mark.slow
def test_the_region_found_has_the_spectrum_of_the_part(small, cap, answer):
    (best, *_) = answer.curves["alignment"]
    assert best["loss"] < 1e-2
    share = small.vertex_areas[answer.region].sum() / cap.mesh.area
    assert 0.6 < share < 1.2


@pytest.mark.slow
def test_a_thin_limb_is_found(limb):
    ball, tip = limb
    found = baselines.run("hamiltonian", tip.mesh, ball, None)
    assert region_scores(found.region, tip.kept_vertices, ball.vertex_areas)["iou"] > 0.6


@pytest.fixture(scope="module")
def limb():
    """A ball with one long limb, and that limb: no other region sounds like it."""
    ball = bumpy_sphere(3, seed=0)
    height = np.exp(12 * (ball.vertices[:, 2] / np.linalg.norm(ball.vertices, axis=1) - 1))
    drawn = Mesh(ball.vertices * (1 + [0.0, 0.0, 2.5] * height[:, None]), ball.faces)
    return drawn, cut_by_plane(drawn, np.array([0.0, 0.0, 1.0]), keep_area=0.3)


@pytest.mark.slow
def test_it_gives_no_map_and_says_so(cap, answer):
    assert (answer.vertex_map == -1).all() and (answer.face == -1).all()
    assert np.isnan(answer.barycentric).all() and (answer.confidence == 0).all()
    assert answer.status == "ok" and len(answer.anchors) == 0


@pytest.mark.slow
def test_pose_and_unit_do_not_count(small, cap, answer):
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
    partial, full = (
        Mesh(200 * one.vertices @ turn.T * np.linalg.det(turn), one.faces)
        for one in (cap.mesh, small)
    )
    moved = baselines.run("hamiltonian", partial, full, None)
    assert region_scores(moved.region, answer.region, small.vertex_areas)["iou"] > 0.95


@pytest.mark.slow
def test_a_closed_partial_shape_takes_the_whole(small):
    assert baselines.run("hamiltonian", small, small, None).region.all()


@pytest.mark.slow
def test_a_partial_shape_larger_than_the_full_one_takes_the_whole(small, cap):
    assert baselines.run("hamiltonian", cap.mesh.scaled(3), small, None).region.all()


def test_a_part_that_is_all_rim_is_refused(small):
    strip = Mesh(np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), [[0, 1, 2], [0, 2, 3]])
    with pytest.raises(InputError, match="every vertex lies on the boundary.*finer mesh"):
        baselines.run("hamiltonian", strip, small, None)


def test_a_full_shape_of_fewer_vertices_than_modes_will_do(cap):
    result = baselines.run("hamiltonian", cap.mesh, bumpy_sphere(0, seed=1), None)
    assert np.isfinite(result.region_score).all()
