"""Every family chooses or judges, by name in one file, and every table says which it shows."""

from __future__ import annotations

import pytest

from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.datasets.roles import CHOOSE, CHOSEN, JUDGE, JUDGES, ROLES, roles_note
from nho.lab.bench.latex import latex
from nho.lab.bench.studies import STUDIES, StudyRequest
from nho.lab.bench.tabular import html, markdown
from tests.lab.bench.test_bench_studies import made_up


def test_every_family_chooses_or_judges_and_none_does_both():
    named = [name for names in CHOSEN.values() for name in names] + list(JUDGES)
    assert sorted(named) == sorted(FAMILIES)


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_cuts_of_shapes_that_chose_do_not_judge(name):
    base = next(known for known in FAMILIES if name.startswith(known))
    assert not (ROLES[base] == CHOOSE and ROLES[name] == JUDGE)


def test_the_note_names_families_by_role_and_leaves_out_a_role_without_families():
    both = roles_note([("pfarm", "PFARM"), ("cuts24", "CUTS'24"), ("faces", "faces")])
    chooses, judges = both.split(". ")
    assert chooses.startswith("Choose") and chooses.endswith(": PFARM, faces")
    assert judges.startswith("Judge") and judges.endswith(": CUTS'24.")
    assert "Judge" not in roles_note([("pfarm", "PFARM")])
    assert roles_note([]) == ""


@pytest.mark.parametrize("name", ["units", "wrong-anchors", "next-anchor"])
def test_every_table_of_a_study_says_which_families_choose(name, tmp_path, monkeypatch):
    monkeypatch.setattr("nho.lab.bench.figures.plotstyle.save", lambda figure, path: [])
    asked = StudyRequest(None, ("synthetic",), quick=True)
    rows = [made_up(task) for task in STUDIES[name].tasks(asked)]
    tables = STUDIES[name].findings(asked, rows, tmp_path).tables
    assert tables
    for table in tables:
        for text in (markdown(table), latex(table), html(table)):
            assert "Choose (" in text and "): generated." in text
