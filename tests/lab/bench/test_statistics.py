"""Statistics over pairs: a pair counts once, and intervals hold what they promise."""

import numpy as np
import pytest

from nho.errors import InputError
from nho.evaluation.metrics import success_curve
from nho.lab.bench.scores import PCK_THRESHOLDS
from nho.lab.bench.statistics import (
    band,
    bootstrap,
    paired_difference,
    pck_per_pair,
    per_pair,
    summary_cell,
)


def row(pair: str, iou: str, method: str = "default", pck: str = "") -> dict[str, str]:
    return {"family": "f", "pair": pair, "method": method, "changes": "", "iou": iou, "pck": pck}


ROWS = [row("a", "10"), row("a", "20"), row("a", "30"), row("b", "80"), row("b", ""), row("c", "")]


def test_trials_of_a_pair_count_once() -> None:
    assert per_pair(ROWS, "iou") == {"a": 20.0, "b": 80.0}
    assert summary_cell(per_pair(ROWS, "iou").values()).value == 50.0


def test_a_pair_of_two_methods_is_not_averaged() -> None:
    with pytest.raises(ValueError, match="pair a"):
        per_pair([*ROWS, row("a", "5", "paper")], "iou")


def test_the_interval_covers_the_mean_as_often_as_it_says() -> None:
    random = np.random.default_rng(5)
    inside = 0
    for _ in range(400):
        low, high = bootstrap(random.normal(3.0, 2.0, 40), draws=400)
        inside += low <= 3.0 <= high
    # 95 % less what percentiles lose at n = 40, give or take three standard deviations of 400.
    assert 0.905 <= inside / 400 <= 0.975


def test_the_interval_narrows_with_the_root_of_the_number_of_pairs() -> None:
    random = np.random.default_rng(0)
    few, many = (bootstrap(random.normal(0.0, 1.0, n)) for n in (50, 5000))
    assert (few[1] - few[0]) / (many[1] - many[0]) == pytest.approx(10, rel=0.3)


def test_the_interval_is_deterministic_and_ignores_what_is_missing() -> None:
    values = np.random.default_rng(3).random(30)
    assert bootstrap(values) == bootstrap(values)
    assert bootstrap(values) != bootstrap(values, seed=1)
    assert bootstrap(np.append(values, np.nan)) == bootstrap(values)


@pytest.mark.parametrize("values", [[], [3.0], [3.0, np.nan]])
def test_fewer_than_two_pairs_have_no_interval(values: list[float]) -> None:
    assert np.isnan(bootstrap(np.array(values))).all()
    assert np.isnan(summary_cell(values).half_width)


def test_no_values_give_an_empty_cell() -> None:
    assert summary_cell([]).text == "-"


def test_the_band_is_the_interval_of_each_column() -> None:
    values = np.random.default_rng(1).random((12, 3))
    low, high = band(values)
    for column in range(3):
        assert bootstrap(values[:, column]) == pytest.approx((low[column], high[column]))


def test_a_difference_is_taken_within_pairs() -> None:
    random = np.random.default_rng(2)
    hard = {f"p{i}": float(10 * random.random()) for i in range(30)}
    shifted = {pair: value + 0.5 + 0.1 * random.random() for pair, value in hard.items()}
    gap = paired_difference({**shifted, "only here": 99.0}, {**hard, "only there": 0.0})
    assert gap.pairs == 30
    # How hard a pair is varies by 10; of the difference nothing of that is left.
    assert 0.5 < gap.low < gap.mean < gap.high < 0.6


def test_nothing_in_common_is_no_difference() -> None:
    gap = paired_difference({"a": 1.0}, {"b": 1.0})
    assert gap.pairs == 0 and np.isnan([gap.mean, gap.low, gap.high]).all()


def test_success_is_the_share_of_pairs_above_the_threshold() -> None:
    share = success_curve(np.array([50.0, 80.0, 90.0, 100.0]), np.array([0, 50, 79, 95, 100]))
    assert share.tolist() == [1.0, 0.75, 0.75, 0.25, 0.0]


def curve(value: float) -> str:
    return " ".join(f"{value:g}" for _ in PCK_THRESHOLDS)


def test_pck_averages_trials_before_pairs() -> None:
    rows = [
        row("a", "1", pck=curve(10)),
        row("a", "1", pck=curve(20)),
        row("a", "1", pck=curve(30)),
        row("b", "1", pck=curve(80)),
        row("c", "", pck=""),
    ]
    found = {pair: shares.tolist() for pair, shares in pck_per_pair(rows).items()}
    assert found == {"a": [20.0] * 50, "b": [80.0] * 50}
    assert PCK_THRESHOLDS[[0, 1, -1]].tolist() == [0.5, 1.0, 25.0]
    assert pck_per_pair(rows[4:]) == {}


def test_a_pck_of_other_length_is_refused() -> None:
    with pytest.raises(InputError, match="pair a"):
        pck_per_pair([row("a", "1", pck="1 2 3")])
