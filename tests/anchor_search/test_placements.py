"""Placements: right anchors score better than wrong ones, and good places make better anchors."""

from __future__ import annotations

import numpy as np
import pytest

from nho.anchor_search.placements import Placer
from nho.geometry.sampling import sample_vertices


@pytest.fixture(scope="module")
def placer(of_piece, of_whole, unlike) -> Placer:
    return Placer(of_piece, of_whole, unlike)


@pytest.fixture(scope="module")
def right(placer, of_piece, piece):
    places = sample_vertices(of_piece.mesh, 8)
    return placer.place(np.stack([places, piece.vertex_of_parent[places]], axis=1))


def test_right_anchors_place_the_piece_where_it_was_cut(right, of_whole, piece):
    assert of_whole.distance[piece.vertex_of_parent, right.image].mean() < 0.01


def test_wrong_anchors_score_worse(right, placer, of_whole):
    anchors = right.anchors.copy()
    anchors[:, 1] = np.roll(anchors[:, 1], 1)
    wrong = placer.place(anchors)
    assert wrong.score > 3 * right.score
    assert placer.between(right, wrong) > 0.1
    assert placer.between(right, right) == 0


def test_anchors_that_are_a_little_off_are_mended(placer, right, of_whole, piece):
    anchors = right.anchors.copy()
    ring = np.abs(of_whole.distance[anchors[:, 1]] - 0.12)
    anchors[:, 1] = ring.argmin(axis=1)
    spoilt = placer.place(anchors)
    mended = placer.improved(spoilt, count=15)
    before, after = (
        of_whole.distance[piece.vertex_of_parent, each.image].mean() for each in (spoilt, mended)
    )
    assert mended.score < spoilt.score
    assert after < 0.8 * before


def test_improving_never_makes_it_worse(placer, right):
    assert placer.improved(right, count=10).score <= right.score


def test_good_places_are_as_many_as_asked_for_and_off_the_rim(placer, right, of_piece):
    anchors = placer.good_places(right, 12)
    assert len(np.unique(anchors[:, 0])) == 12
    assert of_piece.rim[anchors[:, 0]].min() >= 0.03
    np.testing.assert_array_equal(anchors[:, 1], right.image[anchors[:, 0]])


def test_a_piece_with_given_anchors_everywhere_has_no_place_for_others(
    right, of_piece, of_whole, unlike, piece
):
    everywhere = np.arange(of_piece.mesh.n_vertices)
    given = np.stack([everywhere, piece.vertex_of_parent], axis=1)
    placer = Placer(of_piece, of_whole, unlike, given)
    np.testing.assert_array_equal(placer.good_places(right, len(given) + 5), given)


def test_given_anchors_stay_and_nothing_near_them_becomes_another(
    right, of_piece, of_whole, unlike
):
    given = right.anchors[:3]
    placer = Placer(of_piece, of_whole, unlike, given)
    anchors = placer.good_places(right, 12)
    assert len(anchors) == 12
    np.testing.assert_array_equal(anchors[:3], given)
    assert of_piece.distance[np.ix_(given[:, 0], anchors[3:, 0])].min() > 0.06
    np.testing.assert_array_equal(placer.improved(right, 12).anchors[:3], given)
