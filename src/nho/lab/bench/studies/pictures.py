"""The qualitative pictures of the paper, and the same shapes in 3D."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.figures.cases import Case
from nho.lab.bench.figures.gallery import render_gallery
from nho.lab.bench.figures.pictures import draw, draw_discretisation
from nho.lab.bench.perturb import Conditions, present
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tasks import Task, contender, loaded
from nho.runtime.atomic_file import write_whole

METHODS = ("default", "paper", "anchor-distance")
COARSE = (0.1, 0.05)  # shares of the full faces, as in the paper's figure


def plan(request: StudyRequest) -> Sequence[Task]:
    """Nothing: pictures need whole answers, which no row holds."""
    return []


def report(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """One pair a family: support, transferred colours, coarse meshes."""
    first = {family: pair for family, pair in reversed(request.pairs())}
    firsts = [(family, first[family]) for family in request.families]
    methods = request.methods or METHODS
    cases = [case_of(request, family, pair, methods) for family, pair in firsts]
    figures = draw(cases, folder)
    shown = firsts[:1] if request.quick else firsts[:3]
    coarse = {
        f"{share:.0%} of the faces": [
            case_of(request, *one, ("default",), Conditions(full_faces=share)) for one in shown
        ]
        for share in COARSE
    }
    figures += draw_discretisation(coarse, folder)
    page = folder / "gallery.html"
    write_whole(page, render_gallery(cases, "Support and map, in 3D"))
    return Findings(figures=figures, files=[page])


def case_of(
    request: StudyRequest,
    family: str,
    name: str,
    methods: Sequence[str] = (),
    conditions: Conditions | None = None,
) -> Case:
    """A pair and the answers of some methods."""
    given = present(loaded(family, request.data, name), conditions or Conditions())
    results = {}
    for method in map(contender, methods):
        if (family, name) in request.pairs(method.name):
            request.tell(f"pictures: {method.name} on {name}")
            results[method.name] = method.call(
                given.pair.partial, given.pair.full, given.anchors, method.settings
            )
    title = f"{FAMILIES[family].title}, {name}"
    pair = replace(given.pair, truth=given.truth_under(request.region_truth))
    return Case(title, pair, given.anchors, results)


STUDY = Study(
    "pictures",
    "Pictures",
    "What do regions and maps look like?",
    plan,
    report,
)
