"""Readings of the paper are told apart although every run mixes them."""

from __future__ import annotations

import numpy as np
import pytest

from nho.lab.bench.studies import STUDIES, StudyRequest
from nho.lab.bench.studies.readings import CHOICES, DRAWS, FRAGILE, PLAIN, drawn, effects
from nho.settings import preset

READINGS = [changes for found in CHOICES.values() for changes in found.values()]
REDUCED, EVERYWHERE = ("readout_operator=reduced",), ("refine_within=everywhere",)


def made_up(changes: tuple[str, ...], pair: str, random: np.random.Generator) -> dict[str, str]:
    """A row of a hard or an easy pair, better by 3 with one reading and worse by 2 with another."""
    error = 10.0 * len(pair) - 3 * (REDUCED[0] in changes)
    error += 2 * (EVERYWHERE[0] in changes) + random.normal(0, 0.3)
    scores = {"geodesic_error": f"{error:.6f}", "iou": "80", "precision": "90", "recall": "85"}
    return {"family": "f", "pair": pair, "changes": " ".join(changes), **scores}


@pytest.fixture
def rows() -> list[dict[str, str]]:
    random = np.random.default_rng(0)
    pairs = ["a", "bb", "ccc", "dddd", "eeeee", "ffffff"]
    return [
        made_up(changes, pair, random)
        for pair in pairs
        for seed in range(6)
        for changes in [(), *drawn(f"{pair}/{seed}")]
    ]


def test_the_effect_of_every_reading_is_found_beside_all_others(rows):
    found = dict(zip(READINGS, effects(rows, READINGS), strict=True))
    for reading, by_column in found.items():
        expected = {REDUCED: -3.0, EVERYWHERE: 2.0}.get(reading, 0.0)
        change, half_width = by_column["geodesic_error"]
        assert change == pytest.approx(expected, abs=0.4)
        assert 0 < half_width < 0.8
        assert by_column["iou"] == pytest.approx((0, 0), abs=1e-9)


def test_combinations_are_settings_that_exist_and_the_same_every_time():
    for name in ("a", "b"):
        assert len(drawn(name)) == DRAWS and drawn(name) == drawn(name)
        for changes in drawn(name):
            preset("paper-fast").with_text(list(changes))
    assert drawn("a") != drawn("b")


def test_every_reading_is_drawn_about_as_often_as_the_recipe_itself():
    many = [changes for number in range(300) for changes in drawn(str(number))]
    for found in CHOICES.values():
        for reading in found.values():
            share = np.mean([set(reading) <= set(changes) for changes in many])
            assert share == pytest.approx(1 / (1 + len(found)), abs=0.08)


def test_what_is_changed_alone_is_measured_with_every_seed_of_each_pair():
    tasks = STUDIES["readings"].plan(StudyRequest(None, ("synthetic",), most=2, seeds=(4, 5)))
    pairs = {task.pair for task in tasks}
    assert len(pairs) == 2 and len(tasks) == 2 * 2 * (1 + DRAWS + len(PLAIN) + len(FRAGILE))
    for changes in (*PLAIN.values(), *FRAGILE.values()):
        alone = [(task.pair, task.seed) for task in tasks if task.changes == changes]
        assert sorted(alone) == sorted((pair, seed) for pair in pairs for seed in (4, 5))


def test_without_seeds_asked_for_readings_are_measured_with_three():
    def seeds(**asked) -> set[int]:
        request = StudyRequest(None, ("synthetic",), most=1, **asked)
        return {task.seed for task in STUDIES["readings"].plan(request)}

    assert seeds() == {0, 1, 2}
    assert seeds(quick=True) == {0}
    assert seeds(seeds=(7,)) == {7}


def test_what_is_changed_alone_is_compared_with_the_recipe_on_the_same_pair_and_seed(tmp_path):
    sine = FRAGILE["activation: sine"]
    scores = {"geodesic_error": 10.0, "iou": 80.0, "precision": 90.0, "recall": 85.0}
    rows = []
    for number, pair in enumerate("abc"):
        for seed in range(3):  # seeds differ by 50, which would drown a change of 2
            base = {name: value + 50 * seed for name, value in scores.items()}
            own = [((), base)]
            if seed == number:
                own += [(sine, {name: value + 2 for name, value in base.items()})]
            for changes, found in own:
                texts = {name: str(value) for name, value in found.items()}
                named = {"family": "synthetic", "pair": pair, "method": "paper-fast"}
                changed = " ".join(changes)
                rows.append({**named, "changes": changed, "seed": str(seed), **texts})
    request = StudyRequest(None, ("synthetic",))
    *_, alone = STUDIES["readings"].report(request, rows, tmp_path).tables
    mean, _, change = alone.sections
    assert mean.rows[0][1][0].value == pytest.approx(60)  # of a / 0, b / 1 and c / 2
    ((label, cells),) = change.rows
    assert label == "activation: sine"
    assert [(one.value, one.half_width) for one in cells] == [pytest.approx((2, 0))] * 4
