"""The summary table: one row per pair, in the order of the input."""

from __future__ import annotations

import csv
import io
from collections.abc import Container, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

from nho.problem.result import MatchResult
from nho.runtime.atomic_file import write_whole
from nho.runtime.input_file import read_text

SUMMARY = "summary.csv"  # lies beside the folders of the pairs
FORMULA_SIGNS = ("=", "+", "-", "@")  # at the start of a cell; programs take them for formulas
Status = Literal["ok", "failed", "skipped"]


@dataclass(frozen=True)
class SummaryRow:
    """A line of the table; what is not known is None, an empty cell.

    Attributes
    ----------
    status : str
        ``ok``: the result is there, made now or earlier; ``failed``: tried, and ``error`` says
        why it is not; ``skipped``: not tried yet.
    seconds : float or None
        Time of the match, or until it failed.
    suspects : int or None
        Anchors that contradict the others.
    warnings : int or None
        How many; the texts are in the pair's ``result.json``.
    """

    name: str
    status: Status
    error: str = ""
    seconds: float | None = None
    matched_vertices: int | None = None
    region_vertices: int | None = None
    mean_confidence: float | None = None
    suspects: int | None = None
    warnings: int | None = None

    @classmethod
    def of_result(cls, name: str, result: MatchResult) -> SummaryRow:
        """The row of a finished pair."""
        summary = result.summary()
        return cls(
            name,
            "ok",
            seconds=round(float(result.timings.get("total", 0.0)), 3),
            matched_vertices=summary["matched_vertices"],
            region_vertices=summary["region_vertices"],
            mean_confidence=round(summary["mean_confidence"], 4),
            suspects=len(result.suspect_anchors),
            warnings=len(result.warnings) + (result.status != "ok"),
        )


def write_summary(out: Path, rows: Iterable[SummaryRow]) -> None:
    """Write ``summary.csv``, whole or not at all."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(SummaryRow)], lineterminator="\n")
    writer.writeheader()
    # csv writes None as an empty cell
    writer.writerows({key: _cell(value) for key, value in asdict(row).items()} for row in rows)
    write_whole(out / SUMMARY, text.getvalue())


def without_result(out: Path, found: Container[str]) -> dict[str, str]:
    """Why pairs of a batch have no result, by name; ``found`` are those that have one."""
    if not (out / SUMMARY).exists():
        return {}
    rows = csv.DictReader(io.StringIO(read_text(out / SUMMARY)))
    return {
        str(row.get("name")): f"{row['status']}: {row.get('error')}"
        for row in rows
        if row.get("status") in ("failed", "skipped") and row.get("name") not in found
    }


def _cell(value: object) -> object:
    """The quote keeps a spreadsheet from taking a message that begins so for a formula."""
    formula = isinstance(value, str) and value.startswith(FORMULA_SIGNS)
    return f"'{value}" if formula else value
