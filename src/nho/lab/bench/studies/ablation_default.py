"""What each part of preset `default` gives: every one switched off in turn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from nho.lab.bench.perturb import Conditions
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.statistics import Difference, paired_difference, per_pair
from nho.lab.bench.studies.robustness import worst
from nho.lab.bench.studies.scoreboard import EMPTY_CELL, cell, chosen, counted, pooled
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Cell, Section, Table
from nho.lab.bench.tasks import MatchTask

PARTS = {  # what is switched off -> settings
    "second looks": ("rounds=0", "own_anchors=0"),
    "second look by the operator": ("coordinates=none",),
    "second looks by own anchors": ("own_anchors=0",),
    "learning (plain Laplacian instead)": ("coordinates=laplacian",),
    "natural border of the region": ("insulated=false",),
    "area loss": ("weight_area=0",),
    "negatives": ("negatives=false",),
    "area loss and negatives": ("weight_area=0", "negatives=false"),
    "distances (spline of the anchors alone)": ("start=spline",),
    "spline of the anchors": ("start=distances",),
    "calibration of distances": ("calibrate_distances=false",),
    "orientation": ("orientation_weight=0",),
    "relief": ("relief=false",),
    "bending back": ("bend_back=false",),
    "bending": ("bend=false",),
}
ADDED = {  # what the paper has and `default` has not
    "with three rounds": ("rounds=3",),
    "with spectral loss": ("weight_spectral=0.01",),
    "with topology loss": ("weight_topology=0.3",),
}
BUDGETS = (5, 25)
_QUICK = ("second looks", "spline of the anchors", "bending")
_VERTEX, _RISK = "geodesic_error_vertex", "risk_half"


def plan(request: StudyRequest) -> list[MatchTask]:
    """The preset, and every part off (or added), with few and many anchors."""
    conditions = [
        Conditions(anchors=count) for count in (BUDGETS[:1] if request.quick else BUDGETS)
    ]
    tasks = request.tasks("default", conditions, (), request.seeds)
    for name, changes in {**PARTS, **ADDED}.items():
        if not request.quick or name in _QUICK:
            tasks += request.tasks("default", conditions, changes, request.seeds)
    return tasks


def report(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """Differences to the preset, pair by pair, as a table and a figure for each budget."""
    from nho.lab.bench.figures.curves import Effects, forest_figure
    from nho.lab.bench.figures.plotstyle import save

    tables, figures = [], []
    for count in BUDGETS:
        of_count = chosen(rows, anchors=str(count))
        if not of_count:
            continue
        base = chosen(of_count, changes="")
        errors, ious = {}, {}
        lines = [
            (
                "(default)",
                (
                    cell(base, _VERTEX),
                    worst(base),
                    cell(base, "iou"),
                    cell(base, _RISK),
                    EMPTY_CELL,
                ),
            )
        ]
        for name, changes in {**PARTS, **ADDED}.items():
            without = chosen(of_count, changes=" ".join(changes))
            if without:
                label = name if name in ADDED else f"w/o {name}"
                errors[label] = _difference(without, base, _VERTEX)
                ious[label] = _difference(without, base, "iou")
                cells = (
                    _shown(errors[label], 2),
                    worst(without),
                    _shown(ious[label], 1),
                    _shown(_difference(without, base, _RISK), 2),
                    _times_as_long(without, base),
                )
                lines.append((label, cells))
        tables.append(_table(count, of_count, lines))
        panels = [
            Effects(f"error at vertices ×100, {count} anchors", "low", errors),
            Effects(f"IoU, {count} anchors", "high", ious),
        ]
        figures += save(forest_figure(panels), folder / f"parts-{count}")
    return Findings(tables, figures)


def _table(
    count: int, rows: list[ResultRow], lines: Sequence[tuple[str, tuple[Cell, ...]]]
) -> Table:
    return Table(
        f"parts-{count}",
        f"Parts of preset default, {count} anchors",
        f"{counted(rows)}. First row: means. Others: difference to it over the same pairs. "
        "Errors at vertices. Risk: error of the more "
        "confident half over that of all. Time: median of the ratios.",
        ((("error ×100", 1), ("worst pair", 1), ("IoU", 1), ("risk", 1), ("time", 1)),),
        (Section("", tuple(lines[:1])), Section("difference when changed", tuple(lines[1:]))),
    )


def _difference(changed: list[ResultRow], base: list[ResultRow], column: str) -> Difference:
    return paired_difference(per_pair(pooled(changed), column), per_pair(pooled(base), column))


def _times_as_long(changed: list[ResultRow], base: list[ResultRow]) -> Cell:
    """Median over pairs of the ratio of seconds."""
    mine, before = (per_pair(pooled(rows), "seconds") for rows in (changed, base))
    ratios = [mine[pair] / before[pair] for pair in mine if pair in before]
    return Cell(median(ratios) if ratios else float("nan"), digits=2)


def _shown(gap: Difference, digits: int) -> Cell:
    return Cell(gap.mean, (gap.high - gap.low) / 2, digits)


STUDY = Study(
    "parts",
    "Parts of preset default",
    "What does each part of the recipe give, and what would the paper's other losses add?",
    plan,
    report,
)
