"""The cost study: counts are those of the networks that really run, and the paper's where alike."""

from __future__ import annotations

from math import isnan, nan

import numpy as np
import pytest

import nho
from nho.lab.bench.published import lookup
from nho.lab.bench.studies.cost import Costs, cost_table, costs_of, seconds_of, steps_taken
from nho.lab.bench.tabular import Table
from nho.operator.network import Adam
from nho.settings import PRESETS, PaperRecipe, Settings

NETWORKS = "networks, forward pass for 10,000 vertices"
SMALL = PRESETS["paper"].replace(
    encoding_modes=6,
    spectral_modes=6,
    galerkin_modes=20,
    fit_steps=3,
    rounds=2,
    refine_first=8,
    refine_last=17,
    refine_increment=4,
    refine_steps=5,
    refine_later_steps=2,
    threads=1,
)


PAPER = costs_of(PRESETS["paper"])
UNTIMED = {name: costs_of(settings) for name, settings in PRESETS.items()}


def network(costs: Costs, method: str) -> tuple[float, float]:
    """Parameters and operations of a forward pass."""
    return costs[method, "parameters"], costs[method, "forward_flops"]


@pytest.fixture(scope="module")
def pair(whole, piece):
    """The cut with eight anchors, as `nho.match` takes it."""
    chosen = np.linspace(0, len(piece.vertex_of_parent) - 1, 8).astype(int)
    return piece.mesh, whole, np.stack([chosen, piece.vertex_of_parent[chosen]], axis=1)


@pytest.fixture
def adam_steps(monkeypatch) -> list[int]:
    """Grows by the number of parameters with every step any optimiser takes."""
    seen: list[int] = []
    original = Adam.step

    def counted(self, flat, gradient):
        seen.append(flat.size)
        original(self, flat, gradient)

    monkeypatch.setattr(Adam, "step", counted)
    return seen


@pytest.mark.parametrize("method", ["field", "nam"])
def test_the_paper_preset_has_networks_of_the_published_size_and_cost(method):
    for metric, unit in (("parameters", 1e3), ("forward_flops", 1e9)):
        printed = lookup(table="cost", method=method, metric=metric)
        assert f"{PAPER[method, metric] / unit:.{printed.decimals}f}" == printed.value.rstrip("KG")


def test_counting_biases_as_well_would_miss_the_published_operations():
    for method in ("field", "nam"):
        printed = lookup(table="cost", method=method, metric="forward_flops").number
        parameters, flops = network(PAPER, method)
        assert abs(2e4 * parameters - printed) > 5e6 > abs(flops - printed)


def test_the_paper_preset_estimates_the_operator_in_as_many_steps_as_published():
    printed = lookup(table="cost", method="field", metric="adam_steps")
    assert PAPER["field", "adam_steps"] == printed.number


def test_the_paper_preset_refines_in_as_many_steps_as_published():
    assert PAPER["nam", "adam_steps"] == lookup(method="nam", metric="adam_steps").number


def test_later_stages_may_take_fewer_steps():
    fast = PRESETS["paper-fast"]
    recipe = fast.recipe
    steps = recipe.refine_steps + 16 * recipe.refine_later_steps
    assert costs_of(fast)["nam", "adam_steps"] == steps < PAPER["nam", "adam_steps"] / 3


def test_sizes_follow_the_settings():
    settings = Settings(recipe=PaperRecipe(encoding_modes=10, hidden_width=64, hidden_layers=2))
    weights = 10 * 64 + 64 * 64 + 64
    assert network(costs_of(settings), "field") == (weights + 64 + 64 + 1, 20_000 * weights)


def test_the_largest_stage_is_bounded_by_the_modes_of_the_reduced_operator():
    few = Settings(
        recipe=PaperRecipe(galerkin_modes=52, readout_operator="reduced")
    )  # stages 20, 25, ..., 50
    weights = 50 * 50 + 50 * 128 + 128 * 128 + 128 * 50
    biases = 128 + 128 + 50
    ours, recipe = costs_of(few), few.recipe
    assert network(ours, "nam") == (weights + biases, 20_000 * weights)
    assert ours["nam", "adam_steps"] == 7 * recipe.refine_steps
    free = few.replace(readout_operator="sparse")
    assert network(costs_of(free), "nam") == network(PAPER, "nam")


@pytest.mark.parametrize("changes", [{"refinement": "zoomout"}, {"refinement": "none"}])
def test_without_neural_refinement_there_is_neither_network_nor_step(changes):
    bare = costs_of(PRESETS["paper"].replace(**changes))
    assert ("nam", "parameters") not in bare and bare["nam", "adam_steps"] == 0


def test_a_match_takes_exactly_the_steps_that_are_foretold(pair, adam_steps):
    ours = costs_of(SMALL, nho.match(*pair, SMALL))
    in_field = [size for size in adam_steps if size == ours["field", "parameters"]]
    assert ours["field", "adam_steps"] == ours["field", "steps_taken"] == len(in_field) == 3 * 3
    assert ours["nam", "adam_steps"] == len(adam_steps) - len(in_field) == 5 + 2 + 2
    assert adam_steps[-1] == ours["nam", "parameters"]


def test_the_guided_recipe_takes_no_more_steps_than_foretold(pair, adam_steps):
    quick = PRESETS["default"].replace(threads=1, fit_steps=4, encoding_modes=8)
    settings = quick.replace(look_again_below=2.0)
    ours = costs_of(settings, nho.match(*pair, settings))
    assert 0 < ours["field", "steps_taken"] <= ours["field", "adam_steps"]
    assert adam_steps == [ours["field", "parameters"]] * ours["field", "steps_taken"]
    assert ("nam", "parameters") not in ours and ours["nam", "adam_steps"] == 0


def test_no_operator_no_steps(pair, adam_steps):
    settings = PRESETS["default"].replace(threads=1, coordinates="none")
    planned = costs_of(settings)["field", "adam_steps"]
    assert steps_taken(nho.match(*pair, settings)) == planned == 0
    assert not adam_steps


def test_stages_of_a_timed_match_are_those_of_its_result(pair):
    result = nho.match(*pair, SMALL)
    stages = {name for kind, name in costs_of(SMALL, result) if kind == "stage"}
    assert stages == set(result.timings) > {"spectra", "total"}


def cells(table: Table) -> dict[tuple[str, str], list[float]]:
    """Values by section and label."""
    return {
        (section.title, label): [cell.value for cell in values]
        for section in table.sections
        for label, values in section.rows
    }


def timed(**seconds: float) -> Costs:
    """Costs as of a match that took so long."""
    return costs_of(PRESETS["default"]) | {("field", "steps_taken"): 20} | seconds_of(seconds)


def test_the_first_column_is_the_papers():
    table = cost_table(UNTIMED)
    assert table.header == (tuple((name, 1) for name in ("published", *PRESETS)),)
    first = {label: values[0] for (_, label), values in cells(table).items()}
    assert first == pytest.approx(
        {
            "field: parameters (K)": 35.84,
            "field: forward (G FLOPs)": 0.709,
            "NAM: parameters (K)": 52.34,
            "NAM: forward (G FLOPs)": 1.040,
            "field": 500,
            "NAM, all stages": 3400,
        }
    )
    shown = {label: row[0].text for section in table.sections for label, row in section.rows}
    assert shown["NAM: forward (G FLOPs)"] == "1.040" and shown["NAM, all stages"] == "3,400"


def test_what_a_recipe_does_not_have_is_left_empty():
    values = cells(cost_table(UNTIMED))[NETWORKS, "NAM: parameters (K)"]
    assert values[1] == pytest.approx(52.34) and isnan(values[-1])


def test_seconds_are_compared_without_spectra_as_published():
    costs = {
        "a": timed(prepare=0.5, spectra=2.0, operator=5.0, total=8.0),
        "b": timed(prepare=0.25, bending=1.0, total=1.5),
    }
    table = cost_table(costs, "the sample")
    found = cells(table)
    assert found["seconds", "total without spectra"] == pytest.approx([143.15, 6.0, 1.5])
    assert found["Adam steps, taken", "field"] == [500, 20, 20]
    stages = [label for section, label in found if section == "seconds"]
    assert stages[:-2] == ["prepare", "spectra", "operator", "bending"]
    np.testing.assert_array_equal(found["seconds", "bending"], [nan, nan, 1.0])
    np.testing.assert_array_equal(found["seconds", "total"], [nan, 8.0, 1.5])
    assert "one match of the sample" in table.note


def test_without_a_match_the_table_claims_no_time_of_ours():
    table = cost_table(UNTIMED)
    assert [section.title for section in table.sections] == [NETWORKS, "Adam steps, at most"]
    assert "seconds" not in table.note
