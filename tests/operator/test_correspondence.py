"""Alignment, nearest rows, local distortion and the choice of reliable matches."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from nho.geometry.geodesics import edge_graph, neighbourhoods
from nho.operator.correspondence import align, local_distortion, nearest_rows, reliable_matches
from nho.runtime.parallel import workers


def test_alignment_recovers_a_matrix_and_has_least_norm_when_underdetermined():
    random = np.random.default_rng(0)
    matrix = random.standard_normal((4, 4))
    many = random.standard_normal((30, 4))
    np.testing.assert_allclose(align(many, many @ matrix), matrix, atol=1e-10)
    few = random.standard_normal((3, 4))
    found = align(few, few @ matrix)
    np.testing.assert_allclose(few @ found, few @ matrix, atol=1e-10)
    null = np.linalg.svd(few)[2][3]
    np.testing.assert_allclose(null @ found, 0, atol=1e-10)


@pytest.mark.parametrize("threads", [1, 2])
def test_nearest_rows_equal_brute_force(threads):
    random = np.random.default_rng(1)
    rows = random.standard_normal((700, 30)) + 100  # far from the origin: float32 must cope
    queries = random.standard_normal((900, 30)) + 100
    expected = ((queries[:, None] - rows[None]) ** 2).sum(axis=2).argmin(axis=1)
    with workers(threads) as pool:
        assert np.array_equal(nearest_rows(queries, rows, pool), expected)


def test_nearest_row_ties_go_to_the_lowest_index():
    rows = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    assert nearest_rows(np.zeros((2, 2)), rows).tolist() == [1, 1]


def test_identity_has_no_distortion_on_the_same_mesh(whole):
    near = neighbourhoods(edge_graph(whole), 30)
    mass = np.ones(len(whole.vertices))
    distortion = local_distortion(np.arange(len(mass)), near, mass, near)
    np.testing.assert_allclose(distortion, 0, atol=1e-12)


@pytest.mark.parametrize("misses", ["largest", "local"])
def test_distortion_is_the_papers_formula(whole, piece, misses):
    partial, full = edge_graph(piece.mesh), edge_graph(whole)
    near_partial, near_full = neighbourhoods(partial, 8), neighbourhoods(full, 12)
    random = np.random.default_rng(2)
    mass = random.uniform(1, 2, len(piece.mesh.vertices))
    target = random.permutation(len(whole.vertices))[: len(mass)]
    target[: len(mass) // 2] = piece.vertex_of_parent[: len(mass) // 2]
    target[5] = target[near_partial.index[0, 0]] = target[0]  # coincident images
    ours = local_distortion(target, near_partial, mass, near_full, misses)
    everything = dijkstra(full)
    for p in range(0, len(mass), 17):
        j, d = near_partial.index[p], near_partial.distance[p]
        image, front = everything[target[p], target[j]], near_full.distance[target[p]]
        missed = image > front.max()
        if misses == "largest":
            image[missed | (target[j] == target[p])] = near_full.distance.max()
        else:
            image[missed] = front.max()
        expected = (mass[j] * np.abs(d - image)).sum() / (d.max() * mass[j].sum())
        assert ours[p] == pytest.approx(expected, rel=1e-9)


def test_hardly_any_of_a_random_map_is_reliable(whole):
    graph = edge_graph(whole)
    near, front = neighbourhoods(graph, 30), neighbourhoods(graph, 120)
    mass = np.ones(len(whole.vertices))
    target = np.random.default_rng(4).permutation(len(mass))
    assert (local_distortion(target, near, mass, front) < 0.42).mean() < 0.01
    assert (local_distortion(target, near, mass, near, "local") < 0.42).mean() > 0.2


def test_distortion_ignores_the_scale_of_both_shapes(whole):
    graph = edge_graph(whole)
    small, large = neighbourhoods(graph, 10), neighbourhoods(graph * 1e6, 10)
    mass = np.ones(len(whole.vertices))
    target = np.random.default_rng(3).permutation(len(mass))
    np.testing.assert_allclose(
        local_distortion(target, small, mass, small),
        local_distortion(target, large, mass * 1e12, large),
        rtol=1e-9,
    )


def test_reliable_matches_respect_threshold_anchors_and_conflicts():
    target = np.array([10, 11, 12, 12, 14, 15, 16, 16])
    distortion = np.array([0.1, 0.5, 0.3, 0.2, 0.1, 0.1, 0.1, 0.2])
    anchors = np.array([[0, 99], [3000, 14]])
    pairs = reliable_matches(target, distortion, 0.42, anchors)
    # 0 is an anchor's vertex, 1 too distorted, 2 loses to 3, 4 ends where an anchor ends, 7 loses
    # to 6.
    assert pairs.tolist() == [[3, 12], [5, 15], [6, 16]]


def test_no_reliable_match_is_an_empty_table():
    pairs = reliable_matches(np.zeros(4, dtype=int), np.ones(4), 0.42, np.array([[0, 1]]))
    assert pairs.shape == (0, 2)
