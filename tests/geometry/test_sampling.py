"""Sampling: every next vertex is the farthest one, and no vertex comes twice."""

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import METHODS, farthest_points, sample_vertices
from nho.geometry.synthetic import sphere, torus

MESH = torus(16, 9)


def distance_matrix(mesh, method):
    """All distances at once, as the slow but plain way."""
    if method == "geodesic":
        return distances_from(edge_graph(mesh), np.arange(len(mesh.vertices)))
    return np.linalg.norm(mesh.vertices[:, None] - mesh.vertices, axis=2)


@pytest.mark.parametrize("method", ["geodesic", "euclidean"])
@pytest.mark.parametrize("seed", [0, 5])
def test_every_next_vertex_is_the_farthest_from_those_chosen(method, seed):
    distances = distance_matrix(MESH, method)
    chosen = sample_vertices(MESH, 20, method, seed)
    for count in range(1, 20):
        to_nearest = distances[chosen[:count]].min(axis=0)
        assert to_nearest[chosen[count]] == pytest.approx(to_nearest.max(), rel=1e-12)


def test_straight_and_edge_distances_choose_differently():
    # A thin, nearly closed ring: its two ends are close in space and far along the surface.
    angle = np.linspace(0.1, 2 * np.pi - 0.1, 60)
    rim = np.stack([np.cos(angle), np.sin(angle), np.zeros(60)], axis=1)
    vertices = np.vstack([rim, rim + [0, 0, 0.1]])
    i = np.arange(59)
    faces = np.vstack([np.stack([i, i + 1, i + 60], 1), np.stack([i + 1, i + 61, i + 60], 1)])
    mesh = Mesh(vertices, faces)
    start = np.array([0])
    seed = next(s for s in range(500) if sample_vertices(mesh, 1, seed=s)[0] in start)
    assert sample_vertices(mesh, 2, "geodesic", seed)[1] % 60 == 59
    assert abs(sample_vertices(mesh, 2, "euclidean", seed)[1] % 60 - 30) <= 2


@pytest.mark.parametrize("method", METHODS)
def test_the_vertices_are_distinct_whatever_their_number(method):
    mesh = sphere(1)
    chosen = sample_vertices(mesh, len(mesh.vertices), method)
    assert np.array_equal(np.sort(chosen), np.arange(len(mesh.vertices)))


@pytest.mark.parametrize("method", METHODS)
def test_coinciding_vertices_are_not_chosen_twice(method):
    # Every vertex in one place: all distances are zero.
    mesh = Mesh(np.zeros((6, 3)), [[0, 1, 2], [3, 4, 5]])
    assert len(np.unique(sample_vertices(mesh, 6, method))) == 6


@pytest.mark.parametrize("method", METHODS)
def test_the_seed_decides(method):
    first, again = (sample_vertices(MESH, 12, method, seed=3) for _ in range(2))
    assert np.array_equal(first, again)
    others = [sample_vertices(MESH, 12, method, seed) for seed in (4, 5, 6)]
    assert any(not np.array_equal(first, other) for other in others)


def test_every_component_gets_a_vertex_before_one_gets_a_second():
    ball = sphere(1)
    n = len(ball.vertices)
    three = Mesh(
        np.vstack([ball.vertices + [10.0 * i, 0, 0] for i in range(3)]),
        np.vstack([ball.faces + n * i for i in range(3)]),
    )
    chosen = sample_vertices(three, 3, "geodesic")
    assert sorted((chosen // n).tolist()) == [0, 1, 2]


@pytest.mark.parametrize("method", ["geodesic", "euclidean"])
def test_among_candidates_too_the_next_is_the_farthest(method):
    candidates = np.random.default_rng(2).permutation(len(MESH.vertices))[:60]
    distances = distance_matrix(MESH, method)
    chosen = sample_vertices(MESH, 15, method, seed=1, candidates=candidates)
    for count in range(1, 15):
        to_nearest = distances[chosen[:count]].min(axis=0)
        assert to_nearest[chosen[count]] == pytest.approx(to_nearest[candidates].max(), rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_only_candidates_are_chosen(method):
    candidates = np.array([3, 50, 7, 101, 140])
    chosen = sample_vertices(MESH, 5, method, seed=1, candidates=candidates)
    assert np.array_equal(np.sort(chosen), np.sort(candidates))
    assert np.isin(sample_vertices(MESH, 2, method, candidates=candidates), candidates).all()


@pytest.mark.parametrize("method", METHODS)
def test_vertices_of_no_face_are_never_chosen(method):
    mesh = Mesh([[0, 0, 0], [9, 9, 9], [1, 0, 0], [0, 1, 0]], [[0, 2, 3]], "tri.ply")
    assert sorted(sample_vertices(mesh, 3, method).tolist()) == [0, 2, 3]
    with pytest.raises(InputError, match=r"4 vertices of tri.ply.*1 to 3"):
        sample_vertices(mesh, 4, method)


@pytest.mark.parametrize("count", [0, -1, 145])
def test_an_impossible_count_is_refused(count):
    with pytest.raises(InputError, match=f"{count} vertices of torus: choose 1 to 144"):
        sample_vertices(MESH, count)


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="'poisson'.*geodesic, euclidean, random"):
        sample_vertices(MESH, 3, "poisson")


def test_a_negative_seed_is_refused():
    with pytest.raises(InputError, match="seed"):
        sample_vertices(MESH, 3, seed=-1)


def test_each_next_point_is_the_farthest_from_those_before():
    points = np.random.default_rng(0).standard_normal((300, 3))
    chosen = farthest_points(points, 40)
    for place in range(1, 40):
        gap = np.linalg.norm(points[:, None] - points[chosen[:place]], axis=2).min(axis=1)
        assert gap[chosen[place]] == pytest.approx(gap.max())
    assert len(set(farthest_points(np.zeros((9, 3)), 9))) == 9
