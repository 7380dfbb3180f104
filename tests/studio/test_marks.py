"""Marks: what a click means, and that pairs keep who they are."""

from __future__ import annotations

import numpy as np
import pytest

from nho.errors import InputError
from nho.studio.marks import Mark, MarkHistory, Marks

A, B, C = (Mark(face, (0.2, 0.3, 0.5)) for face in (1, 2, 3))


def test_two_clicks_make_a_pair_and_a_third_begins_another() -> None:
    marks = Marks().placed("partial", A)
    assert marks.open is not None and not marks.complete
    marks = marks.placed("full", B)
    assert marks.open is None and [(p.partial, p.full) for p in marks.complete] == [(A, B)]
    marks = marks.placed("full", C)
    assert len(marks.pairs) == 2 and marks.pairs[1].partial is None and marks.pairs[1].full == C


def test_a_second_click_on_the_same_side_corrects_the_first() -> None:
    marks = Marks().placed("partial", A).placed("partial", B)
    assert [p.partial for p in marks.pairs] == [B]


def test_parked_landmarks_take_no_click_but_the_chosen_one() -> None:
    marks = Marks().with_landmarks("partial", [("nose", A), ("chin", B)])
    first, second = (pair.key for pair in marks.pairs)
    assert marks.open is None and marks.placed("full", C, second).pairs[1].full == C
    begun = marks.placed("full", C)
    assert len(begun.pairs) == 3 and begun.open == begun.pairs[2]
    assert begun.placed("partial", A).pairs[2].complete
    # A parked landmark is the partner of the pair that was begun, and names it.
    joined = begun.joined(begun.pairs[2].key, first)
    assert [(pair.name, pair.complete) for pair in joined.pairs] == [
        ("chin", False),
        ("nose", True),
    ]
    with pytest.raises(InputError, match="same shape"):
        marks.joined(first, second)
    assert marks.put(first, "absent").pairs[0].state == "absent"
    with pytest.raises(InputError):
        joined.put(begun.pairs[2].key, "parked")


def test_keys_are_not_given_again_while_others_are_there_and_names_stay_unique() -> None:
    marks = Marks().added(A, B).added(B, C).added(C, A)
    marks = marks.removed(marks.pairs[0].key).added(A, A)
    keys, names = ([getattr(p, what) for p in marks.pairs] for what in ("key", "name"))
    assert len(set(keys)) == 3 and len(set(names)) == 3
    marks = marks.renamed(keys[0], "  left \n ear ")
    assert marks.pairs[0].name == "left ear"
    with pytest.raises(InputError, match="left ear"):
        marks.renamed(keys[1], "left ear")
    with pytest.raises(InputError, match="letter"):
        marks.renamed(keys[1], "   ")


def test_landmarks_of_one_shape_join_pairs_of_the_same_name() -> None:
    marks = Marks().with_landmarks("partial", [("nose", A), ("chin", B)])
    marks = marks.with_landmarks("full", [("chin", C), ("ear", A)])
    assert [(p.name, p.partial, p.full) for p in marks.pairs] == [
        ("nose", A, None),
        ("chin", B, C),
        ("ear", None, A),
    ]
    assert [p.name for p in marks.without_side("full").pairs] == ["nose", "chin"]


def test_a_pair_that_is_gone_is_reported() -> None:
    with pytest.raises(InputError, match="deleted"):
        Marks().moved(7, "full", A)


def test_anchors_are_the_complete_pairs(whole) -> None:
    marks = Marks().added(A, B, "one").placed("partial", C)
    anchors = marks.anchors(whole, whole)
    assert anchors.names == ("one",)
    np.testing.assert_array_equal(anchors.partial.face, [A.face])
    np.testing.assert_allclose(anchors.full.barycentric, [B.barycentric])


def test_undo_and_redo_walk_over_states_and_a_change_forgets_the_future() -> None:
    a, b, c, d = Marks(), *(Marks().placed("partial", mark) for mark in (A, B, C))
    history = MarkHistory(a)
    for marks in (b, c, c):
        history.to(marks)
    assert history.undo() and history.now == b
    assert history.undo() and history.now == a and not history.undo()
    assert history.redo() and history.now == b and history.can_redo
    history.to(d)
    assert not history.can_redo and history.undo() and history.now == b
