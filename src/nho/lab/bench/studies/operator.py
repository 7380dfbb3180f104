"""What the paper's operator is worth: what it learns on a few pairs, in pictures and numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nho.lab.bench.figures.cases import Case
from nho.lab.bench.figures.evolution import Evolution, Stage, draw_evolution, evolve, with_stages
from nho.lab.bench.figures.operator_sheet import draw_operator
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.studies.pictures import case_of
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Cell, Section, Table
from nho.lab.bench.tasks import Task
from nho.settings import Settings, preset

PREFERRED = ("pfaust_m", "shrec16_cuts", "pfarm")
MOST = 3  # pairs: more than can be looked at side by side tell no more
_SHOWN = 4  # eigenvalues in the table
_BETTER = ("high", "low", *[""] * _SHOWN, "high")
_NOTE = (
    "One pair each: examples, no measurement. Error: mean geodesic error times 100 before NAM. "
    "mu: eigenvalues of the operator, which should be those of the partial shape (Dirichlet); the "
    "full shape has area 1. Inside: share of the squared eigenfunctions, the mean of the first "
    "{modes}, that lies in the true region, in percent. No operator: the same loop with "
    "eigenfunctions of the full shape, its region where s > 1/2."
)


def plan(request: StudyRequest) -> Sequence[Task]:
    """Nothing: what the operator looks like is in no row."""
    return []


def report(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """The first pair of up to three families: what the loop learns, with and without operator."""
    settings = preset("paper").replace(refinement="none")
    found, sections, figures = [], [], []
    for family, name in chosen(request):
        request.tell(f"operator: rounds of the paper's loop on {name}")
        case = case_of(request, family, name)
        evolution = evolve(case, settings)
        sections.append(section(case, evolution, evolve_plain(case, settings)))
        figures += draw_evolution(case, evolution, folder, f"evolution-{family}")
        found.append((case, evolution))
    figures = draw_operator(found, folder / "operator") + figures
    table = Table(
        "operator",
        "What the operator learns",
        _NOTE.format(modes=settings.recipe.spectral_modes),
        ((("IoU", 1), ("error", 1), *((f"mu_{i + 1}", 1) for i in range(_SHOWN)), ("inside", 1)),),
        tuple(sections),
    )
    return Findings(tables=[table], figures=figures)


def chosen(request: StudyRequest) -> list[tuple[str, str]]:
    """(family, pair): the first pair of up to three families, those of the paper first."""
    first = {family: pair for family, pair in reversed(request.pairs("paper"))}
    families = [family for family in request.families if family in first]
    families.sort(key=lambda family: family not in PREFERRED)
    return [(family, first[family]) for family in families[:MOST]]


def evolve_plain(case: Case, settings: Settings) -> Evolution:
    """The loop without the operator: coordinates are eigenfunctions of the full shape."""
    return evolve(case, settings.replace(coordinates="laplacian"))


def section(case: Case, learned: Evolution, plain: Evolution) -> Section:
    """Rows of one pair: what is wanted, no operator, the first fit, the last round."""
    first, *_, last = learned.stages
    *_, plain_last = plain.stages
    shown = (
        ("no operator", plain, plain_last),
        (first, learned, first),
        (last, learned, last),
    )
    blank = Cell(math.nan)
    wanted = (blank, blank, *_eigenvalues(learned.partial_eigenvalues), blank)
    rows = [("partial shape", wanted)]
    for label, evolution, name in shown:
        stage, score = evolution.stages[name], with_stages(case, evolution).scores[name]
        rows.append(
            (
                label,
                (
                    Cell(score.iou, digits=1),
                    Cell(score.geodesic_error),
                    *_eigenvalues(stage.eigenvalues),
                    Cell(100 * inside(case, stage), digits=1),
                ),
            )
        )
    return Section(case.title, tuple(rows), _BETTER)


def _eigenvalues(values: np.ndarray) -> tuple[Cell, ...]:
    padded = [*values[:_SHOWN], *[math.nan] * _SHOWN][:_SHOWN]
    return tuple(Cell(float(value), digits=1) for value in padded)


def inside(case: Case, stage: Stage) -> float:
    """Share of the energy in the true region.

    Eigenfunctions have norm one, so it is the mean over them of the share of each.
    """
    mass = case.pair.full.vertex_areas * np.nan_to_num(stage.energy)
    return float(mass[case.pair.truth.region].sum() / mass.sum())


STUDY = Study(
    "operator",
    "What the operator is worth",
    "What do potential, energy and eigenfunctions look like before and after the rounds?",
    plan,
    report,
)
