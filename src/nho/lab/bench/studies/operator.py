"""What the paper's operator is worth: what it learns on a few pairs, in pictures and numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.figures.evolution import Evolution, draw_evolution, evolve
from nho.lab.bench.figures.operator_sheet import draw_operator
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.studies.pictures import case_of
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Cell, Section, Table
from nho.lab.bench.tasks import Task
from nho.settings import preset

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
    """A few pairs: what the loop learns, with and without operator."""
    settings = preset("paper").replace(refinement="none")
    found, sections, figures = {}, [], []
    for family, name in chosen(request):
        request.tell(f"operator: rounds of the paper's loop on {name}")
        case = case_of(request, family, name)
        evolution = evolve(case, settings)
        plain = evolve(case, settings.replace(coordinates="laplacian"))
        sections.append(section(evolution, plain))
        figures += draw_evolution(evolution, folder, f"evolution-{family}-{name}")
        found[f"{FAMILIES[family].title}, {name}"] = evolution
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
    """Up to three (family, pair): the first of each family, those of the paper first, then more."""
    pairs = request.pairs("paper")
    first = {family: (family, pair) for family, pair in reversed(pairs)}
    ahead = sorted(first.values(), key=lambda one: (one[0] not in PREFERRED, pairs.index(one)))
    return [*ahead, *(one for one in pairs if one not in ahead)][:MOST]


def section(learned: Evolution, plain: Evolution) -> Section:
    """Rows of one pair: what is wanted, no operator, the first fit, the last round."""
    first, *_, last = learned.stages
    blank = Cell(math.nan)
    wanted = (blank, blank, *_eigenvalues(learned.partial_eigenvalues), blank)
    rows = (
        ("partial shape", wanted),
        ("no operator", _cells(plain, last)),
        (first, _cells(learned, first)),
        (last, _cells(learned, last)),
    )
    return Section(learned.case.title, rows, _BETTER)


def _cells(evolution: Evolution, stage: str) -> tuple[Cell, ...]:
    score = evolution.case.scores[stage]
    return (
        Cell(score.iou, digits=1),
        Cell(score.geodesic_error),
        *_eigenvalues(evolution.stages[stage].eigenvalues),
        Cell(100 * inside(evolution, stage), digits=1),
    )


def _eigenvalues(values: np.ndarray) -> tuple[Cell, ...]:
    padded = [*values[:_SHOWN], *[math.nan] * _SHOWN][:_SHOWN]
    return tuple(Cell(float(value), digits=1) for value in padded)


def inside(evolution: Evolution, stage: str) -> float:
    """Share of the energy of a stage in the true region.

    Eigenfunctions have norm one, so it is the mean over them of the share of each.
    """
    pair = evolution.case.pair
    mass = pair.full.vertex_areas * np.nan_to_num(evolution.stages[stage].energy)
    return float(mass[pair.truth.region].sum() / mass.sum())


STUDY = Study(
    "operator",
    "What the operator is worth",
    "What do potential, energy and eigenfunctions look like before and after the rounds?",
    plan,
    report,
)
