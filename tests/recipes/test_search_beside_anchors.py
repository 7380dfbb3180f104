"""Few anchors: others are searched for where the surface looks misplaced, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.sampling import sample_vertices
from nho.problem.preparation import prepare
from nho.recipes.guided import recipe, second_looks
from nho.runtime.run import Run
from nho.settings import GuidedRecipe, Settings

LOOKING = GuidedRecipe(rounds=0, look_again_below=2.0)


def pairs(piece, count: int) -> np.ndarray:
    places = sample_vertices(piece.mesh, count)
    return np.stack([places, piece.vertex_of_parent[places]], axis=1)


@pytest.fixture
def solved(whole, piece, monkeypatch):
    """Solve by 4 anchors, or as many; what came out, and what pairs a search was asked for."""

    def solve(doubtful: bool, count: int = 4, knobs: GuidedRecipe = LOOKING):
        monkeypatch.setattr(second_looks, "doubtful_by_itself", lambda score: doubtful)
        many, few = (prepare(piece.mesh, whole, pairs(piece, number)) for number in (25, count))
        asked = []

        def propose(pair, run):
            asked.append(pair)
            return many.anchors

        solution = recipe.solve(few, Run(Settings(recipe=knobs)), propose)
        return solution, asked

    return solve


def test_a_pose_in_doubt_is_bent_by_what_a_search_finds_as_well(solved):
    solution, asked = solved(doubtful=True)
    assert len(asked) == 1
    assert len(solution.curves["looks"]) == 4  # the first pose, two by own anchors, and that one


@pytest.mark.parametrize(
    ("doubtful", "count", "knobs"),
    [
        (False, 4, LOOKING),  # nothing to mend
        (True, 13, LOOKING),  # many anchors
        (True, 4, LOOKING.replace(relief=False)),  # nothing to judge by
        (True, 4, LOOKING.replace(own_anchors=0)),  # no anchors of its own wanted
        (True, 4, LOOKING.replace(look_again_below=0.0)),  # no second looks at all
    ],
)
def test_nothing_is_searched_for_otherwise(solved, doubtful, count, knobs):
    assert not solved(doubtful, count, knobs)[1]
