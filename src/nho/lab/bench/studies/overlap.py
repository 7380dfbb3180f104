"""Which part of the partial shape has a partner at all: found with, and without, being sought."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nho.lab.bench.datasets.family import FAMILIES, FOREIGN, LACKING
from nho.lab.bench.perturb import Conditions
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.studies.robustness import worst
from nho.lab.bench.studies.scoreboard import cell, chosen, counted
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Cell, Section, Table
from nho.lab.bench.tasks import MatchTask

ANCHORS = (25, 10, 5)
_OFF = ("overlap=false",)
_COLUMNS = {
    "overlap_iou": "IoU, partial",
    "iou": "IoU, full",
    "no_partner_f1": "F1, no partner",
    "matched": "partners found",
    "geodesic_error": "error ×100",
}


def plan(request: StudyRequest) -> list[MatchTask]:
    """Preset `default` as it is; with many anchors also told that every vertex has a partner.

    On species, and on the families asked for: with a part of every full shape cut away, with
    foreign matter on every partial one, and, with many anchors, as they are, where nothing must be
    found.
    """
    changed = {*LACKING.values(), *FOREIGN.values(), "species"}
    others = [of.get(name, name) for name in request.families for of in (LACKING, FOREIGN)]
    lacking = tuple(dict.fromkeys(name for name in others if name in changed))
    ordinary = tuple(name for name in request.families if name not in changed)
    counts = ANCHORS[:1] if request.quick else ANCHORS
    conditions = [Conditions(anchors=count) for count in counts]
    sought = replace(request, families=lacking)
    return [
        *sought.tasks("default", conditions),
        *sought.tasks("default", conditions[:1], _OFF),
        *replace(request, families=ordinary).tasks("default", conditions[:1]),
    ]


def report(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """A section a family, a line for every number of anchors."""
    sections = []
    for name in dict.fromkeys(row["family"] for row in rows):
        lines: list[tuple[str, tuple[Cell, ...]]] = []
        for changes, words in (("", ""), (_OFF[0], ", partners for all")):
            for count in ANCHORS:
                of = chosen(rows, family=name, anchors=str(count), changes=changes)
                if of:
                    cells = (*(cell(of, column) for column in _COLUMNS), worst(of))
                    lines.append((f"{count} anchors{words}", cells))
        sections.append(Section(FAMILIES[name].title, tuple(lines)))
    table = Table(
        "overlap",
        "Missing partners",
        f"{counted(rows)}. IoU of the vertices of the partial shape that have a partner, and of "
        "the region on the full one; F1 of finding vertices that have none; share of those with a "
        "partner that are given one; error where a partner exists. Families as they are: all have "
        "a partner, so less than 100 % found are false alarms.",
        (tuple((head, 1) for head in (*_COLUMNS.values(), "worst pair")),),
        tuple(sections),
    )
    return Findings([table])


STUDY = Study(
    "overlap",
    "Missing partners",
    "Is it found which part of the partial shape has no partner, and does the rest suffer?",
    plan,
    report,
)
