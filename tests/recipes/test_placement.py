"""The chance that the partial shape lies in the right place as a whole."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.evaluation.sample import load_sample
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.recipes.guided.distance_evidence import AnchorDistances
from nho.recipes.guided.placement import (
    DOUBTFUL,
    anchor_signals,
    chance_of_right_place,
    doubts_of,
)

FAST = nho.preset("default").replace(rounds=0, threads=1, solve_vertices=1000)
CHANCE = "nho.recipes.guided.recipe.chance_of_right_place"


@pytest.fixture(scope="module")
def sample():
    return load_sample()


@pytest.fixture(scope="module")
def anchors(sample):
    own = sample_vertices(sample.partial, 15)
    return np.stack([own, sample.truth_vertex[own]], axis=1)


@pytest.fixture(scope="module")
def right(sample, anchors):
    return nho.match(sample.partial, sample.full, anchors, FAST)


@pytest.fixture(scope="module")
def wrong(sample, anchors):
    own, other = anchors.T
    shuffled = np.stack([own, np.random.default_rng(0).permutation(other)], axis=1)
    return nho.match(sample.partial, sample.full, shuffled, FAST)


def test_a_shape_in_the_right_place_is_not_doubted(right):
    assert right.status == "ok" and right.summary()["mean_confidence"] > 0.7
    assert not any("wrong place" in warning for warning in right.warnings)


def test_shuffled_anchors_are_doubted_and_nothing_is_trusted(wrong):
    assert wrong.status.startswith(DOUBTFUL)
    assert wrong.summary()["mean_confidence"] < 0.05
    first = next(text for text in wrong.warnings if "wrong place" in text)
    assert "check the anchors" in first and "strained by" in first


def test_confidence_is_that_of_the_match_times_that_of_the_place(
    sample, anchors, right, monkeypatch
):
    monkeypatch.setattr(CHANCE, lambda found: 1.0)
    certain = nho.match(sample.partial, sample.full, anchors, FAST)
    monkeypatch.setattr(CHANCE, lambda found: 0.75)
    less = nho.match(sample.partial, sample.full, anchors, FAST)
    np.testing.assert_allclose(less.confidence, 0.75 * certain.confidence)
    assert (less.vertex_map == right.vertex_map).all()


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_does_not_matter(sample, wrong, factor):
    meshes = [Mesh(factor * of.vertices, of.faces) for of in (sample.partial, sample.full)]
    again = nho.match(*meshes, wrong.anchors, FAST)
    assert again.status == wrong.status
    np.testing.assert_allclose(again.confidence, wrong.confidence, atol=0.02)


@pytest.mark.parametrize("of_anchors", [[], [np.log(0.1), 0.6]], ids=["found", "marked"])
def test_more_strain_and_less_likeness_never_raise_the_chance(of_anchors):
    strains, unlikes = np.log([0.02, 0.1, 0.3, 1.0]), np.log([0.02, 0.1, 0.5, 2.0])
    table = np.array(
        [[chance_of_right_place(np.array([s, u, *of_anchors])) for u in unlikes] for s in strains]
    )
    assert (np.diff(table, axis=0) <= 0).all() and (np.diff(table, axis=1) <= 0).all()
    assert table[0, 0] > 0.95 and table[-1, -1] < 0.05


def test_marked_anchors_that_disagree_or_run_the_other_way_round_lower_the_chance():
    chances = [
        chance_of_right_place(np.array([np.log(0.4), np.log(0.5), np.log(differ), alike]))
        for differ, alike in ((0.05, 0.8), (0.5, 0.8), (0.05, -0.8))
    ]
    assert chances[0] > 0.8 > 0.5 > chances[1] > chances[2]


def test_anchors_tell_whether_they_agree_and_which_way_round_they_are(sample, anchors):
    own, other = anchors.T
    full = sample.full
    mirrored = Mesh(full.vertices * [-1, 1, 1], full.faces[:, ::-1])  # its outside is outside
    found = {}
    for name, shape, partners in (
        ("right", full, other),
        ("mirrored", mirrored, other),
        ("shuffled", full, np.random.default_rng(0).permutation(other)),
    ):
        pairs = np.stack([own, partners], axis=1)
        distances = AnchorDistances.measure(sample.partial, shape, pairs)
        orientation = distances.orientation(sample.partial, shape)
        found[name] = anchor_signals(distances, orientation)
    assert found["right"][1] > 0.4 and found["mirrored"][1] < -0.4
    assert np.exp(found["right"][0]) < 0.2 < 0.4 < np.exp(found["shuffled"][0])
    assert found["mirrored"][0] == pytest.approx(found["right"][0])


def test_a_doubt_names_mirrored_anchors():
    found = np.array([np.log(0.5), np.log(0.5), np.log(0.1), -0.6])
    (text,) = doubts_of(found)
    assert "as if mirrored" in text and "differ by 10 %" in text
    found[3] = 0.6
    assert all("mirrored" not in text for text in doubts_of(found))


def test_a_doubt_is_said_where_wrong_is_likelier_than_right():
    for strain in np.log([0.05, 0.15, 0.25, 0.5]):
        found = np.array([strain, np.log(0.2)])
        assert bool(doubts_of(found)) == (chance_of_right_place(found) < 0.5)
