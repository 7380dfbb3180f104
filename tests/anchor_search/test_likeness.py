"""Partners look alike, cut or not; strangers mostly do not."""

from __future__ import annotations

import numpy as np


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
    from dataclasses import replace

    from nho.anchor_search.likeness import unlikeness

    at_rim = of_piece.rim == 0
    assert at_rim.any()
    base = unlikeness(of_piece, of_whole)
    smaller = unlikeness(replace(of_piece, reach=of_piece.reach * 0.5), of_whole)
    larger = unlikeness(replace(of_piece, reach=of_piece.reach * 3.0), of_whole)
    assert (smaller[at_rim] <= base[at_rim]).all()
    assert (larger[at_rim] > base[at_rim] + 1).mean() > 0.9
