"""The fit of the chance that a part lies where it belongs."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.synthetic import sphere
from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.fit_placement import (
    Trial,
    area_under_curve,
    cases,
    fitted,
    found_cases,
    judged,
    mirrored,
)


def trials(noise: float) -> list[Trial]:
    random = np.random.default_rng(0)
    found = []
    for right in (True, False):
        for _ in range(40):
            signals = np.log([0.15, 0.1] if right else [0.4, 0.5]) + noise * random.normal(size=2)
            found.append(Trial("f", "right" if right else "shifted", signals, right))
    return found


def test_the_model_tells_right_from_wrong_and_is_no_surer_than_it_should_be():
    for noise, least in ((0.3, 0.95), (2.0, 0.6)):
        some = trials(noise)
        model = fitted(some)
        scores = np.array([np.append(one.signals, 1.0) @ model for one in some])
        right = np.array([one.right for one in some])
        assert area_under_curve(scores, right) > least and (model[:2] < 0).all()
        assert (1 / (1 + np.exp(-scores)) > 0.5)[right].mean() > least - 0.05


def test_the_area_under_the_curve_is_the_share_of_pairs_in_order():
    right = np.array([True, False, True, False])
    assert area_under_curve(np.array([3.0, 1, 2, 0]), right) == 1
    assert area_under_curve(np.array([3.0, 4, 2, 0]), right) == 0.5
    assert area_under_curve(np.zeros(4), right) == 0.5


def test_the_table_counts_what_is_doubted_and_what_is_believed():
    text = judged(trials(0.01), np.array([-10.0, 0.0, 10 * np.log(0.25)]))
    assert "| right | 40 | 40 | 0.99 | 0 |" in text and "| shifted | 40 | 0 | 0.01 | 40 |" in text
    assert "area under the curve 1.000" in text and "wrong and believed 0 of 40" in text


def test_a_symmetric_shape_has_partners_across_its_plane_and_others_have_none():
    ball = sphere(2)
    partners = mirrored(ball)
    assert partners is not None and (partners[partners] == np.arange(ball.n_vertices)).all()
    fine = sphere(5)
    horns = np.array([[1, 0, 0], [-0.4, 0.9, 0.1], [0.2, -0.5, 0.8], [0.1, 0.6, 0.8]])
    along = fine.vertices @ (horns / np.linalg.norm(horns, axis=1, keepdims=True)).T
    longer = 1 + np.exp(5 * (along - 1)) @ [3, 1.5, 2.2, 4]  # horns of different lengths
    assert mirrored(fine.moved(fine.vertices * longer[:, None])) is None


@pytest.mark.slow
def test_found_cases_are_placements_of_a_search_and_a_foreign_one():
    family = FAMILIES["synthetic"]
    pair, other = (family.load(None, name) for name in family.names(None)[:2])
    found = list(found_cases(pair, other.full))
    names = [name for name, _, _ in found]
    assert names[0] == "found" and names[-1] == "foreign" and 2 <= len(names) <= 4
    for name, full, anchors in found:
        assert (full is other.full) == (name == "foreign") and len(anchors) > 3


@pytest.mark.parametrize("case", ["right", "shifted", "shuffled", "foreign"])
def test_wrong_cases_have_the_same_partial_vertices_and_other_partners(case):
    family = FAMILIES["synthetic"]
    pair, other = (family.load(None, name) for name in family.names(None)[:2])
    for name, full, anchors in cases(pair, other.full):
        if name == case:
            right = np.asarray(pair.anchors(len(anchors)))
            np.testing.assert_array_equal(np.asarray(anchors)[:, 0], right[:, 0])
            assert (full is other.full) == (case == "foreign")
            assert (np.asarray(anchors)[:, 1] == right[:, 1]).all() == (case == "right")
