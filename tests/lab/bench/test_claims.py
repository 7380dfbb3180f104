"""The paper's claims are judged by the interval of the mean change, pair by pair."""

from __future__ import annotations

import pytest

from nho.lab.bench.studies import STUDIES, StudyRequest
from nho.lab.bench.studies.claims import Claim
from nho.lab.bench.tasks import MatchTask


def rows(errors, method="paper"):
    return [
        {**MatchTask("synthetic", f"pair {i}", method).keys, "geodesic_error": str(error)}
        for i, error in enumerate(errors)
    ]


FALLS = Claim("it falls", "geodesic_error", "falls")
STAYS = Claim("it stays", "geodesic_error", "stays", 0.5)


@pytest.mark.parametrize(
    "claim, changes, verdict",
    [
        (FALLS, (-1, -1.2, -0.8), "holds here"),
        (FALLS, (1, 1.2, 0.8), "does not hold here"),
        (FALLS, (-1, 1.1, 0.1), "is open here"),
        (STAYS, (0.1, -0.1, 0.2), "holds here"),
        (STAYS, (1, 0.9, 1.1), "does not hold here"),
        (STAYS, (-1, -0.9, -1.1), "does not hold here"),
        (STAYS, (0.1, 0.9, 0.6), "is open here"),
        (FALLS, (-1,), "cannot be judged here"),
        (FALLS, (), "cannot be judged here"),
    ],
)
def test_a_claim_is_judged_by_its_interval(claim, changes, verdict):
    changes = 2 * changes  # six pairs, as many as it takes
    before = rows([3.0 + i for i in range(len(changes))])
    after = rows([3.0 + i + change for i, change in enumerate(changes)])
    sentence = claim.judged(before, after)
    assert verdict in sentence
    if len(changes) == 6:
        assert f"{sum(changes) / len(changes):+.2f}" in sentence and "6 pairs" in sentence


def test_the_same_claim_about_what_rises_is_the_other_way_round():
    rises = Claim("it rises", "geodesic_error", "rises")
    low, high = rows([1, 2] * 3), rows([2, 3.1] * 3)
    assert "holds here" in rises.judged(low, high)
    assert "does not hold here" in rises.judged(high, low)


@pytest.mark.parametrize("name", ["ablation", "sampling", "budget", "discretisation"])
def test_the_sentence_under_a_table_judges_what_the_paper_says(name, tmp_path, request):
    from tests.lab.bench.test_bench_studies import made_up

    request.getfixturevalue("monkeypatch").setattr(
        "nho.lab.bench.figures.plotstyle.save", lambda figure, path: []
    )
    wanted = StudyRequest(None, ("synthetic",), quick=name != "ablation")
    planned = STUDIES[name].plan(wanted)
    table = STUDIES[name].report(wanted, [made_up(task) for task in planned], tmp_path).tables[0]
    assert "here" in table.note and "That " in table.note
