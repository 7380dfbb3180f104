"""Few anchors in doubt: anchors found without them are asked, and taken only if they agree."""

from __future__ import annotations

import numpy as np
import pytest

import nho
from nho.geometry.sampling import sample_vertices
from nho.problem.anchors import Anchors

FAST = nho.preset("default").replace(rounds=0, threads=1)
CHANCE = "nho.recipes.guided.recipe.chance_of_right_place"
FOUND = "nho.pipeline.second_opinion.found_rivals"


def pairs(piece, count: int) -> np.ndarray:
    chosen = sample_vertices(piece.mesh, count)
    return np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)


def proposing(monkeypatch, anchors: np.ndarray) -> list[int]:
    """Let the search find these anchors; the list that comes back counts how often it is asked."""
    asked = []

    def found(source, partial, full, run):
        asked.append(1)
        return [Anchors.from_vertices(partial, full, anchors)]

    monkeypatch.setattr(FOUND, found)
    return asked


def chances(monkeypatch, *values: float) -> None:
    left = list(values)
    monkeypatch.setattr(CHANCE, lambda signals: left.pop(0))


def test_found_anchors_that_agree_and_lie_better_are_taken(whole, piece, monkeypatch):
    asked = proposing(monkeypatch, pairs(piece, 25))
    chances(monkeypatch, 0.1, 0.9)
    few = pairs(piece, 4)
    result = nho.match(piece.mesh, whole, few, FAST)
    assert asked and any("4 anchors given were too few" in text for text in result.notes)
    np.testing.assert_array_equal(result.anchors, few)
    assert result.status == "ok" and result.suspect_anchors == ()


def test_found_anchors_that_contradict_the_given_ones_are_not(whole, piece, monkeypatch):
    elsewhere = pairs(piece, 25)
    elsewhere[:, 1] = np.random.default_rng(0).permutation(elsewhere[:, 1])
    proposing(monkeypatch, elsewhere)
    chances(monkeypatch, 0.1, 0.9)
    result = nho.match(piece.mesh, whole, pairs(piece, 4), FAST)
    assert any("without the given anchors" in text for text in result.warnings)
    chances(monkeypatch, 1.0)
    plain = nho.match(piece.mesh, whole, pairs(piece, 4), FAST)
    np.testing.assert_array_equal(result.vertex_map, plain.vertex_map)


def test_found_anchors_that_lie_worse_are_not_taken(whole, piece, monkeypatch):
    proposing(monkeypatch, pairs(piece, 25))
    chances(monkeypatch, 0.3, 0.2)
    result = nho.match(piece.mesh, whole, pairs(piece, 4), FAST)
    assert not any("too few" in text for text in result.notes)


@pytest.mark.parametrize(("count", "chance"), [(4, 0.6), (13, 0.1)])
def test_nothing_is_asked_where_all_is_well_or_anchors_are_many(
    whole, piece, monkeypatch, count, chance
):
    asked = proposing(monkeypatch, pairs(piece, 25))
    monkeypatch.setattr(CHANCE, lambda signals: chance)
    nho.match(piece.mesh, whole, pairs(piece, count), FAST)
    assert not asked
