"""Pieces that most studies share: rows to cells, published numbers to cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.published import select
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.statistics import per_pair, summary_cell
from nho.lab.bench.tabular import Cell, Section

EMPTY_CELL = Cell(float("nan"))
REGION = ("iou", "precision", "recall", "f1")
BOTH = (*REGION, "geodesic_error")
TITLES = {
    "iou": "IoU",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "geodesic_error": "error ×100",
    "geodesic_error_vertex": "at vertices",
}
MEASURED = "measured here"
PUBLISHED_TITLE = "published (the paper's own test pairs)"


def digits(column: str) -> int:
    """Errors are shown to the hundredth, shares to the tenth of a percent."""
    return 2 if column.startswith(("geodesic", "risk", "aurc")) else 1


def better(columns: Iterable[str]) -> tuple[str, ...]:
    """Which way is better, column by column."""
    return tuple("low" if column.startswith("geodesic") else "high" for column in columns)


def pooled(rows: Iterable[ResultRow]) -> list[ResultRow]:
    """Rows in which pairs of different families have different names."""
    return [{**row, "pair": f"{row['family']}/{row['pair']}"} for row in rows]


def cell(rows: Iterable[ResultRow], column: str) -> Cell:
    """Mean over all pairs of all families, with its interval."""
    return summary_cell(per_pair(pooled(rows), column).values(), digits(column))


def cells(rows: Sequence[ResultRow], columns: Iterable[str]) -> tuple[Cell, ...]:
    """One cell a column."""
    return tuple(cell(rows, column) for column in columns)


def chosen(rows: Iterable[ResultRow], **wanted: str) -> list[ResultRow]:
    """Rows whose columns say this."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def methods_of(rows: Iterable[ResultRow]) -> list[str]:
    """Methods in order of appearance."""
    return list(dict.fromkeys(row["method"] for row in rows))


def counted(rows: Sequence[ResultRow]) -> str:
    """How many pairs, in words."""
    per_family: dict[str, set[str]] = {}
    for row in rows:
        per_family.setdefault(row["family"], set()).add(row["pair"])
    words = [f"{len(pairs)} of {FAMILIES[name].title}" for name, pairs in per_family.items()]
    total = sum(map(len, per_family.values()))
    return f"{total} pair{'s' * (total != 1)} ({', '.join(words)})"


def published_cells(columns: Iterable[str], **fields: str) -> tuple[Cell, ...]:
    """Printed numbers, a metric a column; nothing where the paper has none."""
    found = {entry.metric: entry for entry in select(**fields)}
    return tuple(
        Cell(found[column].number, digits=found[column].decimals) if column in found else EMPTY_CELL
        for column in columns
    )


def stand_ins(families: Iterable[str]) -> str:
    """A sentence, after a space, on every family that has the figures of another one beside it."""
    return "".join(
        f" Published figures at {FAMILIES[family].title} are of {FAMILIES[other].title}: same "
        "maker and classes, other pairs."
        for family in families
        if (other := FAMILIES[family].published) not in ("", family)
    )


def measured_section(
    variants: Iterable[tuple[str, Sequence[ResultRow]]],
    columns: Sequence[str],
    title: str = MEASURED,
) -> Section:
    """A row a variant."""
    rows = tuple((label, cells(of_variant, columns)) for label, of_variant in variants)
    return Section(title, rows, better(columns))


def published_section(
    labels: Iterable[tuple[str, str]],
    columns: Sequence[str],
    of: Callable[[str], dict[str, str]],
) -> Section:
    """A row a label; ``of`` turns its key into the fields of the published numbers."""
    rows = tuple((label, published_cells(columns, **of(key))) for label, key in labels)
    return Section(PUBLISHED_TITLE, rows, better(columns))
