"""The paper's ablation of its own recipe: what each part gives, before and after NAM."""

from __future__ import annotations

from pathlib import Path

from nho.lab.bench.perturb import Conditions
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.studies.claims import Claim
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
_FULL = "full method"
VARIANTS = {  # label -> (published key, settings that differ from preset `paper`)
    "w/o topology loss": ("without-topology", ("weight_topology=0",)),
    "w/o reciprocal refinement": ("without-reciprocal", ("rounds=0",)),
    "w/o Hamiltonian operator": ("without-operator", ("coordinates=laplacian",)),
    _FULL: ("full", ()),
}
_CONDITIONS = Conditions(input_scale="normalised")
_CLAIMS = (  # without what, before NAM or after it, what happens when it is added
    ("w/o topology loss", False, Claim("the topology loss hardly changes IoU", "iou", "stays", 2)),
    (
        "w/o reciprocal refinement",
        False,
        Claim("reciprocal rounds raise precision", "precision", "rises"),
    ),
    ("w/o reciprocal refinement", False, Claim("they raise IoU", "iou", "rises")),
    (
        "w/o reciprocal refinement",
        True,
        Claim("they lower the error before NAM", "geodesic_error", "falls"),
    ),
    ("w/o Hamiltonian operator", False, Claim("the operator raises IoU", "iou", "rises")),
    (
        "w/o Hamiltonian operator",
        False,
        Claim("the operator lowers the error", "geodesic_error", "falls"),
    ),
)
_NAM = Claim("NAM lowers the error of the full method", "geodesic_error", "falls")


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
    for label, (key, _) in VARIANTS.items():
        after, before = _of(rows, label), _of(rows, label, before=True)
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
        f"not say how it found the region there. Published: CUTS'24. {_judged(rows)}",
        (
            (("region", 4), ("error ×100", 2)),
            (*((TITLES[column], 1) for column in REGION), ("before NAM", 1), ("after NAM", 1)),
        ),
        (Section(MEASURED, tuple(ours), judged), Section(PUBLISHED_TITLE, tuple(theirs), judged)),
    )
    return Findings([table])


def _of(rows: list[ResultRow], label: str, before: bool = False) -> list[ResultRow]:
    """Rows of a variant, before NAM or after it."""
    changes = (*VARIANTS[label][1], *((BEFORE,) if before else ()))
    return chosen(rows, changes=" ".join(changes))


def _judged(rows: list[ResultRow]) -> str:
    """The paper's claims about its parts, pair by pair."""
    found = [
        claim.judged(_of(rows, without, before), _of(rows, _FULL, before))
        for without, before, claim in _CLAIMS
    ]
    return " ".join([*found, _NAM.judged(_of(rows, _FULL, before=True), _of(rows, _FULL))])


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
