"""Whether the confidence can be believed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nho.lab.bench.perturb import Conditions
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.scores import RISK_COVERAGES, TRUST_BINS
from nho.lab.bench.studies.scoreboard import cell, chosen, counted
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Cell, Section, Table
from nho.lab.bench.tasks import MatchTask
from nho.recipes.guided.confidence import RADIUS

BUDGETS = (5, 10, 25)


def plan(request: StudyRequest) -> list[MatchTask]:
    """Matches with few and many anchors."""
    conditions = [Conditions(anchors=count) for count in BUDGETS]
    return request.tasks("default", conditions)


def report(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """Risk of the surer half, and confidence against the share of good matches."""
    from nho.lab.bench.figures.curves import trust_figure
    from nho.lab.bench.figures.plotstyle import save

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


def reliability(rows: list[ResultRow]) -> np.ndarray:
    """(bins, 3) vertices, mean confidence and share of good matches; NaN for empty bins."""
    tables = [np.array(row["trust"].split(), dtype=float).reshape(-1, 3) for row in rows]
    count = np.sum([table[:, 0] for table in tables], axis=0)
    sums = np.sum([table[:, :1] * table[:, 1:] for table in tables], axis=0)
    with np.errstate(invalid="ignore"):
        return np.column_stack([count, sums / np.where(count > 0, count, np.nan)[:, None]])


def _mean_risk(rows: list[ResultRow]) -> np.ndarray:
    """(coverages,) mean over matches."""
    risks = np.array([row["risk"].split() for row in rows if row["risk"]], dtype=float)
    mean: np.ndarray = risks.mean(axis=0)
    return mean


STUDY = Study(
    "confidence",
    "Confidence",
    "Does the confidence tell good matches from bad ones?",
    plan,
    report,
)
