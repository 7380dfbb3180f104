"""What matches say of themselves, against the truth."""

from __future__ import annotations

import numpy as np
import pytest

from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.fit_placement import cases
from nho.lab.bench.honesty import looked_at, tables, trust_of
from nho.lab.bench.scores import TRUST_BINS


def row(case, chance, status="ok", right="1", trust=""):
    return {
        **{"family": "synthetic", "pair": "p", "case": case, "anchors": "5"},
        **{"status": status, "chance": str(chance), "right": right, "trust": trust},
    }


def test_bins_of_all_matches_are_joined_by_their_vertices():
    first, second = np.zeros((2, len(TRUST_BINS) - 1, 3))
    first[-1], second[-1], second[0] = (30, 0.9, 1.0), (10, 1.0, 0.6), (5, 0.05, 0.2)
    words = [" ".join(map(str, table.ravel())) for table in (first, second)]
    joined = trust_of([row("right", 1, trust=text) for text in (*words, "")])
    np.testing.assert_allclose(joined[-1], (40, 0.925, 0.9))
    np.testing.assert_allclose(joined[0], (5, 0.05, 0.2))
    assert not joined[1:-1].any() and not trust_of([row("foreign", 0)]).size


def test_tables_count_what_is_believed_and_what_is_doubted():
    table = np.zeros((len(TRUST_BINS) - 1, 3))
    table[-1] = 40, 0.9, 0.8
    rows = [
        row("right", 0.9, trust=" ".join(map(str, table.ravel()))),
        row("shuffled", 0.1, "doubtful", "0"),
        row("shuffled", 0.3, "ok", "0"),
    ]
    text = tables(rows)
    assert "| generated | 1 | 40 | 0.90 | 0.80 | 0.100 |" in text
    assert "| right | 1 | 1 | 0.90 | 0 |" in text
    assert "| shuffled | 2 | 0 | 0.20 | 1 |" in text


@pytest.mark.parametrize("asked", ["right", pytest.param("foreign", marks=pytest.mark.slow)])
def test_a_right_match_has_its_confidence_judged_and_a_foreign_one_is_in_doubt(asked):
    family = FAMILIES["synthetic"]
    pair, other = (family.load(None, name) for name in ("bean-plane", "ring-plane"))
    case, full, anchors = next(each for each in cases(pair, other.full) if each[0] == asked)
    found = looked_at(pair, case, full, anchors)
    if asked == "right":
        assert found["right"] == "1" and found["status"] != "doubtful"
        bins = np.array(found["trust"].split(), float).reshape(-1, 3)
        assert 0 < bins[:, 0].sum() <= 1000 and (bins[:, 1:] <= 1).all()
    else:
        assert found["right"] == "0" and found["status"] == "doubtful" and found["trust"] == ""
