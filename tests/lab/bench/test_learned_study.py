"""Study `learned`: which networks are measured, and what is said where there are none."""

from __future__ import annotations

import pytest

from nho.lab.bench.datasets.family import Family
from nho.lab.bench.studies import STUDIES, StudyRequest, learned
from tests.lab.bench.test_bench_studies import made_up

STUDY = STUDIES["learned"]


@pytest.fixture
def asked(tmp_path, monkeypatch) -> StudyRequest:
    """Six cuts and all published weights, as far as a plan looks at them."""
    monkeypatch.setattr(Family, "names", lambda family, folder: [f"cut {n}" for n in range(6)])
    (tmp_path / "weights").mkdir()
    for name in learned.WEIGHTS.values():
        (tmp_path / "weights" / name).touch()
    return StudyRequest(tmp_path, ("pfaust_m", "shrec16_cuts"))


def test_every_network_runs_on_the_cuts_with_its_own_weights_and_paper_beside_it(asked):
    tasks = STUDY.tasks(asked)
    assert {task.family for task in tasks} == {"shrec16_cuts"}
    weights = {task.method: task.changes for task in tasks}
    assert weights.pop("paper") == ()
    assert {method: changes[0].rpartition("/")[2] for method, changes in weights.items()} == (
        learned.WEIGHTS
    )
    assert len(tasks) == 6 * (len(learned.WEIGHTS) + 1)


def test_the_table_has_printed_figures_of_each_and_judges_the_claim(asked, tmp_path):
    rows = [made_up(task, error=9 if task.method == "paper" else 3) for task in STUDY.tasks(asked)]
    (table,) = STUDY.findings(asked, rows, tmp_path).tables
    ours, theirs = (dict(section.rows) for section in table.sections)
    assert list(ours) == [*learned.WEIGHTS, "paper"] and len(theirs) == len(ours)
    assert theirs["DPFM + ZoomOut"][-1].value == 2.17 and theirs["NHO (DPFM)"][-1].value == 3.29
    assert "That anchors of DPFM lower the error of the method holds here" in table.note


@pytest.mark.parametrize("missing", ["weights", "family", "torch"])
def test_without_weights_cuts_or_torch_nothing_is_measured_and_that_is_said(
    missing, asked, tmp_path, monkeypatch
):
    if missing == "weights":
        asked = StudyRequest(None, asked.families)
    elif missing == "family":
        asked = StudyRequest(asked.data, ("pfaust_m",))
    else:
        monkeypatch.setattr(learned, "find_spec", lambda name: None)
    assert STUDY.tasks(asked) == []
    found = STUDY.findings(asked, [], tmp_path)
    assert not found.tables and "dpfm_shrec_cuts.pth" in found.notes[0]


def test_a_quick_run_takes_one_network_on_one_cut(asked):
    (task,) = STUDY.tasks(StudyRequest(asked.data, asked.families, quick=True))
    assert task.method == "dpfm"
