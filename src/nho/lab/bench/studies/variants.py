"""Studies that vary one condition: the choice and number of anchors, the fineness of the mesh."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from nho.lab.bench.perturb import Conditions
from nho.lab.bench.published import select
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.statistics import pck_per_pair, per_pair
from nho.lab.bench.studies.claims import Claim
from nho.lab.bench.studies.scoreboard import (
    BOTH,
    TITLES,
    chosen,
    counted,
    measured_section,
    methods_of,
    pooled,
    published_section,
)
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Cell, Section, Table
from nho.lab.bench.tasks import MatchTask


class OneCondition:
    """A study with one row a value of one condition, on normalised, unrotated shapes.

    Parameters
    ----------
    column : str
        The condition, as it is called in the rows.
    values : {text of the column: (label, key of the published row)}
    quick : tuple of str
        The values that a quick run takes.
    published : str
        Table of the paper with the same rows.
    claims : ((value, other value, what the paper says of the change), ...)
    """

    def __init__(
        self,
        name: str,
        title: str,
        question: str,
        column: str,
        values: Mapping[str, tuple[str, str]],
        quick: tuple[str, ...],
        published: str,
        note: str,
        claims: tuple[tuple[str, str, Claim], ...],
        number_axis: str = "",
    ) -> None:
        self.name, self.title, self.note = name, title, note
        self.column, self.values, self.published = column, values, published
        self._quick, self._axis, self._claims = quick, number_axis, claims
        self.study = Study(name, title, question, self.plan, self.report)

    def plan(self, request: StudyRequest) -> list[MatchTask]:
        """Every method under every value."""
        usual = Conditions(input_scale="normalised").as_text()
        wanted = self._quick if request.quick else tuple(self.values)
        conditions = [Conditions.from_text({**usual, self.column: text}) for text in wanted]
        methods = request.methods or ("default",)
        return [task for method in methods for task in request.tasks(method, conditions)]

    def report(self, request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
        """The table, the curves and, for numbers, the scores against them."""
        present = [text for text in self.values if chosen(rows, **{self.column: text})]
        sections = [
            measured_section(
                [
                    (self.values[text][0], chosen(rows, method=method, **{self.column: text}))
                    for text in present
                ],
                BOTH,
                f"measured here: {method}",
            )
            for method in methods_of(rows)
        ]
        labels = [(label, key) for label, key in self.values.values() if key]
        theirs = published_section(
            labels, BOTH, lambda key: {"table": self.published, "method": key}
        )
        table = Table(
            self.name,
            self.title,
            f"{counted(rows)}. {self.note} Published: preset paper's recipe on CUTS'24. "
            + self._judged(rows),
            (tuple((TITLES[column], 1) for column in BOTH),),
            (*sections, theirs),
        )
        return Findings([table], self._figures(rows, present, theirs, folder))

    def _judged(self, rows: list[ResultRow]) -> str:
        """The paper's claims, method by method."""
        words = []
        for method in methods_of(rows):
            words.append(f"{method}:")
            for value, other, claim in self._claims:
                before, after = (
                    chosen(rows, method=method, **{self.column: text}) for text in (value, other)
                )
                words.append(claim.judged(before, after))
        return " ".join(words)

    def _figures(
        self, rows: list[ResultRow], present: list[str], theirs: Section, folder: Path
    ) -> list[Path]:
        from nho.lab.bench.figures.curves import Series, budget_figure, pck_figure, success_figure
        from nho.lab.bench.figures.plotstyle import PUBLISHED_SUFFIX, save

        ious, shares = {}, {}
        for method in methods_of(rows):
            by_label = {
                self.values[text][0]: pooled(chosen(rows, method=method, **{self.column: text}))
                for text in present
            }
            ious[method] = {
                label: np.array(list(per_pair(of_label, "iou").values()))
                for label, of_label in by_label.items()
            }
            shares[method] = {
                label: np.array(list(pck_per_pair(of_label).values()))
                for label, of_label in by_label.items()
            }
        written = save(success_figure(ious, ordered=True), folder / f"{self.name}-iou-success")
        written += save(pck_figure(shares, ordered=True), folder / f"{self.name}-pck")
        if not self._axis:
            return written
        panels = {}
        for number, column in ((4, "geodesic_error"), (0, "iou")):
            lines = [
                Series(
                    method,
                    tuple(float(text) for text in present),
                    tuple(
                        measured_section(
                            [("", chosen(rows, method=method, **{self.column: text}))], [column]
                        ).rows[0][1][0]
                        for text in present
                    ),
                )
                for method in methods_of(rows)
            ]
            printed: list[tuple[float, Cell]] = [
                (float(text), dict(theirs.rows)[label][number])
                for text, (label, key) in self.values.items()
                if key and select(table=self.published, method=key)
            ]
            lines.append(
                Series(
                    f"paper{PUBLISHED_SUFFIX}",
                    *(tuple(part) for part in zip(*printed, strict=True)),
                )
            )
            panels[TITLES[column]] = lines
        return written + save(budget_figure(panels, self._axis), folder / self.name)


SAMPLING = OneCondition(
    "sampling",
    "How anchors are drawn",
    "Does it matter how the anchored points are spread?",
    "sampling",
    {
        "geodesic": ("geodesic FPS", "geodesic"),
        "euclidean": ("Euclidean FPS", "euclidean"),
        "random": ("uniform random", "random"),
    },
    ("geodesic", "euclidean", "random"),
    "anchor-sampling",
    "25 anchors at annotated vertices of the partial shape.",
    (
        (
            "geodesic",
            "euclidean",
            Claim("Euclidean sampling hardly changes the error", "geodesic_error", "stays", 1),
        ),
        (
            "geodesic",
            "random",
            Claim("random anchors are worse than spread ones", "geodesic_error", "rises"),
        ),
    ),
)
BUDGET = OneCondition(
    "budget",
    "How many anchors",
    "How many anchors are needed?",
    "anchors",
    {
        "3": ("3", ""),
        "5": ("5", "5"),
        "10": ("10", ""),
        "15": ("15", "15"),
        "25": ("25", "25"),
        "50": ("50", "50"),
        "100": ("100", "100"),
    },
    ("5", "25", "100"),
    "anchor-number",
    "Anchors by geodesic farthest-point sampling.",
    (
        ("5", "25", Claim("IoU rises from 5 to 25 anchors", "iou", "rises")),
        ("5", "25", Claim("the error falls from 5 to 25 anchors", "geodesic_error", "falls")),
        ("25", "100", Claim("it falls on from 25 to 100", "geodesic_error", "falls")),
    ),
    "anchors",
)
DISCRETISATION = OneCondition(
    "discretisation",
    "A coarser full mesh",
    "What if the full shape is meshed much more coarsely than the partial one?",
    "full_faces",
    {
        "1": ("all faces", ""),
        "0.5": ("50 %", "0.5"),
        "0.2": ("20 %", "0.2"),
        "0.1": ("10 %", "0.1"),
        "0.05": ("5 %", "0.05"),
    },
    ("1", "0.2", "0.05"),
    "discretization",
    "Faces of the full shape left by quadric edge collapse; the partial shape stays as it is. "
    "Errors are measured on the full shape as it was, onto which the answers are laid back.",
    (
        ("0.5", "0.05", Claim("IoU hardly changes from 50 to 5 %", "iou", "stays", 3)),
        ("0.5", "0.05", Claim("the error rises from 50 to 5 %", "geodesic_error", "rises")),
    ),
    "share of the faces",
)

STUDIES = [SAMPLING.study, BUDGET.study, DISCRETISATION.study]
