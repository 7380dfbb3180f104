"""Edge-graph distances and exact nearest neighbourhoods."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from nho.geometry.geodesics import distances_from, edge_graph, neighbourhoods, unfolded_graph
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import torus


@pytest.mark.parametrize("stretch", [1, 8])
@pytest.mark.parametrize("count", [1, 7, 30])
def test_neighbourhoods_are_the_nearest_vertices_by_dijkstra(piece, count, stretch):
    # Stretched, the nearest vertices are many edges away in one direction.
    graph = edge_graph(Mesh(piece.mesh.vertices * [1, 1, stretch], piece.mesh.faces))
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


def flat_grid(size: int) -> Mesh:
    """Unit squares, each split by the diagonal from (i, j) to (i + 1, j + 1)."""
    i, j = np.divmod(np.arange(size * size), size)
    a = (i * size + j)[(i < size - 1) & (j < size - 1)]
    faces = np.vstack(
        [np.column_stack([a, a + size, a + size + 1]), np.column_stack([a, a + size + 1, a + 1])]
    )
    return Mesh(np.column_stack([i, j, 0 * i]).astype(float), faces)


def two_triangles(p, q) -> Mesh:
    """Triangles on both sides of the edge from (0, 0, 0) to (1, 0, 0), with corners p and q."""
    return Mesh([[0, 0, 0], [1, 0, 0], p, q], [[0, 1, 2], [1, 0, 3]])


@pytest.mark.parametrize("name", ["piece", "torus"])
def test_unfolded_distances_lie_between_straight_lines_and_edge_paths(piece, name):
    mesh = piece.mesh if name == "piece" else torus()
    sources = np.arange(0, len(mesh.vertices), 11)
    unfolded = distances_from(unfolded_graph(mesh), sources)
    edges = distances_from(edge_graph(mesh), sources)
    straight = np.linalg.norm(mesh.vertices[sources][:, None] - mesh.vertices[None], axis=2)
    assert (unfolded <= edges * (1 + 1e-12)).all()
    assert (unfolded >= straight * (1 - 1e-12)).all()
    assert unfolded.mean() < 0.99 * edges.mean()


def test_unfolded_graph_is_symmetric():
    graph = unfolded_graph(torus())
    assert abs(graph - graph.T).max() == 0
    assert graph.diagonal().max() == 0


def test_both_diagonals_of_a_flat_grid_are_exact():
    size = 9
    mesh = flat_grid(size)
    corner, opposite = size - 1, size * (size - 1)  # against the direction of the split
    graph = unfolded_graph(mesh)
    exact = np.sqrt(2) * (size - 1)
    assert distances_from(graph, np.array([corner]))[0, opposite] == pytest.approx(exact)
    assert distances_from(graph, np.array([0]))[0, -1] == pytest.approx(exact)
    by_edges = distances_from(edge_graph(mesh), np.array([corner]))[0, opposite]
    assert by_edges == pytest.approx(2 * (size - 1))


def test_no_way_is_added_where_the_straight_line_leaves_the_two_triangles():
    inside = unfolded_graph(two_triangles([0.4, 1, 0], [0.4, -1, 0]))
    assert inside[2, 3] == inside[3, 2] == pytest.approx(2)
    for x in (-0.5, 1.5):  # both corners beyond the same end of the shared edge
        outside = unfolded_graph(two_triangles([x, 1, 0], [x, -1, 0]))
        assert outside[2, 3] == 0 and outside.nnz == 2 * 5


def test_a_folded_pair_is_laid_flat_and_not_cut_through():
    graph = unfolded_graph(two_triangles([0.5, 1, 0], [0.5, 0, 1]))  # folded by a right angle
    assert graph[2, 3] == pytest.approx(2)  # sqrt(2) through the air


def test_an_existing_shorter_edge_is_kept():
    # A closed tetrahedron: opposite corners of every pair are also joined by an edge.
    vertices = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    mesh = Mesh(vertices, [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
    graph = unfolded_graph(mesh)
    np.testing.assert_allclose(graph.toarray(), edge_graph(mesh).toarray())


def test_unfolded_graph_scales_with_the_mesh(piece):
    small = unfolded_graph(piece.mesh.scaled(1e-6))
    graph = unfolded_graph(piece.mesh)
    assert small.nnz == graph.nnz
    np.testing.assert_allclose(small.data * 1e6, graph.data)
