"""The last step: smooth where a warp of space does nearly all, nothing elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.sampling import sample_vertices
from nho.geometry.spectrum import laplacian
from nho.geometry.synthetic import bumpy_sphere, cut_by_balls
from nho.problem.preparation import prepare
from nho.recipes.guided.bending import Bending
from nho.recipes.guided.comparable import ComparablePair, normalise_pair
from nho.recipes.guided.settling import settled
from nho.settings import GuidedRecipe


@pytest.fixture(scope="module")
def whole():
    return bumpy_sphere(4)


def pair_of(whole, bend: float, anchors: int = 15) -> tuple[ComparablePair, np.ndarray]:
    """A part, bent by so much, and the true positions of its vertices."""
    cut = cut_by_balls(whole, 2, 0.3, seed=1)
    own = sample_vertices(cut.mesh, anchors)
    shape = cut.mesh.moved(cut.mesh.vertices + bend * np.sin(3 * cut.mesh.vertices[:, [1, 2, 0]]))
    problem = prepare(shape, whole, np.stack([own, cut.vertex_of_parent[own]], axis=1))
    true = problem.full.mesh.vertices[
        problem.full.solver_of_given[cut.vertex_of_parent[problem.partial.given_of_solver]]
    ]
    return normalise_pair(problem, GuidedRecipe()), true


def after(pair: ComparablePair, pose: np.ndarray) -> np.ndarray:
    bending = Bending(pair.partial, pair.full, pair.distances)
    every = np.ones(pair.partial.n_vertices, dtype=bool)
    return settled(pose, pair, bending, laplacian(pair.partial, "robust"), every)


def off(pair: ComparablePair, positions: np.ndarray, true: np.ndarray) -> float:
    gaps = np.linalg.norm(positions - true, axis=1)
    return float(gaps.mean() / pair.full.mean_edge_length)


def test_what_jitters_along_the_surface_is_smoothed(whole):
    pair, true = pair_of(whole, 0.02)
    jitter = np.random.default_rng(0).normal(size=true.shape) * 0.4 * pair.full.mean_edge_length
    pose = true + jitter
    assert off(pair, after(pair, pose), true) < 0.5 * off(pair, pose, true)


def test_a_right_pose_stays(whole):
    pair, true = pair_of(whole, 0.02)
    assert off(pair, after(pair, true), true) < 0.05


def test_nothing_moves_where_the_spline_stretches_much(whole):
    pair, true = pair_of(whole, 0.25)
    assert after(pair, true) is true


def test_nothing_moves_with_few_anchors(whole):
    pair, true = pair_of(whole, 0.02, anchors=7)
    assert after(pair, true) is true


def test_nothing_moves_where_the_pose_leaves_the_scan_its_shape(whole):
    pair, true = pair_of(whole, 0.02)
    moved = pair.partial.vertices + 0.1
    assert after(pair, moved) is moved
    assert after(pair, true) is not true
