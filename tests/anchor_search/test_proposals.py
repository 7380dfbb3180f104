"""Proposals: distinctive places, right partners, and never a mirror image."""

from __future__ import annotations

import numpy as np
import pytest

from nho.anchor_search.coarse_surface import CoarseSurface, unlikeness
from nho.anchor_search.proposals import distinctive_places, proposals
from nho.geometry.mesh import Mesh
from tests.anchor_search.conftest import at_unit_area


@pytest.fixture(scope="module")
def found(of_piece, of_whole, unlike):
    return list(proposals(of_piece, of_whole, unlike, choices=2))


def test_places_of_a_choice_are_spread_and_choices_differ(of_piece, unlike):
    first, second = distinctive_places(of_piece, unlike, choices=2)
    for places in (first, second):
        apart = of_piece.distance[np.ix_(places, places)]
        assert apart[~np.eye(len(places), dtype=bool)].min() >= 0.12
    assert not set(first) & set(second)


def test_the_best_proposal_has_the_true_partners(found, of_whole, piece):
    best = min(found, key=lambda each: each.cost)
    truth = piece.vertex_of_parent[best.anchors[:, 0]]
    assert of_whole.distance[truth, best.anchors[:, 1]].mean() < 0.04


def test_no_partner_is_given_twice(found):
    for each in found:
        assert len(np.unique(each.anchors[:, 1])) == len(each.anchors)


def test_a_second_search_looks_elsewhere(found, of_whole):
    first = found[0].anchors
    again = [each.anchors for each in found if np.array_equal(each.anchors[:, 0], first[:, 0])]
    assert max(of_whole.distance[first[:, 1], each[:, 1]].mean() for each in again) > 0.12


def test_a_mirror_image_does_not_fit(found, of_whole, piece, whole):
    # Distances, reach and relief of a mirror image are those of the piece; directions are not.
    unit = at_unit_area(piece.mesh, whole)
    mirrored = Mesh(unit.vertices * [-1, 1, 1], unit.faces[:, ::-1])
    of_mirrored = CoarseSurface.of(mirrored, piece.mesh.n_vertices)
    other = proposals(of_mirrored, of_whole, unlikeness(of_mirrored, of_whole), choices=2)
    assert min(each.cost for each in other) > 3 * min(each.cost for each in found)


def test_few_places_still_make_a_proposal():
    tiny = Mesh(
        np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0.2]]),
        np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 4], [1, 4, 3]]),
    )
    unit = at_unit_area(tiny, tiny)
    of_tiny = CoarseSurface.of(unit, 10)
    made = list(proposals(of_tiny, of_tiny, unlikeness(of_tiny, of_tiny), choices=1))
    assert made
    assert all(len(each.anchors) >= 1 for each in made)


def test_a_full_shape_with_fewer_places_than_a_set_has_partners_for_some(of_piece):
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    pyramid = Mesh(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    of_pyramid = CoarseSurface.of(at_unit_area(pyramid, pyramid), 10)
    made = list(proposals(of_piece, of_pyramid, unlikeness(of_piece, of_pyramid), choices=1))
    assert made
    assert all(each.anchors.shape == (4, 2) for each in made)


def test_given_anchors_begin_every_proposal_and_nothing_is_chosen_near_them(
    of_piece, of_whole, unlike, piece
):
    places = np.array([5, 60, 200])
    given = np.stack([places, piece.vertex_of_parent[places]], axis=1)
    made = list(proposals(of_piece, of_whole, unlike, 1, given))
    assert made
    for each in made:
        np.testing.assert_array_equal(each.anchors[:3], given)
        more = each.anchors[3:, 0]
        assert len(more) >= 5
        assert of_piece.distance[np.ix_(places, more)].min() >= 0.12


def test_given_anchors_decide_between_placements(of_piece, of_whole, unlike, piece):
    # Wrong partners: what has to agree with them is worse than what need not.
    free = min(proposals(of_piece, of_whole, unlike, 1), key=lambda each: each.cost)
    places = np.array([5, 60, 200])
    given = np.stack([places, np.roll(piece.vertex_of_parent[places], 1)], axis=1)
    bound = min(proposals(of_piece, of_whole, unlike, 1, given), key=lambda each: each.cost)
    assert bound.cost > 2 * free.cost
