"""What methods take: time and memory beside the error."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from statistics import median

from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.studies.scoreboard import cell, chosen, counted, methods_of
from nho.lab.bench.tabular import Cell, Section, Table

_TAKEN = ("cpu_seconds", "more_mb")


def effort_table(rows: list[ResultRow]) -> Table:
    """Mean error, median CPU seconds and median memory by family and method."""
    sections = []
    for family in dict.fromkeys(row["family"] for row in rows):
        of_family = chosen(rows, family=family)
        lines = [
            (method, _taken(chosen(of_family, method=method))) for method in methods_of(of_family)
        ]
        sections.append(Section(FAMILIES[family].title, tuple(lines), ("low",) * 3))
    return Table(
        "effort",
        "Time and memory beside the error",
        f"{counted(rows)}. Input as given. Medians of CPU time and of the memory that a match "
        "takes beyond what its process held before.",
        ((("error ×100", 1), ("CPU seconds", 1), ("MB", 1)),),
        tuple(sections),
    )


def _taken(rows: list[ResultRow]) -> tuple[Cell, ...]:
    values = [[float(row[column] or "nan") for row in rows] for column in _TAKEN]
    seconds, memory = (_median(each) for each in values)
    return cell(rows, "geodesic_error"), Cell(seconds, digits=2), Cell(memory, digits=0)


def _median(values: Iterable[float]) -> float:
    known = [value for value in values if not isnan(value)]
    return median(known) if known else float("nan")
