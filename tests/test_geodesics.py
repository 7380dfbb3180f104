"""Edge-graph distances and exact nearest neighbourhoods."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from nho.geodesics import distances_from, edge_graph, neighbourhoods
from nho.mesh import Mesh
from nho.synthetic import torus


@pytest.mark.parametrize("count", [1, 7, 30])
def test_neighbourhoods_are_the_nearest_vertices_by_dijkstra(piece, count):
    graph = edge_graph(piece.mesh)
    near = neighbourhoods(graph, count)
    everything = dijkstra(graph)
    np.testing.assert_allclose(near.distance, np.sort(everything, axis=1)[:, 1 : count + 1])
    rows = np.arange(len(everything))[:, None]
    np.testing.assert_allclose(near.distance, everything[rows, near.index])
    assert all(len(set(row)) == count for row in near.index.tolist())
    assert not (near.index == rows).any()


def test_small_components_are_padded():
    mesh = Mesh(np.random.default_rng(0).standard_normal((7, 3)), [[0, 1, 2], [3, 4, 5], [4, 5, 6]])
    near = neighbourhoods(edge_graph(mesh), 5)
    assert (near.index[0] >= 0).sum() == 2
    assert np.isinf(near.distance[0, 2:]).all() and (near.index[0, 2:] == -1).all()
    assert (near.index[3] >= 0).sum() == 3


def test_distances_are_edge_lengths_between_neighbours_and_infinite_across_components():
    mesh = Mesh(
        [[0, 0, 0], [3, 0, 0], [0, 4, 0], [9, 9, 9], [9, 9, 8], [9, 8, 9]], [[0, 1, 2], [3, 4, 5]]
    )
    distance = distances_from(edge_graph(mesh), np.array([1]))[0]
    np.testing.assert_allclose(distance[:3], [3, 0, 5])
    assert np.isinf(distance[3:]).all()


def test_a_zero_length_edge_still_connects():
    mesh = Mesh([[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 1, 3]])
    distance = distances_from(edge_graph(mesh), np.array([0]))[0]
    assert distance[1] == pytest.approx(0, abs=1e-300) and np.isfinite(distance).all()


def test_edge_graph_is_symmetric():
    graph = edge_graph(torus())
    assert abs(graph - graph.T).max() == 0
