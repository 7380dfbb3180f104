"""The cost study: counts are those of the networks that really run, and the paper's where alike."""

from __future__ import annotations

from math import isnan, nan

import numpy as np
import pytest

import nho
from nho.lab.bench.published import lookup
from nho.lab.bench.studies.cost import CostRow, NetworkCost, cost_rows, cost_table, steps_taken
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


def row(settings: Settings) -> CostRow:
    """Costs without a match."""
    return cost_rows({"one": settings})[0]


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


@pytest.mark.parametrize(
    "method, network", [("field", "field_network"), ("nam", "refiner_network")]
)
def test_the_paper_preset_has_networks_of_the_published_size_and_cost(method, network):
    ours = getattr(row(PRESETS["paper"]), network)
    for metric, value, unit in (
        ("parameters", ours.parameters, 1e3),
        ("forward_flops", ours.flops, 1e9),
    ):
        printed = lookup(table="cost", method=method, metric=metric)
        assert f"{value / unit:.{printed.decimals}f}" == printed.value.rstrip("KG")


def test_counting_biases_as_well_would_miss_the_published_operations():
    for method, network in (
        ("field", row(PRESETS["paper"]).field_network),
        ("nam", row(PRESETS["paper"]).refiner_network),
    ):
        printed = lookup(table="cost", method=method, metric="forward_flops").number
        assert abs(2e4 * network.parameters - printed) > 5e6 > abs(network.flops - printed)


def test_the_paper_preset_estimates_the_operator_in_as_many_steps_as_published():
    printed = lookup(table="cost", method="field", metric="adam_steps")
    assert row(PRESETS["paper"]).field_steps == printed.number


def test_steps_over_all_stages_are_the_published_ones_if_every_stage_starts_anew():
    anew = PRESETS["paper"].replace(refine_steps=200, refine_later_steps=200)
    assert row(anew).refine_steps == lookup(method="nam", metric="adam_steps").number


def test_sizes_follow_the_settings():
    settings = Settings(recipe=PaperRecipe(encoding_modes=10, hidden_width=64, hidden_layers=2))
    weights = 10 * 64 + 64 * 64 + 64
    assert row(settings).field_network == NetworkCost(weights + 64 + 64 + 1, 20_000 * weights)


def test_the_largest_stage_is_bounded_by_the_modes_of_the_reduced_operator():
    few = Settings(recipe=PaperRecipe(galerkin_modes=52))  # stages 20, 25, ..., 50
    weights = 50 * 50 + 50 * 128 + 128 * 128 + 128 * 50
    biases = 128 + 128 + 50
    assert row(few).refiner_network == NetworkCost(weights + biases, 20_000 * weights)
    assert row(few).refine_steps == few.recipe.refine_steps + 6 * few.recipe.refine_later_steps
    free = few.replace(readout_operator="sparse")
    assert row(free).refiner_network == row(PRESETS["paper"]).refiner_network


@pytest.mark.parametrize("changes", [{"refinement": "zoomout"}, {"refinement": "none"}])
def test_without_neural_refinement_there_is_neither_network_nor_step(changes):
    bare = row(PRESETS["paper"].replace(**changes))
    assert bare.refiner_network is None and bare.refine_steps == 0


def test_a_match_takes_exactly_the_steps_that_are_foretold(pair, adam_steps):
    (ours,) = cost_rows({"small": SMALL}, pair)
    in_field = [size for size in adam_steps if size == ours.field_network.parameters]
    assert ours.field_steps == ours.steps_taken == len(in_field) == 3 * 3
    assert ours.refine_steps == len(adam_steps) - len(in_field) == 5 + 2 + 2
    assert adam_steps[-1] == ours.refiner_network.parameters


def test_the_guided_recipe_takes_no_more_steps_than_foretold(pair, adam_steps):
    settings = PRESETS["default"].replace(threads=1, fit_steps=4, encoding_modes=8)
    (ours,) = cost_rows({"default": settings}, pair)
    assert 0 < ours.steps_taken <= ours.field_steps
    assert adam_steps == [ours.field_network.parameters] * ours.steps_taken
    assert ours.refiner_network is None and ours.refine_steps == 0


def test_no_operator_no_steps(pair, adam_steps):
    settings = PRESETS["default"].replace(threads=1, coordinates="none")
    assert steps_taken(nho.match(*pair, settings)) == row(settings).field_steps == 0
    assert not adam_steps


def test_stages_of_a_timed_match_are_those_of_its_result(pair):
    (ours,) = cost_rows({"small": SMALL}, pair)
    assert set(ours.seconds) == set(nho.match(*pair, SMALL).timings) > {"spectra", "total"}


def cells(table: Table) -> dict[tuple[str, str], list[float]]:
    """Values by section and label."""
    return {
        (section.title, label): [cell.value for cell in values]
        for section in table.sections
        for label, values in section.rows
    }


def timed(name: str, **seconds: float) -> CostRow:
    """Costs as of a match that took so long."""
    return CostRow(name, NetworkCost(1000, 10**9), None, 60, 0, 20, seconds)


def test_the_first_column_is_the_papers():
    table = cost_table(cost_rows(PRESETS))
    assert table.header == ((("published", 1), ("paper", 1), ("default", 1)),)
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
    values = cells(cost_table(cost_rows(PRESETS)))[NETWORKS, "NAM: parameters (K)"]
    assert values[1] == pytest.approx(52.34) and isnan(values[2])


def test_seconds_are_compared_without_spectra_as_published():
    rows = [
        timed("a", prepare=0.5, spectra=2.0, operator=5.0, total=8.0),
        timed("b", prepare=0.25, bending=1.0, total=1.5),
    ]
    table = cost_table(rows, "the sample")
    found = cells(table)
    assert found["seconds", "total without spectra"] == pytest.approx([143.15, 6.0, 1.5])
    assert found["Adam steps, taken", "field"] == [500, 20, 20]
    stages = [label for section, label in found if section == "seconds"]
    assert stages[:-2] == ["prepare", "spectra", "operator", "bending"]
    np.testing.assert_array_equal(found["seconds", "bending"], [nan, nan, 1.0])
    np.testing.assert_array_equal(found["seconds", "total"], [nan, 8.0, 1.5])
    assert "one match of the sample" in table.note


def test_without_a_match_the_table_claims_no_time_of_ours():
    table = cost_table(cost_rows(PRESETS))
    assert [section.title for section in table.sections] == [NETWORKS, "Adam steps, at most"]
    assert "seconds" not in table.note
