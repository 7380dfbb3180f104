"""The paper's ablation of its own recipe: what each part gives, before and after NAM."""

from __future__ import annotations

from pathlib import Path

from nho.lab.bench.perturb import Conditions
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.studies.scoreboard import (
    BOTH,
    EMPTY_CELL,
    MEASURED,
    PUBLISHED_TITLE,
    REGION,
    TITLES,
    cell,
    cells,
    chosen,
    counted,
    published_cells,
)
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Cell, Section, Table
from nho.lab.bench.tasks import MatchTask

BEFORE = "refinement=none"
VARIANTS = {  # label -> (published key, settings that differ from preset `paper`)
    "w/o topology loss": ("without-topology", ("weight_topology=0",)),
    "w/o reciprocal refinement": ("without-reciprocal", ("rounds=0",)),
    "w/o Hamiltonian operator": ("without-operator", ("coordinates=laplacian",)),
    "full method": ("full", ()),
}
_CONDITIONS = Conditions(input_scale="normalised")


def plan(request: StudyRequest) -> list[MatchTask]:
    """Every variant with and without its refinement, on normalised, unrotated shapes."""
    return [
        task
        for _, changes in VARIANTS.values()
        for refinement in ((), (BEFORE,))
        for task in request.tasks("paper", [_CONDITIONS], changes + refinement, request.seeds)
    ]


def report(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """One table, as in the paper."""
    ours, theirs = [], []
    for label, (key, changes) in VARIANTS.items():
        after = chosen(rows, changes=" ".join(changes))
        before = chosen(rows, changes=" ".join((*changes, BEFORE)))
        error = cell(before, "geodesic_error") if before else EMPTY_CELL
        ours.append((label, _in_order(cells(after, BOTH), error)))
        printed = published_cells(
            (*BOTH, "geodesic_error_before_nam"), table="ablation", method=key
        )
        theirs.append((label, _in_order(printed[:-1], printed[-1])))
    judged = ("high",) * 4 + ("low",) * 2
    table = Table(
        "ablation",
        "Parts of the paper's recipe (preset paper), normalised and unrotated",
        f"{counted(rows)}. Without the Hamiltonian operator, coordinates are the eigenfunctions of "
        "the whole full shape and the region is where the field exceeds one half; the paper does "
        "not say how it found the region there. Published: CUTS'24.",
        (
            (("region", 4), ("error ×100", 2)),
            (*((TITLES[column], 1) for column in REGION), ("before NAM", 1), ("after NAM", 1)),
        ),
        (Section(MEASURED, tuple(ours), judged), Section(PUBLISHED_TITLE, tuple(theirs), judged)),
    )
    return Findings([table])


def _in_order(scores: tuple[Cell, ...], before: Cell) -> tuple[Cell, ...]:
    """Region scores, error before refinement, error after."""
    return (*scores[:-1], before, scores[-1])


STUDY = Study(
    "ablation",
    "Ablation of the paper's recipe",
    "What do topology loss, reciprocal refinement, the operator and NAM give in preset paper?",
    plan,
    report,
)
