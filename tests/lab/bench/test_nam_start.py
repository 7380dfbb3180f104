"""Study `nam-start`: both starts of NAM on the same pairs, and which has the lower error."""

from __future__ import annotations

import pytest

from nho.lab.bench.datasets.family import Family
from nho.lab.bench.studies import STUDIES, StudyRequest
from nho.operator.refinement import stages
from tests.lab.bench.test_bench_studies import made_up

STUDY = STUDIES["nam-start"]


@pytest.fixture
def asked(monkeypatch) -> StudyRequest:
    """Six pairs each of two families, as far as a plan looks at them."""
    monkeypatch.setattr(Family, "names", lambda family, folder: [f"pair {n}" for n in range(6)])
    return StudyRequest(None, ("pfaust_m", "shrec16_cuts"))


def test_nam_starts_at_20_or_at_as_many_dimensions_as_there_are_anchors(asked):
    tasks = STUDY.tasks(asked)
    assert len(tasks) == 12 * 3 * 2 and {task.method for task in tasks} == {"paper"}
    for task in tasks:
        dimensions = stages(task.contender.settings.recipe, 100)
        early = len(task.changes) == 2
        assert dimensions[0] == (task.conditions.anchors if early else 20)
        assert dimensions[-1] == 100
        assert task.contender.settings.solve_vertices == 2000


def test_runs_that_start_at_20_are_those_of_the_anchor_budget(asked):
    budget = STUDIES["budget"].tasks(
        StudyRequest(None, asked.families, methods=("paper",), vertices=2000)
    )
    known = [task.keys for task in budget]
    late = [task for task in STUDY.tasks(asked) if len(task.changes) == 1]
    assert all(task.keys in known for task in late)


def test_starts_are_compared_pair_by_pair(asked, tmp_path):
    def error(task) -> float:
        of_pair = 10.0 + int(task.pair[-1]) + 5 * (task.family == "pfaust_m")
        return of_pair - 2 * (len(task.changes) == 2 and task.conditions.anchors == 5)

    rows = [made_up(task, error(task)) for task in STUDY.tasks(asked)]
    (table,) = STUDY.findings(asked, rows, tmp_path).tables
    five, _, fifteen = table.sections
    assert [cell.value for cell in dict(five.rows)["all of them"]] == pytest.approx(
        [15.0, 13.0, 17.73]
    )
    assert [cell.value for cell in dict(fifteen.rows)["all of them"]] == pytest.approx(
        [15.0, 15.0, 11.43]
    )
    assert "That starting at 5 lowers the error holds here" in table.note
    assert "That starting at 15 lowers the error is open here" in table.note
    assert "lowers the error of a pair holds here (error ×100 -0.67" in table.note
