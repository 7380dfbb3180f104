"""Metrics against sums done by hand and against paths found the slow way."""

import heapq

import numpy as np
import pytest

from nho.evaluation.ground_truth import GroundTruth
from nho.evaluation.metrics import (
    correct_share,
    evaluate,
    geodesic_errors,
    region_scores,
    success_curve,
)
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import sphere, torus
from nho.problem.result import MatchResult
from nho.settings import Settings

TORUS = torus(14, 9)


def flat_grid(columns, rows, step=1.0):
    """A flat grid of ``columns`` x ``rows`` squares, cut along (0, 0) - (1, 1)."""
    x, y = np.meshgrid(np.arange(columns + 1), np.arange(rows + 1))
    vertices = step * np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    i, j = (part.ravel() for part in np.meshgrid(np.arange(columns), np.arange(rows)))
    a = j * (columns + 1) + i
    b, c, d = a + 1, a + columns + 2, a + columns + 1
    return Mesh(vertices, np.vstack([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]))


def plain_dijkstra(mesh, source):
    """Shortest ways along edges with a heap and dictionaries, sharing no code with the library."""
    neighbours = {v: {} for v in range(len(mesh.vertices))}
    for face in mesh.faces.tolist():
        for i, j in ((0, 1), (1, 2), (2, 0)):
            p, q = face[i], face[j]
            length = float(np.linalg.norm(mesh.vertices[p] - mesh.vertices[q]))
            neighbours[p][q] = neighbours[q][p] = length
    distance = {source: 0.0}
    queue = [(0.0, source)]
    while queue:
        far, vertex = heapq.heappop(queue)
        if far > distance[vertex]:
            continue
        for other, length in neighbours[vertex].items():
            if far + length < distance.get(other, np.inf):
                distance[other] = far + length
                heapq.heappush(queue, (far + length, other))
    return np.array([distance.get(v, np.inf) for v in range(len(mesh.vertices))])


def random_points(mesh, count, seed):
    random = np.random.default_rng(seed)
    face = random.integers(len(mesh.faces), size=count)
    return SurfacePoints(face, random.dirichlet([1, 1, 1], size=count))


def at(mesh, vertices):
    return SurfacePoints.at_vertices(mesh, np.asarray(vertices))


def a_result(mesh, points, region):
    n = len(points)
    return MatchResult(
        vertex_map=points.nearest_vertex(mesh),
        face=points.face,
        barycentric=points.barycentric,
        confidence=np.ones(n),
        region=region,
        region_score=region.astype(float),
        anchors=np.zeros((0, 2), dtype=np.int64),
        settings=Settings(),
    )


def test_the_truth_has_no_error():
    inside = random_points(TORUS, 40, 0)
    assert np.array_equal(geodesic_errors(TORUS, inside, inside), np.zeros(40))
    vertices = at(TORUS, np.arange(30))
    assert np.array_equal(geodesic_errors(TORUS, vertices, vertices), np.zeros(30))


def test_vertex_errors_are_shortest_ways_over_the_root_of_the_area():
    random = np.random.default_rng(1)
    truth, found = random.integers(len(TORUS.vertices), size=(2, 25))
    expected = [plain_dijkstra(TORUS, t)[f] for t, f in zip(truth, found, strict=True)]
    errors = geodesic_errors(TORUS, at(TORUS, found), at(TORUS, truth))
    np.testing.assert_allclose(errors, np.array(expected) / np.sqrt(TORUS.area), rtol=1e-12)


def test_errors_inside_triangles_go_over_the_best_corners():
    truth, found = random_points(TORUS, 15, 2), random_points(TORUS, 15, 3)
    expected = []
    for row in range(15):
        ends = []
        for points in (truth, found):
            corners = TORUS.faces[points.face[row]]
            place = points.barycentric[row] @ TORUS.vertices[corners]
            ends.append([(v, np.linalg.norm(TORUS.vertices[v] - place)) for v in corners])
        expected.append(
            min(p + plain_dijkstra(TORUS, a)[b] + q for a, p in ends[0] for b, q in ends[1])
        )
    errors = geodesic_errors(TORUS, found, truth)
    np.testing.assert_allclose(errors, np.array(expected) / np.sqrt(TORUS.area), rtol=1e-12)


def test_distances_on_a_flat_grid_are_those_done_by_hand():
    grid = flat_grid(4, 1, step=2.0)  # area 16, so errors are lengths over 4
    middle = SurfacePoints(np.array([0]), np.array([[0.25, 0.5, 0.25]]))  # (1.5, 0.5) in face 0
    # In one triangle: straight, here to its corner (2, 0) and to another inner point.
    leg = np.sqrt(0.5)
    assert geodesic_errors(grid, middle, at(grid, [1]))[0] == pytest.approx(leg / 4)
    other = SurfacePoints(np.array([0]), np.array([[0.5, 0.5, 0.0]]))  # (1, 0)
    assert geodesic_errors(grid, middle, other)[0] == pytest.approx(leg / 4)
    # To (8, 0): over the corner (2, 0), then three edges of length 2.
    assert geodesic_errors(grid, middle, at(grid, [4]))[0] == pytest.approx((leg + 6) / 4)
    # To the same place in the square next door, (3.5, 0.5) in face 1.
    next_door = SurfacePoints(np.array([1]), middle.barycentric)
    way = min(leg + 2 + leg, leg + np.hypot(1.5, 0.5))
    assert geodesic_errors(grid, middle, next_door)[0] == pytest.approx(way / 4)
    assert geodesic_errors(grid, next_door, middle)[0] == pytest.approx(way / 4)


def test_the_same_point_of_a_shared_edge_has_no_error_whichever_face_names_it():
    grid = flat_grid(1, 1)  # faces (0, 1, 3) and (0, 3, 2) share the diagonal 0 - 3
    below = SurfacePoints(np.array([0]), np.array([[0.5, 0.0, 0.5]]))
    above = SurfacePoints(np.array([1]), np.array([[0.5, 0.5, 0.0]]))
    np.testing.assert_array_equal(below.positions(grid), above.positions(grid))
    assert geodesic_errors(grid, below, above)[0] == 0


def test_errors_do_not_depend_on_scale_or_on_the_size_of_batches(monkeypatch):
    truth, found = random_points(TORUS, 30, 4), random_points(TORUS, 30, 5)
    errors = geodesic_errors(TORUS, found, truth)
    big = TORUS.scaled(1e5)
    np.testing.assert_allclose(geodesic_errors(big, found, truth), errors, rtol=1e-9)
    monkeypatch.setattr("nho.evaluation.metrics._SOURCES_AT_ONCE", 7)
    assert np.array_equal(geodesic_errors(TORUS, found, truth), errors)


def test_missing_points_have_no_error_and_are_reported():
    region = np.ones(len(TORUS.vertices), dtype=bool)
    truth = at(TORUS, [0, 1, 2, 3, -1, -1])
    found = at(TORUS, [0, 1, -1, 3, 4, -1])
    errors = geodesic_errors(TORUS, found, truth)
    assert np.isnan(errors).tolist() == [False, False, True, False, True, True]
    scores = evaluate(a_result(TORUS, found, region), TORUS, GroundTruth(truth, region))
    assert scores.matched == pytest.approx(75)  # of four annotated vertices, three
    assert scores.geodesic_error == 0 and scores.geodesic_error_worst == 0
    assert scores.iou == scores.precision == scores.recall == scores.f1 == 100


def test_nothing_matched_is_not_a_number_and_no_crash():
    nowhere = at(TORUS, [-1, -1])
    region = np.zeros(len(TORUS.vertices), dtype=bool)
    assert np.isnan(geodesic_errors(TORUS, nowhere, at(TORUS, [1, 2]))).all()
    truth = GroundTruth(at(TORUS, [1, 2]), region)
    scores = evaluate(a_result(TORUS, nowhere, region), TORUS, truth)
    assert scores.matched == 0 and np.isnan(scores.geodesic_error)
    assert scores.iou == scores.f1 == 0


def test_the_summary_is_mean_median_and_worst_times_a_hundred():
    grid = flat_grid(9, 1)  # area 9: errors are lengths / 3
    truth = at(grid, [0, 0, 0, 0])
    inside = SurfacePoints(np.array([0]), np.array([[0.2, 0.8, 0.0]]))  # (0.8, 0): near vertex 1
    found = at(grid, [0, 1, 9, 0])
    face, weights = found.face.copy(), found.barycentric.copy()
    face[3], weights[3] = inside.face[0], inside.barycentric[0]
    found = SurfacePoints(face, weights)
    region = np.ones(len(grid.vertices), dtype=bool)
    scores = evaluate(a_result(grid, found, region), grid, GroundTruth(truth, region))
    assert scores.geodesic_error == pytest.approx(100 * (0 + 1 + 9 + 0.8) / 4 / 3)
    assert scores.geodesic_error_vertex == pytest.approx(100 * (0 + 1 + 9 + 1) / 4 / 3)
    assert scores.geodesic_error_median == pytest.approx(100 * 0.9 / 3)
    assert scores.geodesic_error_worst == pytest.approx(100 * 9 / 3)
    assert scores.as_dict()["matched"] == 100


def test_region_scores_are_those_done_by_hand():
    areas = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    predicted = np.array([True, True, True, False, False])
    truth = np.array([False, True, True, True, False])
    scores = region_scores(predicted, truth, areas)
    assert scores == {
        "iou": pytest.approx(6 / 15),
        "precision": pytest.approx(6 / 7),
        "recall": pytest.approx(6 / 14),
        "f1": pytest.approx(2 * 6 / (7 + 14)),
    }


def test_region_scores_are_zero_where_undefined_and_one_where_perfect():
    areas, nothing = np.ones(4), np.zeros(4, dtype=bool)
    some = np.array([True, False, True, False])
    assert set(region_scores(nothing, nothing, areas).values()) == {0.0}
    assert set(region_scores(nothing, some, areas).values()) == {0.0}
    assert set(region_scores(some, ~some, areas).values()) == {0.0}
    assert set(region_scores(some, some, areas).values()) == {1.0}


def test_vertex_areas_are_thirds_of_faces_and_sum_to_the_area():
    mesh = Mesh([[0, 0, 0], [3, 0, 0], [0, 2, 0], [3, 2, 0], [7, 7, 7]], [[0, 1, 2], [1, 3, 2]])
    np.testing.assert_allclose(mesh.vertex_areas, [1, 2, 2, 1, 0])
    ball = sphere(2)
    assert ball.vertex_areas.sum() == pytest.approx(ball.area)


def test_the_share_of_correct_points_counts_the_finite_errors():
    errors = np.array([0.0, 0.1, 0.2, 0.2, np.nan, np.nan])
    share = correct_share(errors, np.array([0.0, 0.1, 0.15, 0.2, 1.0]))
    assert share.tolist() == [0.25, 0.5, 0.5, 1.0, 1.0]


def test_the_success_curve_is_the_share_above_each_threshold():
    scores = np.array([0.2, 0.5, 0.9, 1.0])
    assert success_curve(scores, [0.0, 0.2, 0.5, 0.95, 1.0]).tolist() == [1, 0.75, 0.5, 0.25, 0]


def test_no_scores_give_no_warning():
    assert correct_share(np.array([np.nan]), np.array([0.1])).shape == (1,)
    assert success_curve(np.array([]), np.array([0.1])).shape == (1,)


def test_spikes_of_the_full_shape_do_not_count_as_area():
    ball = sphere(3)
    spiky = Mesh(np.where(np.arange(642)[:, None] == 7, 1e4, 1) * ball.vertices, ball.faces)
    away = np.setdiff1d(np.arange(642), 7)
    points = SurfacePoints.at_vertices(spiky, away)
    clean = geodesic_errors(ball, points, SurfacePoints.at_vertices(ball, np.roll(away, 1)))
    found = geodesic_errors(spiky, points, SurfacePoints.at_vertices(spiky, np.roll(away, 1)))
    assert np.median(found) == pytest.approx(np.median(clean), rel=0.05)
