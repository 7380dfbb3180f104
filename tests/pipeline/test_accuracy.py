"""Figures on real pairs, where the evaluation data is there; margins of about a fifth."""

from __future__ import annotations

from itertools import islice

import pytest

import nho
from nho.lab.bench.datasets import FAMILIES

pytestmark = pytest.mark.data


def scores(data, family: str, number: int, settings) -> nho.Evaluation:
    pair = next(islice(FAMILIES[family].pairs(data), number, None))
    result = nho.match(pair.partial, pair.full, pair.anchors(25), settings)
    return nho.evaluate(result, pair.full, pair.truth)


@pytest.mark.parametrize(
    ("family", "number", "error", "iou"),
    [
        ("pfaust_m", 0, 1.8, 94.0),
        pytest.param("pfaust_h", 0, 1.9, 88.5, marks=pytest.mark.slow),
        ("pfarm", 1, 0.8, 92.0),
        pytest.param("tosca", 20, 0.9, 97.5, marks=pytest.mark.slow),
    ],
)
def test_default_is_as_accurate_as_the_table_says(data, family, number, error, iou):
    found = scores(data, family, number, "default")
    assert found.geodesic_error < error
    assert found.iou > iou
    assert found.matched == 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "number", "error", "iou"), [("pfaust_m", 0, 20.0, 60.0), ("pfarm", 1, 10.0, 60.0)]
)
def test_paper_is_in_the_region_of_its_own_tables(data, family, number, error, iou):
    found = scores(data, family, number, "paper")
    assert found.geodesic_error < error
    assert found.iou > iou
