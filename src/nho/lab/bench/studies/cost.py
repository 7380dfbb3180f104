"""What a match costs, beside the figures of the paper's section "Computational Cost".

Parameters are counted in the networks as the code builds them. A forward pass is counted as the
paper must have counted it: two operations (multiply, add) for each weight and vertex; biases,
activations and the 0.01 x of the NAM are left out. For the field (20-128-128-128-1) that is
2 x 35,456 x 10,000 = 0.709 G, for a NAM of dimension 100 2 x 51,984 x 10,000 = 1.040 G: both as
printed, while counting biases as well would give 0.717 G and 1.047 G.

Steps follow from the settings: the recipe `paper` fits the operator once and once a round,
and a NAM in every stage. (Its later stages go on from the ones before and so need fewer steps than
the paper's, which start anew.)
The recipe `guided` fits it once a round at most, and stops early where a round brings nothing or
there are many anchors; it has no neural refinement. `CostRow.steps_taken` is what one match did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from nho.problem.preparation import AnchorsLike, MeshLike
from nho.problem.result import MatchResult
from nho.settings import PRESETS, PaperRecipe, Settings

VERTICES = 10_000  # that the paper counts a forward pass for
Matchable = tuple[MeshLike, MeshLike, AnchorsLike]  # partial, full, anchors


@dataclass(frozen=True)
class NetworkCost:
    """Size of a network, and operations of a forward pass for `VERTICES` rows."""

    parameters: int
    flops: int


@dataclass(frozen=True)
class CostRow:
    """What one choice of settings costs.

    Attributes
    ----------
    field_network : NetworkCost
        The neural field.
    refiner_network : NetworkCost or None
        The NAM of the last stage; None where the recipe has no neural refinement.
    field_steps, refine_steps : int
        Adam steps at most, over all rounds and over all stages.
    steps_taken : int or None
        Adam steps the field took in the match that was timed; None = none was.
    seconds : dict of str to float
        Wall-clock time of that match by stage, ``total`` being all of it; empty = none was timed.
    """

    name: str
    field_network: NetworkCost
    refiner_network: NetworkCost | None
    field_steps: int
    refine_steps: int
    steps_taken: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def seconds_without_spectra(self) -> float:
        """Total without eigenbases and neighbourhoods, as the paper's; NaN = nothing timed."""
        return self.seconds.get("total", nan) - self.seconds.get("spectra", 0.0)


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
    matched = (pair.partial, pair.full, pair.anchors(25))
    return Findings([cost_table(cost_rows(PRESETS, matched), timed_on)])


def cost_rows(
    settings_by_name: Mapping[str, Settings], pair: Matchable | None = None
) -> list[CostRow]:
    """Costs of some settings; those in seconds only if there is a pair to match.

    Parameters
    ----------
    pair : (partial, full, anchors), optional
        As `nho.match` takes them. It is matched once with each of the settings.
    """
    rows = []
    for name, settings in settings_by_name.items():
        result = match(*pair, settings) if pair else None
        rows.append(
            CostRow(
                name,
                field_cost(settings),
                refiner_cost(settings),
                field_steps(settings),
                refine_steps(settings),
                steps_taken(result) if result else None,
                dict(result.timings) if result else {},
            )
        )
    return rows


def field_cost(settings: Settings) -> NetworkCost:
    """Size of the neural field."""
    recipe = settings.recipe
    nowhere = np.zeros((0, recipe.encoding_modes))
    network = NeuralField(nowhere, recipe.hidden, recipe.activation, _random())
    return _cost(network.parameter_count, network._network)


def refiner_cost(settings: Settings) -> NetworkCost | None:
    """Size of the largest NAM, that of the last stage of Neural ZoomOut; None without any."""
    dimensions = _neural_stages(settings)
    if not dimensions:
        return None
    largest = NeuralAdjointMap(dimensions[-1], _random())
    return _cost(largest.parameters.size, largest._network)


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
    return recipe.refine_steps + (count - 1) * recipe.refine_later_steps


def steps_taken(result: MatchResult) -> int:
    """Adam steps the field took: the entries of its loss curves."""
    return sum(
        "loss" in entry and "dimension" not in entry  # a dimension marks stages of refinement
        for curve in result.curves.values()
        for entry in curve
    )


def cost_table(rows: Sequence[CostRow], timed_on: str = "one pair") -> Table:
    """The published figures in the first column, ours in the others.

    Parameters
    ----------
    timed_on : str
        The pair that was matched, in words for the note.
    """
    fields = [row.field_network for row in rows]
    refiners = [row.refiner_network for row in rows]
    sections = [
        Section(
            f"networks, forward pass for {VERTICES:,} vertices",
            (
                _line("field: parameters (K)", "field", "parameters", _sizes(fields), 1e3),
                _line("field: forward (G FLOPs)", "field", "forward_flops", _flops(fields), 1e9),
                _line("NAM: parameters (K)", "nam", "parameters", _sizes(refiners), 1e3),
                _line("NAM: forward (G FLOPs)", "nam", "forward_flops", _flops(refiners), 1e9),
            ),
        ),
        Section(
            "Adam steps, at most",
            (
                _line("field", "field", "adam_steps", [row.field_steps for row in rows]),
                _line("NAM, all stages", "nam", "adam_steps", [row.refine_steps for row in rows]),
            ),
        ),
    ]
    note = "A FLOP is a multiplication or an addition by a weight, as the paper counts."
    if any(row.seconds for row in rows):
        sections += [_taken(rows), _times(rows)]
        note += (
            " Published seconds are a mean over pairs on an NVIDIA RTX 4090, with spectra from a "
            f"cache; ours are those of one match of {timed_on} on this machine's processor."
        )
    header = (("published", 1), *((row.name, 1) for row in rows))
    return Table("cost", "Computational cost", note, (header,), tuple(sections))


def _taken(rows: Sequence[CostRow]) -> Section:
    """Steps of the match that was timed; the paper's always are as many as planned."""
    taken = [nan if row.steps_taken is None else row.steps_taken for row in rows]
    return Section("Adam steps, taken", (_line("field", "field", "adam_steps", taken),))


def _times(rows: Sequence[CostRow]) -> Section:
    """Seconds by stage, in the order in which the stages first end; totals last."""
    stages_seen = dict.fromkeys(name for row in rows for name in row.seconds if name != "total")
    lines = []
    for name in stages_seen:
        cells = tuple(Cell(row.seconds.get(name, nan)) for row in rows)
        lines.append((name, (Cell(nan), *cells)))
    totals = tuple(Cell(row.seconds.get("total", nan)) for row in rows)
    lines.append(("total", (Cell(nan), *totals)))
    without = [row.seconds_without_spectra for row in rows]
    lines.append(_line("total without spectra", "pipeline", "seconds", without))
    return Section("seconds", tuple(lines))


def _line(
    label: str, method: str, metric: str, values: Sequence[float], unit: float = 1.0
) -> tuple[str, tuple[Cell, ...]]:
    """A printed number and ours beside it, with as many digits as the paper gives."""
    printed = lookup(table="cost", method=method, metric=metric)
    numbers = (printed.number, *values)
    return label, tuple(Cell(number / unit, digits=printed.decimals) for number in numbers)


def _sizes(networks: Sequence[NetworkCost | None]) -> list[float]:
    return [network.parameters if network else nan for network in networks]


def _flops(networks: Sequence[NetworkCost | None]) -> list[float]:
    return [network.flops if network else nan for network in networks]


def _cost(parameters: int, network: Perceptron) -> NetworkCost:
    """Cost of a network; all of its parameters but the biases are weights."""
    weights = parameters - sum(network.sizes[1:])
    return NetworkCost(parameters, 2 * weights * VERTICES)


def _neural_stages(settings: Settings) -> list[int]:
    """Dimensions of the NAMs on meshes that are large enough for all of them."""
    recipe = settings.recipe
    if not isinstance(recipe, PaperRecipe) or recipe.refinement != "neural-zoomout":
        return []
    reduced = recipe.readout_operator == "reduced"
    return stages(recipe, recipe.galerkin_modes if reduced else recipe.refine_last)


def _random() -> np.random.Generator:
    return np.random.default_rng(0)  # weights are drawn, but only their number counts here


STUDY = Study(
    "cost",
    "Computational cost",
    "How large are the networks, how many steps do they take, and how long does a match last?",
    plan,
    report,
)
