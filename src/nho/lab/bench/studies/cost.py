"""The paper's section on computational cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nho.lab.bench.cost import cost_rows, cost_table
from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tasks import Task, loaded
from nho.settings import PRESETS


def plan(request: StudyRequest) -> Sequence[Task]:
    """Nothing: two matches are timed when the table is made."""
    return []


def report(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """Sizes, steps and seconds of both presets on one pair."""
    family, name = request.pairs("paper")[0]
    pair = loaded(family, request.data, name)
    told = f"{name} of {FAMILIES[family].title}, {pair.partial.n_vertices} -> "
    told += f"{pair.full.n_vertices} vertices"
    request.tell(f"cost: timing both presets on {told}")
    matched = (pair.partial, pair.full, pair.anchors(25))
    return Findings([cost_table(cost_rows(PRESETS, matched), told)])


STUDY = Study(
    "cost",
    "Computational cost",
    "How large are the networks, how many steps do they take, and how long does a match last?",
    plan,
    report,
)
