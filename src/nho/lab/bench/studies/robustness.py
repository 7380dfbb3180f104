"""What harm wrong anchors and other units do."""

from __future__ import annotations

from pathlib import Path

from nho.lab.bench.perturb import BAD_KINDS, Conditions
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.statistics import per_pair
from nho.lab.bench.studies.scoreboard import cell, chosen, counted, methods_of, pooled
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Cell, Section, Table
from nho.lab.bench.tasks import MatchTask

SHARES = ("0", "0.1", "0.2", "0.3")
KINDS = {
    "random": "moved to random vertices",
    "swap": "exchanged in twos",
    "absent": "left out",
}
SCALES = (0.001, 3.0, 1000.0)


def plan_wrong(request: StudyRequest) -> list[MatchTask]:
    """Shares of 25 anchors made wrong, in two ways, or left out."""
    shares = ("0", "0.2") if request.quick else SHARES
    conditions = [Conditions()] + [
        Conditions(bad=float(share), bad_kind=kind)
        for kind in BAD_KINDS
        for share in shares
        if share != "0"
    ]
    methods = request.methods or ("default",)
    return [task for method in methods for task in request.tasks(method, conditions)]


def report_wrong(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """Errors and what was found out."""
    columns = ("geodesic_error", "geodesic_error_vertex", "iou", "bad_found", "good_blamed")

    def line(of_line: list[ResultRow]) -> tuple[Cell, ...]:
        error, vertex, *others = (cell(of_line, column) for column in columns)
        return (error, vertex, worst(of_line), *others)

    sections = []
    for method in methods_of(rows):
        of_method = chosen(rows, method=method)
        lines = [("none", line(chosen(of_method, bad="0")))]
        for kind, words in KINDS.items():
            for share in SHARES[1:]:
                of_kind = chosen(of_method, bad=share, bad_kind=kind)
                if of_kind:
                    lines.append((f"{float(share):.0%} {words}", line(of_kind)))
        sections.append(Section(method, tuple(lines)))
    heads = ("error ×100", "at vertices", "worst pair", "IoU", "wrong found", "right named")
    table = Table(
        "wrong-anchors",
        "Wrong ones among 25 anchors",
        f"{counted(rows)}. Left out: the anchors that are moved in the rows above are not given "
        "at all, which is what there is to hope for. Found and named: percent of the wrong anchors "
        "that the result names as suspect, and of the right ones.",
        (tuple((head, 1) for head in heads),),
        tuple(sections),
    )
    return Findings([table])


def plan_units(request: StudyRequest) -> list[MatchTask]:
    """The partial shape in other units, both shapes turned, both at unit area."""
    conditions = [Conditions()]
    conditions += [Conditions(partial_scale=scale) for scale in SCALES]
    conditions += [Conditions(rotate=1), Conditions(rotate=2, input_scale="normalised")]
    methods = request.methods or ("default",)
    return [task for method in methods for task in request.tasks(method, conditions)]


def report_units(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """Figures that should all be the same, and the scale that was found."""
    labels = {
        "as they come": {"partial_scale": "1", "rotate": "-", "input_scale": "default"},
        **{f"partial × {s:g}": {"partial_scale": f"{s:.12g}"} for s in SCALES},
        "both turned at random": {"rotate": "1", "input_scale": "default"},
        "turned, at unit area": {"rotate": "2", "input_scale": "normalised"},
    }

    def line(of_line: list[ResultRow]) -> tuple[Cell, ...]:
        precise = [
            Cell(value.value, value.half_width, 3)
            for value in (cell(of_line, "geodesic_error"), cell(of_line, "iou"))
        ]
        scales = list(per_pair(pooled(of_line), "scale").values())
        middle = sorted(scales)[len(scales) // 2] if scales else float("nan")
        return (*precise, Cell(middle, digits=4))

    sections = [
        Section(
            method,
            tuple(
                (label, line(chosen(rows, method=method, **wanted)))
                for label, wanted in labels.items()
            ),
        )
        for method in methods_of(rows)
    ]
    table = Table(
        "units",
        "Units and poses of the input",
        f"{counted(rows)}, 25 anchors. Scale: the factor that the result reports for the partial "
        "shape's units, median over pairs.",
        ((("error ×100", 1), ("IoU", 1), ("scale found", 1)),),
        tuple(sections),
    )
    return Findings([table])


def worst(rows: list[ResultRow]) -> Cell:
    """Error of the worst pair."""
    values = per_pair(pooled(rows), "geodesic_error").values()
    return Cell(max(values, default=float("nan")), digits=2)


STUDIES = [
    Study(
        "wrong-anchors",
        "Wrong anchors",
        "Do wrong anchors harm the answer, and are they named?",
        plan_wrong,
        report_wrong,
    ),
    Study(
        "units",
        "Units and poses",
        "Does the answer depend on units or on how the shapes lie in space?",
        plan_units,
        report_units,
    ),
]
