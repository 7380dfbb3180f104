"""Can the confidence be believed, and does the suggested next anchor help?"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from nho.lab.bench.next_anchor import CHOICES, course
from nho.lab.bench.perturb import Conditions
from nho.lab.bench.rowfile import Row
from nho.lab.bench.scores import RISK_COVERAGES, TRUST_BINS
from nho.lab.bench.statistics import summary_cell
from nho.lab.bench.studies.scoreboard import cell, chosen, counted
from nho.lab.bench.studies.study import Findings, Request, Study
from nho.lab.bench.tabular import Cell, Section, Table
from nho.lab.bench.tasks import MatchTask, Values, loaded
from nho.recipes.guided.confidence import RADIUS

BUDGETS = (5, 10, 25)
FIRST, LAST = 4, 8  # anchors a course begins and ends with


def plan_confidence(request: Request) -> list[MatchTask]:
    """Matches with few and many anchors."""
    conditions = [Conditions(anchors=count) for count in BUDGETS]
    return request.tasks("default", conditions)


def report_confidence(request: Request, rows: list[Row], folder: Path) -> Findings:
    """Risk of the surer half, and confidence against the share of good matches."""
    from nho.lab.bench.curves import save
    from nho.lab.bench.trustfigure import trust_figure

    columns = ("geodesic_error", "risk_half", "aurc_ratio", "aurc_best")
    by_budget = {count: chosen(rows, anchors=str(count)) for count in BUDGETS}
    lines = [
        (str(count), tuple(cell(of_count, column) for column in columns))
        for count, of_count in by_budget.items()
        if of_count
    ]
    risk = Table(
        "risk",
        "Error of the more confident half",
        f"{counted(rows)}. Risk: mean error of the more confident half of the vertices over that "
        "of all (1 = confidence tells nothing); AURC: mean of that ratio over all shares, not only "
        "the half; best: the same if the errors themselves were known.",
        ((("error ×100", 1), ("risk of the surer half", 1), ("AURC", 1), ("best AURC", 1)),),
        (Section("anchors", tuple(lines)),),
    )
    trust = {count: reliability(of_count) for count, of_count in by_budget.items() if of_count}
    bins = [
        (
            f"{TRUST_BINS[number]:.1f} to {TRUST_BINS[number + 1]:.1f}",
            tuple(
                Cell(value, digits=place)
                for table in trust.values()
                for value, place in zip(table[number], (0, 2, 2), strict=True)
            ),
        )
        for number in range(len(TRUST_BINS) - 1)
    ]
    heads = tuple((f"{count} anchors", 3) for count in trust)
    believed = Table(
        "reliability",
        "Confidence against the truth",
        f"Share of the vertices less than {RADIUS:.0%} of sqrt(area) off, by confidence. The "
        "model behind the confidence was fitted on these same families.",
        (heads, (("vertices", 1), ("confidence", 1), ("within", 1)) * len(trust)),
        (Section("confidence", tuple(bins)),),
    )
    risks = {count: _mean_risk(of_count) for count, of_count in by_budget.items() if of_count}
    figures = save(trust_figure(trust, RISK_COVERAGES, risks, RADIUS), folder / "confidence")
    return Findings([risk, believed], figures)


def reliability(rows: list[Row]) -> np.ndarray:
    """(bins, 3) vertices, mean confidence and share of good matches; NaN for empty bins."""
    tables = [np.array(row["trust"].split(), dtype=float).reshape(-1, 3) for row in rows]
    count = np.sum([table[:, 0] for table in tables], axis=0)
    sums = np.sum([table[:, :1] * table[:, 1:] for table in tables], axis=0)
    with np.errstate(invalid="ignore"):
        return np.column_stack([count, sums / np.where(count > 0, count, np.nan)[:, None]])


def _mean_risk(rows: list[Row]) -> np.ndarray:
    """(coverages,) mean over matches."""
    return np.mean([np.array(row["risk"].split(), dtype=float) for row in rows if row["risk"]], 0)


@dataclass(frozen=True)
class CourseTask:
    """A pair that gets one anchor after the other, chosen in one way."""

    family: str
    pair: str
    choice: str

    kind = "courses"
    columns = ("family", "pair", "choice", "first", "last", "errors", "version", "settings_hash")
    effort = 2.0 * (LAST - FIRST + 1)

    @property
    def keys(self) -> dict[str, str]:
        """What names the row."""
        return {
            "family": self.family,
            "pair": self.pair,
            "choice": self.choice,
            "first": str(FIRST),
            "last": str(LAST),
        }

    @property
    def stamp(self) -> dict[str, str]:
        """The settings behind it."""
        return {"settings_hash": MatchTask("", "", "default").contender.settings_hash}

    def measure(self, data: Path | None, threads: int) -> Values:
        """Errors with FIRST ... LAST anchors."""
        pair = loaded(self.family, data, self.pair)
        errors = course(pair, CHOICES[self.choice], FIRST, LAST, threads)
        text = " ".join(f"{error:.4f}" for error in errors)
        return {"errors": text, "version": version("nho"), **self.stamp}


def plan_next(request: Request) -> list[CourseTask]:
    """Every way to choose, on every pair."""
    pairs = request.pairs()[:1] if request.quick else request.pairs()
    return [CourseTask(family, pair, choice) for family, pair in pairs for choice in CHOICES]


def report_next(request: Request, rows: list[Row], folder: Path) -> Findings:
    """Mean error against the number of anchors."""
    from nho.lab.bench.curves import Series, budget_figure, save

    counts = range(FIRST, LAST + 1)
    lines = []
    for choice in CHOICES:
        of_choice = np.array(
            [row["errors"].split() for row in chosen(rows, choice=choice)], dtype=float
        ).reshape(-1, len(counts))
        lines.append((choice, tuple(summary_cell(column) for column in of_choice.T)))
    table = Table(
        "next-anchor",
        "One anchor after the other",
        f"{counted(rows)}. Mean error ×100 at vertices, preset default, from {FIRST} anchors on.",
        (tuple((str(count), 1) for count in counts),),
        (Section("", tuple(lines), ("low",) * len(counts)),),
    )
    series = [Series(name, tuple(map(float, counts)), cells) for name, cells in lines]
    figure = budget_figure({"error ×100 at vertices": series}, "anchors", logarithmic=False)
    return Findings([table], save(figure, folder / "next-anchor"))


STUDIES = [
    Study(
        "confidence",
        "Confidence",
        "Does the confidence tell good matches from bad ones?",
        plan_confidence,
        report_confidence,
    ),
    Study(
        "next-anchor",
        "The next anchor",
        "Does the suggested next anchor lower the error faster than the usual choices?",
        plan_next,
        report_next,
    ),
]
