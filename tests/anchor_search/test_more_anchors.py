"""Further anchors beside a few that are given."""

from __future__ import annotations

import numpy as np
import pytest

from nho.anchor_search.search import more_anchors
from nho.geometry.sampling import sample_vertices
from nho.problem.preparation import Problem, prepare
from nho.recipes.guided.comparable import normalise_pair
from nho.runtime.run import Run
from nho.settings import GuidedRecipe


@pytest.fixture(scope="module", params=[1.0, 1000.0], ids="unit {}".format)
def found(request, piece, whole) -> tuple[Problem, np.ndarray]:
    """The problem with three anchors, and all that are found beside them."""
    places = sample_vertices(piece.mesh, 3)
    given = np.stack([places, piece.vertex_of_parent[places]], axis=1)
    problem = prepare(piece.mesh.scaled(request.param), whole, given)
    return problem, more_anchors(normalise_pair(problem, GuidedRecipe()), Run())


def test_the_given_ones_come_first(found):
    problem, anchors = found
    assert len(anchors) == 25
    np.testing.assert_array_equal(anchors[:3], problem.anchors)
    assert len(np.unique(anchors[:, 0])) == 25


def test_the_others_are_right_in_any_unit(found, piece, whole):
    problem, anchors = found
    truth = piece.vertex_of_parent[problem.partial.given_of_solver[anchors[:, 0]]]
    partner = problem.full.given_of_solver[anchors[:, 1]]
    away = np.linalg.norm(whole.vertices[partner] - whole.vertices[truth], axis=1)
    assert away.max() < 0.03 * np.sqrt(whole.area)
