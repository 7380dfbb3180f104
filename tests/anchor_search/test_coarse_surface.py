"""What is measured is kept by moving a surface, and by cutting it as far as it can be.

Partners look alike, cut or not; strangers mostly do not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from nho.anchor_search.coarse_surface import RADII, CoarseSurface, unlikeness
from nho.geometry.mesh import Mesh
from tests.anchor_search.conftest import at_unit_area


def test_a_closed_surface_has_no_rim_and_a_cut_one_does(of_whole, of_piece, piece):
    assert np.isinf(of_whole.rim).all()
    assert (of_piece.rim[piece.mesh.boundary_vertices] == 0).all()
    assert of_piece.rim.max() > 0.2


def test_the_area_within_reach_grows_with_the_radius_to_that_of_a_disc_and_beyond(of_whole):
    assert (np.diff(of_whole.reach, axis=1) > 0).all()
    flat = np.pi * RADII[1] ** 2
    assert np.abs(of_whole.reach[:, 1].mean() / flat - 1) < 0.1


def test_a_cut_leaves_what_is_nearer_than_the_rim(of_whole, of_piece, piece):
    for column, radius in enumerate(RADII):
        inner = of_piece.rim > radius + of_piece.mesh.mean_edge_length
        if inner.any():
            before = of_whole.reach[piece.vertex_of_parent[inner], column]
            # The edge of the reach is as soft as a mesh is coarse, a little softer for one of them.
            np.testing.assert_allclose(of_piece.reach[inner, column], before, rtol=0.02)


def test_directions_lead_straight_away_from_the_other_place(of_whole):
    # On the way from a place, the distance to it grows by the step along its direction.
    mesh, first = of_whole.mesh, 0
    start, end = mesh.edges.T
    growth = np.abs(of_whole.distance[first, end] - of_whole.distance[first, start])
    assert growth.max() <= mesh.edge_lengths.max() * (1 + 1e-9)
    lengths = np.abs(np.delete(of_whole.direction[first], first))
    np.testing.assert_allclose(lengths, 1, atol=1e-5)


def test_flipping_a_surface_mirrors_directions_and_keeps_distances(whole, of_whole):
    unit = at_unit_area(whole, whole)
    over = CoarseSurface.of(Mesh(unit.vertices, unit.faces[:, ::-1]), whole.n_vertices)
    np.testing.assert_allclose(over.distance, of_whole.distance)
    np.testing.assert_allclose(over.reach, of_whole.reach)
    # Angles between directions, which no frame changes, turn the other way round.
    at, one, other = 10, 200, 400
    turn = of_whole.direction[one, at] * of_whole.direction[other, at].conj()
    turned = over.direction[one, at] * over.direction[other, at].conj()
    assert abs(turn.imag) > 0.2
    np.testing.assert_allclose(turned, turn.conj(), atol=1e-4)


def test_measures_flipped_are_those_of_the_flipped_surface(whole, of_whole):
    unit = at_unit_area(whole, whole)
    over = CoarseSurface.of(Mesh(unit.vertices, unit.faces[:, ::-1]), whole.n_vertices)
    turned = of_whole.flipped()
    np.testing.assert_array_equal(turned.mesh.faces, over.mesh.faces)
    np.testing.assert_allclose(turned.relief, over.relief, atol=1e-9)
    assert of_whole.bulge > 0 > over.bulge


def test_a_rotated_surface_has_the_same_measures(whole, of_whole):
    turn = Rotation.from_rotvec([0.3, -1.2, 0.7]).as_matrix()
    unit = at_unit_area(whole, whole)
    turned = CoarseSurface.of(Mesh(unit.vertices @ turn.T, unit.faces), whole.n_vertices)
    np.testing.assert_allclose(turned.distance, of_whole.distance, atol=1e-9)
    np.testing.assert_allclose(turned.relief, of_whole.relief, atol=1e-6)
    at, one, other = 10, 200, 400
    np.testing.assert_allclose(
        turned.direction[one, at] * turned.direction[other, at].conj(),
        of_whole.direction[one, at] * of_whole.direction[other, at].conj(),
        atol=1e-4,
    )


def test_a_fine_mesh_is_measured_at_few_of_its_own_vertices(whole):
    unit = at_unit_area(whole, whole)
    few = CoarseSurface.of(unit, 200)
    assert 150 < len(few.vertex) < 260
    np.testing.assert_array_equal(few.mesh.vertices, unit.vertices[few.vertex])


def test_a_cut_takes_from_a_reach_that_it_crosses(of_whole, of_piece, piece):
    at_rim = of_piece.rim == 0
    before = of_whole.reach[piece.vertex_of_parent[at_rim]]
    assert (of_piece.reach[at_rim] < 0.8 * before).all()


def test_places_far_from_the_cut_are_exactly_like_themselves(of_piece, unlike, piece):
    own = unlike[np.arange(len(unlike)), piece.vertex_of_parent]
    # Relief is smoothed over 0.1, so it feels the cut a little farther away.
    inner = of_piece.rim > 0.3
    assert inner.sum() > 50
    assert own[inner].max() < 0.05
    assert np.median(own) < 0.2


def test_a_partner_is_among_the_first_percents_of_all_places(unlike, piece):
    own = unlike[np.arange(len(unlike)), piece.vertex_of_parent]
    rank = (unlike < own[:, None]).mean(axis=1)
    assert np.median(rank) < 0.01
    assert np.quantile(rank, 0.9) < 0.1


def test_a_cut_may_take_from_the_reach_of_a_place_but_not_add_to_it(of_piece, of_whole):
    at_rim = of_piece.rim == 0
    assert at_rim.any()
    base = unlikeness(of_piece, of_whole)
    smaller = unlikeness(replace(of_piece, reach=of_piece.reach * 0.5), of_whole)
    larger = unlikeness(replace(of_piece, reach=of_piece.reach * 3.0), of_whole)
    assert (smaller[at_rim] <= base[at_rim]).all()
    assert (larger[at_rim] > base[at_rim] + 1).mean() > 0.9
