"""Training pairs: seeded, true, and free of where a shape lies."""

from __future__ import annotations

import numpy as np
import pytest

from nho.errors import InputError
from nho.evaluation.metrics import geodesic_errors
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.learned.generated_shapes import KINDS
from nho.learned.mesh_operators import LOCAL_CHANNELS, local_shape, operators
from nho.learned.training_pairs import held_out, training_pair

SIZE = (250, 350)


@pytest.fixture(scope="module")
def pairs():
    return [training_pair(5, number, SIZE) for number in range(6)]


@pytest.mark.slow
def test_a_pair_depends_on_its_seed_and_number_alone(pairs):
    again = training_pair(5, 3, SIZE)
    assert again.partial.digest() == pairs[3].partial.digest()
    assert again.full.digest() == pairs[3].full.digest()
    assert np.array_equal(again.vertex, pairs[3].vertex)
    assert np.array_equal(again.region, pairs[3].region)
    assert training_pair(6, 3, SIZE).full.digest() != again.full.digest()


def test_held_out_pairs_are_never_trained_on(pairs):
    assert not {p.full.digest() for p in held_out(5, 2, SIZE)} & {p.full.digest() for p in pairs}


def test_full_shapes_have_unit_area_and_partial_ones_less(pairs):
    for pair in pairs:
        assert pair.full.area == pytest.approx(1)
        assert 0.05 < pair.partial.area < 1
        assert pair.region.sum() < len(pair.region)


def test_the_truth_keeps_distances_up_to_the_bend():
    # Whatever the two meshings are, the way along the uncut surface between two points is about
    # the same; a truth that is shuffled, mirrored or on the wrong side of a limb is far off.
    for number in range(3):
        pair = training_pair(8, number, SIZE)
        rows = np.linspace(0, pair.partial.n_vertices - 1, 12).astype(int)
        here = distances_from(edge_graph(pair.partial), rows)[:, rows]
        goal = pair.vertex[rows]
        there = distances_from(edge_graph(pair.full), goal)[:, goal]
        # The cut can only lengthen ways; bends and edges account for the rest.
        assert np.median(np.abs(here - there)) < 0.12
        assert (there - here).max() < 0.3


def test_neighbours_stay_neighbours_under_the_truth(pairs):
    for pair in pairs:
        ends = pair.vertex[pair.partial.edges]
        apart = geodesic_errors(
            pair.full,
            SurfacePoints.at_vertices(pair.full, ends[:, 0]),
            SurfacePoints.at_vertices(pair.full, ends[:, 1]),
        )
        assert np.percentile(apart, 99) < 6 * pair.full.mean_edge_length


def test_point_and_vertex_of_the_truth_agree(pairs):
    for pair in pairs:
        gap = geodesic_errors(
            pair.full, pair.truth, SurfacePoints.at_vertices(pair.full, pair.vertex)
        )
        assert gap.max() < 2.5 * pair.full.edge_lengths.max()


def test_the_region_is_where_the_partial_vertices_go(pairs):
    for pair in pairs:
        reach = distances_from(edge_graph(pair.full), np.unique(pair.vertex)).min(axis=0)
        inside = reach[pair.region]
        assert np.percentile(inside, 95) < 3 * pair.full.mean_edge_length
        assert reach[~pair.region].max() > inside.max() / 2
        assert pair.full.vertex_areas[pair.region].sum() == pytest.approx(
            pair.partial.area, abs=0.15
        )


def test_every_kind_of_shape_is_closed_and_in_one_piece():
    for name, (make, _) in KINDS.items():
        for mesh in (make(np.random.default_rng(3)).posed, make(np.random.default_rng(3)).full):
            assert not mesh.boundary_vertices.any(), name
            assert mesh.components.max() == 0, name
            # Seen from outside: the enclosed volume is positive.
            corners = mesh.vertices[mesh.faces]
            assert (
                np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum()
                > 0
            )


def test_negative_numbers_are_refused():
    with pytest.raises(InputError, match="from 0 on"):
        training_pair(-1, 0)


def test_local_shape_does_not_change_when_a_surface_is_moved_or_scaled(pairs):
    mesh = pairs[0].partial
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    turn[:, 0] *= np.linalg.det(turn)
    moved = Mesh(7 * mesh.vertices @ turn + [1, 2, 3], mesh.faces)
    plain = local_shape(mesh, operators(mesh, 60), 1.0)
    assert plain.shape == (mesh.n_vertices, LOCAL_CHANNELS)
    assert np.abs(plain - local_shape(moved, operators(moved, 60), 49.0)).max() < 1e-6


def test_local_shape_tells_bumps_from_dents():
    # A sphere is convex everywhere; turned inside out, concave: the first channel says which.
    from nho.geometry.synthetic import sphere

    ball = sphere(3).scaled(1 / np.sqrt(4 * np.pi))
    hollow = Mesh(ball.vertices, ball.faces[:, ::-1])
    convex, concave = (local_shape(m, operators(m, 60), ball.area)[:, 0] for m in (ball, hollow))
    assert convex.min() > concave.max() + 1
