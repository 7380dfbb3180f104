"""What the paper leaves open, read in every way: one choice of the recipe changed at a time.

Readings of the reciprocal loop are judged before NAM too, where they act; those of NAM after it.
Everything is measured with the short NAM of preset `paper-fast`; that of `paper` is one reading.
"""

from __future__ import annotations

from pathlib import Path

from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.statistics import paired_difference, per_pair
from nho.lab.bench.studies.ablation_paper import BEFORE
from nho.lab.bench.studies.scoreboard import EMPTY_CELL, cell, chosen, counted, pooled
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Cell, Section, Table
from nho.lab.bench.tasks import MatchTask

LOOP = {  # reading of the reciprocal loop -> settings that differ from preset `paper-fast`
    "LMD: misses count as the largest nearby": ("distortion_misses=local", "distortion_front=30"),
    "sparse Hamiltonian in the read-out": ("readout_operator=sparse",),
    "relu": ("activation=relu",),
    "sine": ("activation=sine",),
    "softplus": ("activation=softplus",),
    "Adam's moments kept": ("fresh_moments=false",),
    "double precision": ("precision=double",),
    "encoding in the unit of the file": ("encoding_unit=given",),
}
NAM = {  # reading of the dense refinement
    "NAM on all of the full shape": ("refine_within=everywhere",),
    "RMS over the support": ("refine_scaling=support",),
    "RMS weighted by area": ("refine_scaling=area",),
    "NAM of 3,400 steps (preset paper)": (
        *("refine_steps=200", "refine_later_steps=0", "refine_rows=0"),
    ),
}
PLAIN = {  # w/o Hamiltonian operator: where the region is
    "w/o operator: s above one half": ("coordinates=laplacian",),
    "w/o operator: image of the map": ("coordinates=laplacian", "plain_region=image"),
    "w/o operator: energy": ("coordinates=laplacian", "plain_region=energy"),
}
_BASE = "paper-fast"
_QUICK = ("sparse Hamiltonian in the read-out", "NAM on all of the full shape")
_SHARES = ("iou", "precision", "recall")


def plan(request: StudyRequest) -> list[MatchTask]:
    """The preset and every reading; those of the loop with and without refinement."""
    variants = {"": (), **LOOP, **NAM, **PLAIN}
    if request.quick:
        variants = {name: changes for name, changes in variants.items() if name in ("", *_QUICK)}
    return [
        task
        for name, changes in variants.items()
        for refinement in ((), (BEFORE,))
        if name not in NAM or not refinement
        for task in request.tasks(_BASE, changes=changes + refinement, seeds=request.seeds)
    ]


def report(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """Differences to the preset, over all pairs, then errors family by family."""
    return Findings([_overall(rows), _by_family(rows)])


def _overall(rows: list[ResultRow]) -> Table:
    def line(name: str, changes: tuple[str, ...]) -> tuple[str, tuple[Cell, ...]]:
        before, after = _of(rows, (*changes, BEFORE)), _of(rows, changes)
        shares = tuple(_gap(after or before, rows, column) for column in _SHARES)
        error = "geodesic_error"
        return name, (_gap(before, rows, error, (BEFORE,)), _gap(after, rows, error), *shares)

    base = tuple(cell(_of(rows, ()), column) for column in ("geodesic_error", *_SHARES))
    first = cell(_of(rows, (BEFORE,)), "geodesic_error")
    sections = [Section("preset paper-fast", (("means", (first, *base)),))]
    for title, readings in (("loop", LOOP), ("NAM", NAM), ("ablation", PLAIN)):
        lines = tuple(line(*reading) for reading in readings.items())
        sections.append(Section(f"{title}: difference to it over the same pairs", lines))
    return Table(
        "readings",
        "Open readings of the paper",
        f"{counted(rows)}, 25 anchors.",
        (
            (("error ×100", 2), ("region", 3)),
            (("before NAM", 1), ("after NAM", 1), ("IoU", 1), ("precision", 1), ("recall", 1)),
        ),
        tuple(sections),
    )


def _by_family(rows: list[ResultRow]) -> Table:
    families = [name for name in FAMILIES if chosen(rows, family=name)]

    def line(name: str, changes: tuple[str, ...]) -> tuple[str, tuple[Cell, ...]]:
        found = []
        for family in families:
            own = chosen(_of(rows, changes), family=family)
            columns = ("geodesic_error", "iou")
            found += [cell(own, column) if own else EMPTY_CELL for column in columns]
        return name, tuple(found)

    variants = {"preset paper-fast": (), **LOOP, **NAM, **PLAIN}
    return Table(
        "readings-by-family",
        "Open readings of the paper, family by family",
        f"{counted(rows)}, 25 anchors; after NAM.",
        (
            tuple((FAMILIES[name].title, 2) for name in families),
            (("error ×100", 1), ("IoU", 1)) * len(families),
        ),
        (Section("", tuple(line(*variant) for variant in variants.items())),),
    )


def _of(rows: list[ResultRow], changes: tuple[str, ...]) -> list[ResultRow]:
    return chosen(rows, changes=" ".join(changes))


def _gap(
    changed: list[ResultRow], rows: list[ResultRow], column: str, base: tuple[str, ...] = ()
) -> Cell:
    """Mean difference to the preset over the pairs that both were measured on."""
    if not changed:
        return EMPTY_CELL
    mine, preset = (per_pair(pooled(each), column) for each in (changed, _of(rows, base)))
    gap = paired_difference(mine, preset)
    digits = 2 if column == "geodesic_error" else 1
    return Cell(gap.mean, (gap.high - gap.low) / 2, digits)


STUDY = Study(
    "readings",
    "Open readings of the paper",
    "Where the paper leaves a choice, which one gives the smaller error and its printed patterns?",
    plan,
    report,
)
