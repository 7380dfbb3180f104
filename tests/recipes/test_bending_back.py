"""The map read off the full surface bent back: nearer to the truth, and no farther than it may."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import nho
from nho.geometry.closest import FacingSearch
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import bumpy_sphere, cut_by_balls
from nho.lab.bench.datasets import FAMILIES
from nho.problem.preparation import prepare
from nho.recipes.guided.bending_back import bent_back
from nho.recipes.guided.comparable import ComparablePair, normalise_pair
from nho.settings import GuidedRecipe


@pytest.fixture(scope="module")
def posed() -> tuple[ComparablePair, np.ndarray]:
    """A part in another pose, and the true positions of its vertices."""
    whole = bumpy_sphere(4)
    cut = cut_by_balls(whole, 2, 0.3, seed=1)
    own = sample_vertices(cut.mesh, 15)
    shape = cut.mesh.moved(cut.mesh.vertices + 0.05 * np.sin(3 * cut.mesh.vertices[:, [1, 2, 0]]))
    problem = prepare(shape, whole, np.stack([own, cut.vertex_of_parent[own]], axis=1))
    true = problem.full.mesh.vertices[
        problem.full.solver_of_given[cut.vertex_of_parent[problem.partial.given_of_solver]]
    ]
    return normalise_pair(problem, GuidedRecipe()), true


@pytest.fixture(scope="module")
def jittered(posed) -> tuple[np.ndarray, SurfacePoints]:
    """The true pose with noise, and the map read off it."""
    pair, true = posed
    edge = pair.full.mean_edge_length
    pose = true + 0.3 * edge * np.random.default_rng(0).normal(size=true.shape)
    facing = FacingSearch(pair.full, 1.4 * edge)
    return pose, facing(pose, pair.partial.moved(pose).vertex_normals)[0]


def everywhere(pair: ComparablePair) -> np.ndarray:
    return np.ones(pair.partial.n_vertices, dtype=bool)


def off(pair: ComparablePair, points: SurfacePoints, true: np.ndarray) -> float:
    """Mean distance from the truth, in mean edges."""
    gaps = np.linalg.norm(points.positions(pair.full) - true, axis=1)
    return float(gaps.mean() / pair.full.mean_edge_length)


def test_noise_of_the_pose_is_no_noise_of_the_map(posed, jittered):
    pair, true = posed
    pose, points = jittered
    better = bent_back(pose, points, pair, everywhere(pair))
    assert off(pair, better, true) < 0.6 * off(pair, points, true)


def test_a_right_map_stays(posed):
    pair, true = posed
    points, _ = FacingSearch(pair.full, 0.0)(true, pair.partial.moved(true).vertex_normals)
    assert off(pair, bent_back(true, points, pair, everywhere(pair)), true) < 0.1


def test_what_has_no_partner_keeps_its_place(posed, jittered):
    pair, true = posed
    pose, points = jittered
    partner = true[:, 0] < np.median(true[:, 0])
    better = bent_back(pose, points, pair, partner)
    np.testing.assert_array_equal(better.face[~partner], points.face[~partner])
    np.testing.assert_array_equal(better.barycentric[~partner], points.barycentric[~partner])
    assert (better.barycentric[partner] != points.barycentric[partner]).any()


def test_no_partner_moves_far(posed, jittered):
    pair, true = posed
    pose, points = jittered
    astray = np.arange(0, len(true), 50)
    opposite = np.argmax(np.linalg.norm(true[astray, None] - true[None], axis=2), axis=1)
    face, barycentric = points.face.copy(), points.barycentric.copy()
    face[astray], barycentric[astray] = face[opposite], barycentric[opposite]
    better = bent_back(pose, SurfacePoints(face, barycentric), pair, everywhere(pair))
    np.testing.assert_array_equal(better.face[astray], face[astray])


def test_a_pose_beside_the_full_surface_changes_nothing(posed, jittered):
    pair, _ = posed
    pose, points = jittered
    assert bent_back(pose + 10.0, points, pair, everywhere(pair)) is points


def test_hundreds_of_anchors_say_more(posed, jittered):
    pair, _ = posed
    pose, points = jittered
    distances = replace(pair.distances, others=pair.distances.anchors[:1])
    assert bent_back(pose, points, replace(pair, distances=distances), everywhere(pair)) is points


def test_pieces_of_a_scan_may_lie_anywhere(posed, jittered):
    pair, true = posed
    pose, points = jittered
    faces = pair.partial.faces
    left = true[faces].mean(axis=1)[:, 0] < np.median(true[:, 0])
    left_of, right_of = np.unique(faces[left]), np.unique(faces[~left])
    rank = np.zeros(len(true), dtype=np.int64)
    rank[left_of] = np.arange(len(left_of))
    second = np.zeros(len(true), dtype=np.int64)
    second[right_of] = len(left_of) + np.arange(len(right_of))
    parent = np.concatenate([left_of, right_of])
    apart = pair.partial.vertices[parent] + 5.0 * (np.arange(len(parent)) >= len(left_of))[:, None]
    torn = Mesh(apart, np.concatenate([rank[faces[left]], second[faces[~left]]]), "scan")
    of_torn = replace(pair, partial=torn)
    better = bent_back(pose[parent], points[parent], of_torn, everywhere(of_torn))
    assert off(pair, better, true[parent]) < 0.7 * off(pair, points, true)


@pytest.mark.slow
@pytest.mark.data
def test_points_of_thin_parts_gain_by_it(data):
    """A wolf whose toes and ears are as thin as its points are apart: their surface is a guess."""
    pair = FAMILIES["tosca"].load(data, "wolf2-cut25")
    scan = nho.Mesh.from_points(pair.partial.vertices)
    fast = nho.preset("default").replace(threads=1)
    plain, back = (
        nho.evaluate(
            nho.match(scan, pair.full, pair.anchors(20), fast.replace(bend_back=wanted)),
            pair.full,
            pair.truth,
        )
        for wanted in (False, True)
    )
    assert back.geodesic_error < 0.85 * plain.geodesic_error
