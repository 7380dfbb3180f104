"""Fewer anchors than modes: where Neural ZoomOut (NAM) starts.

With m < 20 anchors the loop aligns in m dimensions ("Effect of the Anchor Budget"). App. D lets
NAM grow from 20 to 100 dimensions and names no other start; that is what preset ``paper`` does. The
other reading takes "the spectral correspondence dimension" for that of NAM as well: it starts at m.
"""

from __future__ import annotations

from pathlib import Path

from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.perturb import Conditions
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.studies.claims import Claim
from nho.lab.bench.studies.scoreboard import TITLES, cell, chosen, counted, published_cells
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Cell, Section, Table
from nho.lab.bench.tasks import MatchTask

METHOD, ERROR = "paper", "geodesic_error"
ANCHORS = (5, 10, 15)  # fewer than the 20 dimensions of NAM's first stage


def plan(request: StudyRequest) -> list[MatchTask]:
    """Both starts with every number of anchors, on normalised shapes as in study ``budget``."""
    return [
        task
        for number in (ANCHORS[:1] if request.quick else ANCHORS)
        for changes in ((), _start_at(number))
        for task in request.tasks(
            METHOD,
            [Conditions(anchors=number, input_scale="normalised")],
            changes,
            request.seeds,
        )
    ]


def _start_at(anchors: int) -> tuple[str, ...]:
    return (f"refine_first={anchors}",)


def report(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """Errors from both starts, family by family, and which is lower over all of them."""
    sections, words = [], []
    for number in ANCHORS:
        of_number = chosen(rows, anchors=str(number))
        if not of_number:
            continue
        families = list(dict.fromkeys(row["family"] for row in of_number))
        lines = [(FAMILIES[name].title, chosen(of_number, family=name)) for name in families]
        lines += [("all of them", of_number)] if len(families) > 1 else []
        printed = published_cells([ERROR], table="anchor-number", method=str(number))
        errors = [(name, (*_from_both(own, number), *printed)) for name, own in lines]
        sections.append(Section(f"{number} anchors", tuple(errors), ("low", "low", "")))
        lower = Claim(f"starting at {number} lowers the error", ERROR, "falls")
        words.append(lower.judged(chosen(of_number, changes=""), _early(of_number, number)))
    # Every number of anchors has a setting of its own; here they are trials of one pair.
    early = [
        {**row, "changes": ""}
        for number in ANCHORS
        for row in _early(chosen(rows, anchors=str(number)), number)
    ]
    lower = Claim("starting at as many as anchors lowers the error of a pair", ERROR, "falls")
    words.append(lower.judged(chosen(rows, changes=""), early))
    table = Table(
        "nam-start",
        f"Where NAM starts with fewer than 20 anchors: {TITLES[ERROR]} of preset {METHOD}",
        f"{counted(rows)}, normalised and unrotated. The region is the same from both starts. "
        "Published: CUTS'24, start not stated. " + " ".join(words),
        ((("from 20", 1), ("from as many as anchors", 1), ("published", 1)),),
        tuple(sections),
    )
    return Findings([table])


def _from_both(rows: list[ResultRow], anchors: int) -> tuple[Cell, Cell]:
    return cell(chosen(rows, changes=""), ERROR), cell(_early(rows, anchors), ERROR)


def _early(rows: list[ResultRow], anchors: int) -> list[ResultRow]:
    return chosen(rows, changes=" ".join(_start_at(anchors)))


STUDY = Study(
    "nam-start",
    "Where Neural ZoomOut starts with few anchors",
    "With fewer anchors than modes, is the map better if NAM starts at as many dimensions?",
    plan,
    report,
    vertices=2_000,
)
