"""Learned methods with the weights that their authors published, beside the paper's own method.

The weights lie in the folder ``weights`` of the data sets. They were trained on these very cuts, so
the figures say that the networks compute what their authors' do, not how good they are elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.published import METHODS
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.studies.claims import Claim
from nho.lab.bench.studies.scoreboard import (
    BOTH,
    TITLES,
    chosen,
    counted,
    measured_section,
    methods_of,
    published_section,
    stand_ins,
)
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Table
from nho.lab.bench.tasks import MatchTask

FAMILY = "shrec16_cuts"
WEIGHTS = {
    "dpfm": "dpfm_shrec_cuts.pth",
    "dpfm+zoomout": "dpfm_shrec_cuts.pth",
    "ulrssm": "ulrssm_shrec16_cuts.pth",
    "nho-dpfm": "dpfm_shrec_cuts.pth",
}
OURS, OURS_DPFM = "paper", "nho-dpfm"
# The networks bring shapes to unit area themselves, so scale is no matter to them.
_PRINTED = {"scale": "normalised", "rotation": "unrotated"}
_CLAIM = Claim("anchors of DPFM lower the error of the method", "geodesic_error", "falls")
_NOTHING = (
    "Nothing to measure: this study needs the family {family}, torch (nho[learned]) and, in the "
    "folder weights of --data, {files}."
)


def plan(request: StudyRequest) -> list[MatchTask]:
    """Every network whose weights are there, on the cuts as given; and preset ``paper``."""
    if FAMILY not in request.families or find_spec("torch") is None:
        return []
    asked = replace(request, families=(FAMILY,))
    found = {
        method: path
        for method, name in WEIGHTS.items()
        if (path := _folder(request) / name).is_file()
    }
    if request.quick:
        found = dict(list(found.items())[:1])
    tasks = [
        task
        for method, path in found.items()
        for task in asked.tasks(method, changes=(f"checkpoints={path}",))
    ]
    return tasks + (asked.tasks(OURS) if OURS_DPFM in found else [])


def _folder(request: StudyRequest) -> Path:
    return (request.data or Path()) / "weights"


def report(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """One table, and whether the paper's claim holds."""
    if not rows:
        files = ", ".join(dict.fromkeys(WEIGHTS.values()))
        return Findings(notes=[_NOTHING.format(family=FAMILY, files=files)])
    methods = methods_of(rows)
    dataset = FAMILIES[FAMILY].published
    titles = [(METHODS[key], key) for key in map(_published_key, methods) if key in METHODS]
    words = ""
    if OURS_DPFM in methods and OURS in methods:
        before, after = (chosen(rows, method=method) for method in (OURS, OURS_DPFM))
        words = " " + _CLAIM.judged(before, after)
    table = Table(
        "learned",
        "Networks with published weights, on the shapes that they were trained on",
        f"{counted(rows)}, as given. Published: normalised, unrotated.{stand_ins([FAMILY])}{words}",
        (tuple((TITLES[column], 1) for column in BOTH),),
        (
            measured_section([(name, chosen(rows, method=name)) for name in methods], BOTH),
            published_section(
                titles, BOTH, lambda key: {"dataset": dataset, "method": key, **_PRINTED}
            ),
        ),
    )
    return Findings([table])


def _published_key(method: str) -> str:
    return {OURS: "nho"}.get(method, method.replace("+", "-"))


STUDY = Study(
    "learned",
    "Learned methods with published weights",
    "Do the networks compute what their authors' do, and what are their features worth as anchors?",
    plan,
    report,
    wide=True,
)
