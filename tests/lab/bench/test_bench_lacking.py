"""A full shape without a part: what lay there has no partner, and the rest keeps its truth."""

from __future__ import annotations

import numpy as np
import pytest

from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.datasets.family import FOREIGN, LACKING
from nho.lab.bench.studies import STUDIES, StudyRequest


@pytest.fixture(scope="module")
def pairs():
    return [FAMILIES[name].load(None, "body-plane") for name in ("synthetic", "synthetic_lacking")]


def test_a_quarter_of_the_region_is_gone(pairs):
    whole, lacking = pairs
    areas = [pair.full.vertex_areas[pair.truth.region].sum() for pair in pairs]
    assert 0.6 < areas[1] / areas[0] < 0.8
    assert lacking.full.n_vertices < whole.full.n_vertices


def test_what_lay_there_has_no_partner_and_the_others_keep_theirs(pairs):
    whole, lacking = pairs
    without, known = lacking.truth.unmatched, whole.truth.points.face >= 0
    assert without is not None and 0.1 < without[known].mean() < 0.5
    np.testing.assert_array_equal((lacking.truth.points.face >= 0) | without, known)
    both = np.flatnonzero(lacking.truth.points.face >= 0)
    before = whole.truth.points[both].positions(whole.full)
    after = lacking.truth.points[both].positions(lacking.full)
    away = np.linalg.norm(before - after, axis=1)
    assert np.median(away) == 0 and away.max() < 2 * whole.full.mean_edge_length


def test_the_study_of_overlap_sees_what_lacks_partners_and_what_lacks_none():
    request = StudyRequest(None, ("synthetic",), quick=True)
    tasks = STUDIES["overlap"].tasks(request)
    without = {LACKING["synthetic"], FOREIGN["synthetic"]}
    coarse = {each for task in tasks for each in task.changes if "solve_vertices" in each}
    assert {task.family for task in tasks} == {*without, "synthetic"}
    for changes, families in (((), {*without, "synthetic"}), (("overlap=false",), without)):
        seen = {task.family for task in tasks if {*task.changes} - coarse == {*changes}}
        assert seen == families
