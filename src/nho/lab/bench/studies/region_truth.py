"""Region scores under every rule for the true region, beside what the paper prints.

The paper does not say its rule, but some of its rows of FSPM give away how large its regions are.
IoU equals precision there, and recall is a whole number of pairs (85 % of 40): so reads a method
that marks the whole shape on these pairs and nothing on the others. On a pair where it does, the
share of the true region is its precision; the mean over those pairs is precision over recall.
"""

from __future__ import annotations

import math

from nho.evaluation.ground_truth import REGION_RULES
from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.published import METHODS
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.studies.scoreboard import (
    cells,
    chosen,
    counted,
    methods_of,
    published_cells,
    stand_ins,
)
from nho.lab.bench.tabular import Cell, Section, Table

_SHOWN = ("true_area", "iou", "precision", "recall")
_PRINTED = {"scale": "default", "rotation": "unrotated"}
Line = tuple[str, tuple[Cell, ...]]


def region_truth_table(rows: list[ResultRow]) -> Table:
    """Every family and method under every rule; rows of one input setting, as given."""
    families = list(dict.fromkeys(row["family"] for row in rows))
    sections = []
    for family in families:
        title, own = FAMILIES[family].title, chosen(rows, family=family)
        sections.append(Section(f"{title}: measured here", tuple(_measured(own))))
        if printed := _published(FAMILIES[family].published):
            sections.append(Section(f"{title}: published, rule not said", tuple(printed)))
    rules = "; ".join(f"{name}: {rule.words}" for name, rule in REGION_RULES.items())
    return Table(
        "region-truth",
        "Region scores by rule for the true region, input as given",
        f"{counted(rows)}. The true region is, by rule, {rules}. Area: share of the full shape "
        "that is the true region; for FSPM what its printed row gives away (IoU = precision, as of "
        "a method that marks whole shapes or nothing, so the share is precision over recall)."
        f"{stand_ins(families)}",
        ((("area", 1), ("IoU", 1), ("precision", 1), ("recall", 1)),),
        tuple(sections),
    )


def _measured(rows: list[ResultRow]) -> list[Line]:
    return [
        (
            f"{method}, {rule}",
            cells(chosen(rows, method=method), [f"{column}_{rule}" for column in _SHOWN]),
        )
        for method in methods_of(rows)
        for rule in REGION_RULES
    ]


def _published(dataset: str) -> list[Line]:
    """The paper's own method, and FSPM where it tells the size of the region."""
    ours = published_cells(_SHOWN, dataset=dataset, method="nho", **_PRINTED)
    _, *scores = published_cells(_SHOWN, dataset=dataset, method="fspm", **_PRINTED)
    iou, precision, recall = (score.value for score in scores)
    found = [] if math.isnan(ours[1].value) else [(METHODS["nho"], ours)]
    if iou == precision:  # never of NaN, where nothing is printed
        area = Cell(100 * precision / recall, digits=1)
        found.append((METHODS["fspm"], (area, *scores)))
    return found
