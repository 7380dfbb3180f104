"""Distances to anchors as evidence: calibration, orientation and the first map."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

from nho.geometry.geodesics import unfolded_graph
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import bumpy_sphere, sphere
from nho.recipes.guided.distance_evidence import AnchorDistances, first_map
from nho.runtime.parallel import workers


def self_distances(mesh: Mesh, count: int) -> AnchorDistances:
    chosen = sample_vertices(mesh, count)
    return AnchorDistances.measure(mesh, mesh, np.stack([chosen, chosen], axis=1))


@pytest.fixture(scope="module")
def stretched(piece) -> Mesh:
    """The piece, stretched so that its distances are not the full shape's."""
    return Mesh(piece.mesh.vertices * [1.0, 1.5, 0.7], piece.mesh.faces)


@pytest.fixture(scope="module")
def distances(whole, piece, stretched):
    chosen = sample_vertices(piece.mesh, 20)
    anchors = np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)
    return AnchorDistances.measure(stretched, whole, anchors)


@pytest.fixture(scope="module")
def bilateral() -> Mesh:
    """A bumpy surface that x -> -x maps to itself, and no other symmetry does."""
    ball = sphere(3)
    random = np.random.default_rng(5)
    directions = random.standard_normal((5, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    both = np.concatenate([directions, directions * [-1, 1, 1]])
    heights = np.tile(random.uniform(0.1, 0.4, 5), 2)
    bumps = np.exp(4 * (ball.vertices @ both.T - 1)) @ heights
    return Mesh(ball.vertices * (1 + bumps)[:, None], ball.faces)


def test_measured_distances_are_shortest_paths():
    mesh = bumpy_sphere(2, seed=0)
    anchors = np.array([[3, 10], [50, 20], [161, 0]])
    measured = AnchorDistances.measure(mesh, mesh.scaled(2.0), anchors)
    # Another algorithm than the library's.
    table = shortest_path(unfolded_graph(mesh), method="FW", directed=False)
    np.testing.assert_allclose(measured.partial, table[anchors[:, 0]], atol=1e-12)
    np.testing.assert_allclose(measured.full, 2 * table[anchors[:, 1]], atol=1e-12)
    between = table[np.ix_(anchors[:, 0], anchors[:, 0])]
    np.testing.assert_allclose(measured.between_partial, between, atol=1e-12)
    between = 2 * table[np.ix_(anchors[:, 1], anchors[:, 1])]
    np.testing.assert_allclose(measured.between_full, between, atol=1e-12)


def test_another_component_is_finite_and_farther_than_anything_reached():
    small = bumpy_sphere(1, seed=0)
    n = len(small.vertices)
    two = Mesh(
        np.vstack([small.vertices, small.vertices + 9]), np.vstack([small.faces, small.faces + n])
    )
    measured = AnchorDistances.measure(two, two, np.array([[0, 0], [5, 5], [n, n]]))
    assert np.isfinite(measured.partial).all()
    assert measured.partial[0, n:].min() > measured.partial[0, :n].max()
    assert measured.partial[2, :n].min() > measured.partial[2, n:].max()


def test_spacing_is_the_median_distance_to_the_nearest_other_anchor():
    line = np.abs(np.subtract.outer([0.0, 1.0, 3.0, 7.0], [0.0, 1.0, 3.0, 7.0]))
    pairs = np.stack([np.arange(4)] * 2, axis=1)
    assert AnchorDistances(pairs, line, line).spacing == pytest.approx(1.5)  # of 1, 1, 2, 4


def test_subsets_and_scales_leave_the_rest_alone(distances):
    rows = np.array([4, 1, 7])
    few = distances.subset(rows)
    np.testing.assert_array_equal(few.between_full, distances.between_full[np.ix_(rows, rows)])
    larger = distances.scaled_partial(3.0)
    np.testing.assert_array_equal(larger.partial, 3 * distances.partial)
    np.testing.assert_array_equal(larger.full, distances.full)
    assert larger.spacing == pytest.approx(3 * distances.spacing)


def test_kriging_reproduces_values_at_the_anchors(distances):
    weights = distances.kriging()
    at = distances.anchors[:, 0]
    values = np.random.default_rng(0).standard_normal((5, len(at)))
    np.testing.assert_allclose(values @ weights[:, at], values, atol=0.15)
    assert np.abs(values @ weights[:, at] - values).mean() < 0.03
    spread = values @ weights  # in between, values of the size of the given ones
    assert np.abs(spread).max() < 1.5 * np.abs(values).max()


def test_kriging_does_not_depend_on_the_unit(distances):
    np.testing.assert_allclose(
        distances.scaled_partial(1e4).kriging(), distances.kriging(), atol=1e-9
    )


def test_spread_without_noise_meets_the_values_at_the_anchors(distances):
    values = np.random.default_rng(0).standard_normal((len(distances.anchors), 3))
    field = distances.krige(values, 0.0)
    assert field.shape == (distances.partial.shape[1], 3)
    at = field[distances.anchors[:, 0]]
    np.testing.assert_allclose(at, values, atol=0.1)
    assert np.abs(at - values).mean() < 0.03
    assert np.abs(field).max() < 1.5 * np.abs(values).max()


def test_spread_follows_less_the_more_noise_there_is(distances):
    values = np.random.default_rng(0).standard_normal((len(distances.anchors), 3))
    size = np.sqrt((values**2).sum(axis=1).mean())
    lengths = [
        np.linalg.norm(distances.krige(values, share * size)) for share in (0, 0.3, 0.7, 0.9, 1, 5)
    ]
    assert all(more >= less for more, less in zip(lengths, lengths[1:], strict=False))
    assert lengths[2] < 0.8 * lengths[0]
    assert lengths[-1] < 1e-3 * lengths[0]  # nothing but noise: hardly followed


def test_spread_dies_away_from_the_anchors(distances):
    few = distances.subset(np.arange(3))
    field = few.krige(np.ones((3, 1)), 0.0)[:, 0]
    away = few.partial.min(axis=0)
    near, far = away < 0.1 * few.spacing, away > 0.8 * few.spacing
    assert near.sum() >= 3 and far.any()
    assert field[near].min() > 0.85 and field[far].max() < 0.8


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_spread_has_the_unit_of_its_values(distances, unit):
    values = np.random.default_rng(0).standard_normal((len(distances.anchors), 3))
    plain = distances.krige(values, 0.5)
    np.testing.assert_allclose(distances.krige(unit * values, unit * 0.5), unit * plain)
    np.testing.assert_allclose(distances.scaled_partial(unit).krige(values, 0.5), plain)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_spread_of_nothing_is_nothing(distances, noise):
    field = distances.krige(np.zeros((len(distances.anchors), 3)), noise)
    np.testing.assert_array_equal(field, np.zeros((distances.partial.shape[1], 3)))


def test_calibrated_distances_are_nearly_exact_at_the_anchors(distances):
    at = distances.anchors[:, 0]
    wrong = np.abs(distances.between_partial - distances.between_full)
    left = np.abs(distances.calibrated()[:, at] - distances.between_full)
    assert wrong.mean() > 0.05  # there is something to calibrate
    assert left.mean() < 0.05 * wrong.mean() and left.max() < 0.25 * wrong.max()


def test_calibration_also_helps_between_the_anchors(distances, piece):
    truth = distances.full[:, piece.vertex_of_parent]
    before = np.abs(distances.partial - truth).mean()
    assert np.abs(distances.calibrated() - truth).mean() < 0.5 * before


def test_first_map_of_a_mesh_to_itself_is_the_identity_within_an_edge(whole):
    found = first_map(self_distances(whole, 20))
    gap = np.linalg.norm(whole.vertices[found] - whole.vertices, axis=1) / whole.mean_edge_length
    assert gap.mean() < 1.0


def test_calibration_makes_the_first_map_of_a_stretched_piece_better(
    whole, piece, stretched, distances
):
    truth = whole.vertices[piece.vertex_of_parent]

    def error(calibrate: bool) -> float:
        orientation = distances.orientation(stretched, whole)
        found = first_map(distances, orientation, calibrate=calibrate)
        gap = np.linalg.norm(whole.vertices[found] - truth, axis=1)
        return float(gap.mean() / whole.mean_edge_length)

    assert error(True) < 0.4 * error(False) < 1.0


def test_orientation_tells_the_left_half_from_the_right(bilateral):
    plane = np.flatnonzero(np.abs(bilateral.vertices[:, 0]) < 1e-12)
    chosen = sample_vertices(bilateral, 12, candidates=plane)
    distances = AnchorDistances.measure(bilateral, bilateral, np.stack([chosen, chosen], axis=1))

    def error(orientation_weight: float) -> float:
        orientation = distances.orientation(bilateral, bilateral)
        found = first_map(distances, orientation, orientation_weight=orientation_weight)
        gap = np.linalg.norm(bilateral.vertices[found] - bilateral.vertices, axis=1)
        return float(gap.mean() / bilateral.mean_edge_length)

    blind, seeing = error(0.0), error(0.15)
    assert blind > 1.5  # a good part of the surface lands on the other side
    assert seeing < 0.25 * blind


def test_looks_tell_what_distances_cannot(bilateral):
    # Anchors on the plane of symmetry, no orientation: distances fit both sides equally well.
    plane = np.flatnonzero(np.abs(bilateral.vertices[:, 0]) < 1e-12)
    chosen = sample_vertices(bilateral, 12, candidates=plane)
    distances = AnchorDistances.measure(bilateral, bilateral, np.stack([chosen, chosen], axis=1))
    side = np.sign(np.round(bilateral.vertices[:, :1], 9))

    def wrong_side(curvatures: tuple[np.ndarray, np.ndarray] | None) -> float:
        found = first_map(distances, curvatures=curvatures)
        return float((side[found] == -side)[side != 0].mean())

    assert wrong_side(None) > 0.3
    assert wrong_side((side, side)) < 0.02
    assert wrong_side((-side, side)) > 0.9


def test_distances_outweigh_looks_of_ordinary_size(whole):
    distances = self_distances(whole, 20)
    curvatures = np.random.default_rng(0).standard_normal((2, len(whole.vertices), 3))
    found = first_map(distances, curvatures=(curvatures[0], curvatures[1]))
    gap = np.linalg.norm(whole.vertices[found] - whole.vertices, axis=1) / whole.mean_edge_length
    assert gap.mean() < 1.5  # even where they are nothing but noise


def test_first_map_has_the_same_bits_for_any_number_of_threads(whole, stretched, distances):
    maps = []
    for threads in (1, 3):
        with workers(threads) as pool:
            orientation = distances.orientation(stretched, whole, pool)
            maps.append(first_map(distances, orientation, pool=pool))
    np.testing.assert_array_equal(*maps)
