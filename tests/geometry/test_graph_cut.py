"""The cheapest cut separates what is unwanted, and all that hangs on it, from the sources."""

from __future__ import annotations

import numpy as np

from nho.geometry.graph_cut import connected_after_cut, patches


def chain(count: int) -> np.ndarray:
    return np.stack([np.arange(count - 1), np.arange(1, count)], axis=1)


def test_nothing_is_cut_where_nothing_is_unwanted():
    kept = connected_after_cut(chain(6), np.ones(5), np.array([2]), np.zeros(6))
    assert kept.all()


def test_what_hangs_on_the_unwanted_is_cut_off_with_it():
    penalties = np.array([0, 0, 0, 2.0, 0, 0])
    costs = np.array([1, 1, 0.5, 0.5, 1])
    kept = connected_after_cut(chain(6), costs, np.array([0]), penalties)
    np.testing.assert_array_equal(kept, [True, True, True, False, False, False])


def test_a_penalty_below_the_cost_of_a_cut_is_paid():
    penalties = np.array([0, 0, 0, 0.5, 0, 0])
    assert connected_after_cut(chain(6), np.ones(5), np.array([0]), penalties).all()


def test_the_cut_goes_where_it_is_cheapest():
    costs = np.array([1, 0.1, 1, 1, 1])
    penalties = np.array([0, 0, 0, 0, 0, 5.0])
    kept = connected_after_cut(chain(6), costs, np.array([0]), penalties)
    np.testing.assert_array_equal(kept, [True, True, False, False, False, False])


def test_a_source_is_never_cut_off():
    penalties = np.full(3, 900.0)
    kept = connected_after_cut(chain(3), np.ones(2), np.array([1]), penalties)
    np.testing.assert_array_equal(kept, [False, True, False])


def test_a_negative_penalty_is_paid_for_cutting_off():
    costs, penalties = np.array([1, 0.1, 1, 1, 1]), np.array([0, 0, 0.2, 0, 0, 0])
    assert not connected_after_cut(chain(6), costs, np.array([0]), penalties)[2:].any()
    penalties[5] = -0.3
    assert connected_after_cut(chain(6), costs, np.array([0]), penalties).all()


def test_a_patch_is_what_is_connected_among_the_vertices_asked_for():
    patch = patches(chain(6), np.array([True, True, False, True, True, False]))
    assert patch[0] == patch[1] and patch[3] == patch[4]
    assert len(np.unique(patch)) == 4


def test_a_leak_through_a_band_is_closed():
    """A wall across a grid with one hole: cheaper to close the hole than to go round the wall."""
    side = 9
    index = np.arange(side * side).reshape(side, side)
    across = np.stack([index[:, :-1].ravel(), index[:, 1:].ravel()], axis=1)
    down = np.stack([index[:-1].ravel(), index[1:].ravel()], axis=1)
    edges = np.concatenate([across, down])
    wall = np.zeros((side, side))
    wall[4, :] = 1
    wall[4, 3] = 0  # the leak
    penalties = wall.ravel()
    costs = 1 - 0.7 * np.maximum(penalties[edges[:, 0]], penalties[edges[:, 1]])
    kept = connected_after_cut(edges, costs, index[0], penalties).reshape(side, side)
    assert kept[:4].all() and not kept[5:].any()
