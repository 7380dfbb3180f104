"""Progress: forwards only, through all rounds, in numbers that JSON has."""

from __future__ import annotations

import json

import pytest

from nho.progress import Progress
from nho.settings import preset
from nho.studio.pace import Pace, typical_shares

# The stages of a match with few anchors, in their order.
ROUNDS = ["operator 1", "round 1", "operator 2", "round 2"]
STAGES = ["distances", "bending", "spectra", *ROUNDS, "look 1", "look 2"]


def followed(pace: Pace) -> list[float]:
    done = []
    for stage in STAGES:
        for step in range(3):
            pace.take(Progress(stage, step, 2))
            done.append(pace.done)
    return done


def test_every_stage_moves_the_bar_and_none_moves_it_back() -> None:
    done = followed(Pace(typical_shares(preset("default"), 5), rounds=2))
    assert done == sorted(done)
    ends = done[2::3]
    assert all(earlier < later for earlier, later in zip(ends, ends[1:], strict=False))
    assert ends[-1] == pytest.approx(1)


def test_the_times_of_one_match_tell_the_next_one_how_long_it_takes() -> None:
    first = Pace(typical_shares(preset("default"), 5), rounds=2)
    followed(first)
    again = Pace(first.seconds, rounds=2, known=True)
    done = followed(again)
    assert done == sorted(done) and done[-1] == pytest.approx(1)
    assert again.described()["left"] == pytest.approx(0)


def test_a_loss_that_is_no_number_is_left_out() -> None:
    pace = Pace({"fit": 1.0})
    pace.take(Progress("fit", 1, 3, float("nan")))
    pace.take(Progress("fit", 2, 3, 0.5))
    pace.take(Progress("fit", 3, 3, float("inf")))
    assert json.loads(json.dumps(pace.described(), allow_nan=False))["losses"] == [0.5]


def test_every_stage_has_plain_words_and_room_to_creep() -> None:
    searched = ["survey", "scales", "trials", "coarsening", *STAGES, "carrying"]
    pace = Pace(typical_shares(preset("default"), 0, large=True), rounds=2)
    assert pace.described()["words"] == "Getting ready" and pace.described()["next"] > 0
    for stage in searched:
        pace.take(Progress(stage, 0, 2))
        told = pace.described()
        assert told["words"] != stage and str(told["words"])[0].isupper(), stage
        assert told["done"] < told["next"] <= 1, stage  # type: ignore[operator]
    paper = Pace(typical_shares(preset("paper"), 5))
    for stage in ("spectra", "fit", "round 1", "refine"):
        paper.take(Progress(stage, 0, 2))
        assert paper.described()["words"] != stage
