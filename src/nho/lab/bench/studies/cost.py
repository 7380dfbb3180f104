"""What a match costs, beside the figures of the paper's section "Computational Cost".

Parameters are counted in the networks as the code builds them. A forward pass is counted as the
paper must have counted it: two operations (multiply, add) for each weight and vertex; biases,
activations and the 0.01 x of the NAM are left out. For the field (20-128-128-128-1) that is
2 x 35,456 x 10,000 = 0.709 G, for a NAM of dimension 100 2 x 51,984 x 10,000 = 1.040 G: both as
printed, while counting biases as well would give 0.717 G and 1.047 G.

Steps follow from the settings: the recipe `paper` fits the operator once and once a round,
and a NAM in every stage: 500 and 3,400 steps, as printed. In preset `paper-fast` later stages go on
from the ones before and take fewer.
The recipe `guided` fits it once a round at most, and stops early where a round brings nothing or
there are many anchors; it has no neural refinement. `steps_taken` is what one match did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path

import numpy as np

from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.published import lookup
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Cell, Section, Table
from nho.lab.bench.tasks import Task, loaded
from nho.operator.field import NeuralField
from nho.operator.network import Perceptron
from nho.operator.refinement import NeuralAdjointMap, stages
from nho.pipeline.matching import match
from nho.problem.result import MatchResult
from nho.settings import PRESETS, PaperRecipe, Settings

VERTICES = 10_000  # that the paper counts a forward pass for
# By method and metric as in published.csv; besides, ("field", "steps_taken") and ("stage", name).
Costs = dict[tuple[str, str], float]
Line = tuple[str, tuple[Cell, ...]]

_NETWORK_LINES = (  # label, method, metric, unit
    ("field: parameters (K)", "field", "parameters", 1e3),
    ("field: forward (G FLOPs)", "field", "forward_flops", 1e9),
    ("NAM: parameters (K)", "nam", "parameters", 1e3),
    ("NAM: forward (G FLOPs)", "nam", "forward_flops", 1e9),
)
_STEP_LINES = (("field", "field", "adam_steps"), ("NAM, all stages", "nam", "adam_steps"))


def plan(request: StudyRequest) -> Sequence[Task]:
    """Nothing: two matches are timed when the table is made."""
    return []


def report(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """Sizes, steps and seconds of both presets on one pair."""
    family, name = request.pairs("paper")[0]
    pair = loaded(family, request.data, name)
    sizes = f"{pair.partial.n_vertices} -> {pair.full.n_vertices} vertices"
    timed_on = f"{name} of {FAMILIES[family].title}, {sizes}"
    request.tell(f"cost: timing both presets on {timed_on}")
    anchors = pair.anchors(25)
    costs = {
        preset: costs_of(settings, match(pair.partial, pair.full, anchors, settings))
        for preset, settings in PRESETS.items()
    }
    return Findings([cost_table(costs, timed_on)])


def costs_of(settings: Settings, result: MatchResult | None = None) -> Costs:
    """What settings cost: networks, Adam steps at most and, of a match with them, what it took.

    The NAM is the largest, that of the last stage of Neural ZoomOut; without any it is left out.
    """
    recipe, random = settings.recipe, np.random.default_rng(0)  # only numbers of weights count here
    nowhere = np.zeros((0, recipe.encoding_modes))
    field = NeuralField(nowhere, recipe.hidden, recipe.activation, random)
    costs = _network_costs("field", field.parameter_count, field._network)
    if dimensions := _neural_stages(settings):
        nam = NeuralAdjointMap(dimensions[-1], random)
        costs |= _network_costs("nam", nam.parameters.size, nam._network)
    costs["field", "adam_steps"] = field_steps(settings)
    costs["nam", "adam_steps"] = refine_steps(settings)
    if result is not None:
        costs["field", "steps_taken"] = steps_taken(result)
        costs |= seconds_of(result.timings)
    return costs


def _network_costs(method: str, parameters: int, network: Perceptron) -> Costs:
    """Size and operations for `VERTICES` rows; all parameters but the biases are weights."""
    weights = parameters - sum(network.sizes[1:])
    return {(method, "parameters"): parameters, (method, "forward_flops"): 2 * weights * VERTICES}


def field_steps(settings: Settings) -> int:
    """Adam steps of operator estimation, at most."""
    recipe = settings.recipe
    if isinstance(recipe, PaperRecipe):
        return recipe.fit_steps * (recipe.rounds + 1)
    proposes = recipe.bend and recipe.coordinates == "hamiltonian"
    return recipe.fit_steps * recipe.rounds if proposes else 0


def refine_steps(settings: Settings) -> int:
    """Adam steps of Neural ZoomOut over all stages."""
    count, recipe = len(_neural_stages(settings)), settings.recipe
    if not count or not isinstance(recipe, PaperRecipe):
        return 0
    return recipe.refine_steps + (count - 1) * (recipe.refine_later_steps or recipe.refine_steps)


def steps_taken(result: MatchResult) -> int:
    """Adam steps the field took: the entries of its loss curves."""
    return sum(
        "loss" in entry and "dimension" not in entry  # a dimension marks stages of refinement
        for curve in result.curves.values()
        for entry in curve
    )


def seconds_of(timings: Mapping[str, float]) -> Costs:
    """Seconds by stage, and in total without eigenbases and neighbourhoods as the paper's."""
    costs: Costs = {("stage", name): seconds for name, seconds in timings.items()}
    costs["pipeline", "seconds"] = timings["total"] - timings.get("spectra", 0.0)
    return costs


def cost_table(costs: Mapping[str, Costs], timed_on: str = "one pair") -> Table:
    """The published figures in the first column, ours in the others.

    Parameters
    ----------
    costs : {name of the settings: Costs}
    timed_on : str
        The pair that was matched, in words for the note.
    """
    ours = list(costs.values())
    networks = tuple(_line(ours, *line) for line in _NETWORK_LINES)
    sections = [
        Section(f"networks, forward pass for {VERTICES:,} vertices", networks),
        Section("Adam steps, at most", tuple(_line(ours, *line) for line in _STEP_LINES)),
    ]
    note = "A FLOP is a multiplication or an addition by a weight, as the paper counts."
    if any(("pipeline", "seconds") in each for each in ours):
        # The paper always takes as many steps as planned.
        taken = _line(ours, "field", "field", "adam_steps", own_metric="steps_taken")
        sections += [Section("Adam steps, taken", (taken,)), Section("seconds", _times(ours))]
        note += (
            " Published seconds are a mean over pairs on an NVIDIA RTX 4090, with spectra from a "
            f"cache; ours are those of one match of {timed_on} on this machine's processor."
        )
    header = (("published", 1), *((name, 1) for name in costs))
    return Table("cost", "Computational cost", note, (header,), tuple(sections))


def _times(ours: Sequence[Costs]) -> tuple[Line, ...]:
    """Seconds by stage, in the order in which the stages first end; totals last."""
    names = dict.fromkeys(name for costs in ours for kind, name in costs if kind == "stage")
    del names["total"]
    lines = [
        (name, (Cell(nan), *(Cell(costs.get(("stage", name), nan)) for costs in ours)))
        for name in (*names, "total")
    ]
    return (*lines, _line(ours, "total without spectra", "pipeline", "seconds"))


def _line(
    ours: Sequence[Costs],
    label: str,
    method: str,
    metric: str,
    unit: float = 1.0,
    own_metric: str = "",
) -> Line:
    """A printed number and ours beside it, with as many digits as the paper gives."""
    printed = lookup(table="cost", method=method, metric=metric)
    numbers = (costs.get((method, own_metric or metric), nan) for costs in ours)
    return label, tuple(
        Cell(number / unit, digits=printed.decimals) for number in (printed.number, *numbers)
    )


def _neural_stages(settings: Settings) -> list[int]:
    """Dimensions of the NAMs on meshes that are large enough for all of them."""
    recipe = settings.recipe
    if not isinstance(recipe, PaperRecipe) or recipe.refinement != "neural-zoomout":
        return []
    reduced = recipe.readout_operator == "reduced"
    return stages(recipe, recipe.galerkin_modes if reduced else recipe.refine_last)


STUDY = Study(
    "cost",
    "Computational cost",
    "How large are the networks, how many steps do they take, and how long does a match last?",
    plan,
    report,
)
