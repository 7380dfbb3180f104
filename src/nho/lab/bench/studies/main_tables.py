"""The paper's main tables and curves: region and correspondence under four input settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nho.lab.baselines import BASELINES
from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.perturb import Conditions
from nho.lab.bench.published import METHODS, select
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.statistics import pck_per_pair, per_pair
from nho.lab.bench.studies.claims import Change, Claim
from nho.lab.bench.studies.effort import effort_table
from nho.lab.bench.studies.region_truth import region_truth_table
from nho.lab.bench.studies.scoreboard import (
    MEASURED,
    PUBLISHED_TITLE,
    REGION,
    TITLES,
    better,
    cell,
    cells,
    chosen,
    counted,
    methods_of,
    published_cells,
    stand_ins,
)
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Cell, Section, Table
from nho.lab.bench.tasks import MatchTask

_ERROR = "geodesic_error"
_QUICK = ("default", "paper", "nearest")
_RIGID = ("nearest", "similarity+icp")  # one of them stands in every table
# All others are asked for by name: they take long, or need torch.
_USUAL = (
    *("default", "nho-auto", "paper", "nearest"),
    *("anchor-distance", "anchor-distance+zoomout", "anchor-distance+arap"),
)
_SIDE_BY_SIDE = 4  # families in one table
SETTINGS = tuple(
    (scale, rotation) for scale in ("default", "normalised") for rotation in (False, True)
)

_PRINTED = tuple((scale, "rotated" if rotated else "unrotated") for scale, rotated in SETTINGS)
_AVERAGE = ("average", "average")


def plan(request: StudyRequest) -> list[MatchTask]:
    """Every method and a rigid one on every pair, as it comes and normalised, also rotated."""
    methods = request.methods or (_QUICK if request.quick else _USUAL)
    if not set(methods) & set(_RIGID):
        methods = (*methods, _RIGID[0])
    rotations = 1 if request.quick else request.rotations
    conditions = [
        Conditions(input_scale=scale, rotate=seed)
        for scale in ("default", "normalised")
        for seed in (None, *range(1, rotations + 1))
    ]
    if request.as_given:
        conditions = conditions[:1]
    elif request.quick:
        conditions = [conditions[0], conditions[-1]]
    return [
        task
        for method in methods
        for task in request.tasks(method, conditions, _checkpoints(request, method))
    ]


def _checkpoints(request: StudyRequest, method: str) -> tuple[str, ...]:
    """The user's own checkpoints, for a method that has any."""
    learned = method in BASELINES and BASELINES[method].learned
    return (f"checkpoints={request.checkpoints}",) if learned and request.checkpoints else ()


def report(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """Three kinds of tables, two kinds of curves."""
    families = list(dict.fromkeys(row["family"] for row in rows))
    tables = []
    for first in range(0, len(families), _SIDE_BY_SIDE):
        group = families[first : first + _SIDE_BY_SIDE]
        number = "" if not first else f"-{first // _SIDE_BY_SIDE + 1}"
        tables.append(_correspondence([r for r in rows if r["family"] in group], group, number))
    tables += [_localisation(chosen(rows, family=family), family) for family in families]
    if as_given := setting(rows, *SETTINGS[0]):
        tables += [region_truth_table(as_given), effort_table(as_given)]
    return Findings(tables, _figures(rows, families, folder))


_GAIN: dict[str, Change] = {_ERROR: "falls", "iou": "rises"}
_SAME_ERROR = Claim("rotation and scale hardly change the error", _ERROR, "stays", 1)
_SAME_REGION = Claim("rotation and scale hardly change IoU", "iou", "stays", 2)


def _judged(rows: list[ResultRow], steady: Claim) -> str:
    """What the paper claims of its method, judged for its preset; "" if that was not measured."""
    ours = chosen(rows, method="paper")
    if not ours:
        return ""
    first, *others = (setting(ours, *one) for one in SETTINGS)
    words = ["", "paper:", steady.judged(first, [row for each in others for row in each])]
    rivals = [name for name in methods_of(rows) if name.replace("+", "-") in METHODS]
    for name in rivals:
        lower = Claim(
            f"its {TITLES[steady.column]} is better than that of {name}",
            steady.column,
            _GAIN[steady.column],
        )
        words.append(lower.judged(chosen(rows, method=name), ours))
    return " ".join(words)


def setting(rows: Sequence[ResultRow], scale: str, rotated: bool) -> list[ResultRow]:
    """The rows of one input setting, all rotations together."""
    return [
        row for row in rows if row["input_scale"] == scale and (row["rotate"] != "-") == rotated
    ]


def setting_title(scale: str, rotated: bool) -> str:
    """In words."""
    return f"{scale}, {'rotated' if rotated else 'unrotated'}"


def _correspondence(rows: list[ResultRow], families: list[str], number: str) -> Table:
    """Mean geodesic error, families beside each other, and the average over the settings."""
    ours = tuple(
        (
            method,
            tuple(
                each
                for family in families
                for each in _with_average(
                    [
                        cell(setting(chosen(rows, family=family, method=method), *one), _ERROR)
                        for one in SETTINGS
                    ]
                )
            ),
        )
        for method in methods_of(rows)
    )
    theirs = tuple(
        (
            title,
            tuple(
                each
                for family in families
                for each in [_published(family, key, *one) for one in (*_PRINTED, _AVERAGE)]
            ),
        )
        for key, title in METHODS.items()
        if any(
            select(table="multidataset-geodesic", dataset=FAMILIES[f].published, method=key)
            for f in families
        )
    )
    columns = ("low",) * 5 * len(families)
    sections = [Section(MEASURED, ours, columns)]
    if theirs:
        sections.append(Section(PUBLISHED_TITLE, theirs, columns))
    return Table(
        f"correspondence{number}",
        "Mean geodesic error ×100",
        f"{counted(rows)}. Rotated: mean of the trials of a pair. Intervals: bootstrap over "
        f"pairs. Published rows are of the paper's test pairs, not these.{stand_ins(families)}"
        + _judged(rows, _SAME_ERROR),
        (
            tuple((FAMILIES[family].title, 5) for family in families),
            (("default", 2), ("normalised", 2), ("", 1)) * len(families),
            (*(("unrotated", 1), ("rotated", 1)) * 2, ("avg.", 1)) * len(families),
        ),
        tuple(sections),
    )


def _with_average(values: list[Cell]) -> list[Cell]:
    """The unweighted mean of the settings behind them; none if one is missing."""
    mean = float(np.mean([value.value for value in values]))
    return [*values, Cell(mean, digits=2)]


def _published(family: str, method: str, scale: str, rotation: str) -> Cell:
    fields = {"method": method, "scale": scale, "rotation": rotation}
    fields["dataset"] = FAMILIES[family].published
    return published_cells([_ERROR], table="multidataset-geodesic", **fields)[0]


def _localisation(rows: list[ResultRow], family: str) -> Table:
    """Region scores of one family."""
    dataset = FAMILIES[family].published

    def ours(method: str) -> tuple[Cell, ...]:
        of_method = chosen(rows, method=method)
        return tuple(each for one in SETTINGS for each in cells(setting(of_method, *one), REGION))

    def theirs(method: str) -> tuple[Cell, ...]:
        return tuple(
            each
            for scale, rotation in _PRINTED
            for each in published_cells(
                REGION, dataset=dataset, method=method, scale=scale, rotation=rotation
            )
        )

    sections = [
        Section(MEASURED, tuple((m, ours(m)) for m in methods_of(rows)), better(REGION * 4))
    ]
    printed = [
        (title, theirs(key))
        for key, title in METHODS.items()
        if select(dataset=dataset, method=key, metric="iou")
    ]
    if printed:
        sections.append(Section(PUBLISHED_TITLE, tuple(printed), better(REGION * 4)))
    heads = tuple((setting_title(*one), 4) for one in SETTINGS)
    return Table(
        f"localisation-{family}",
        f"Region on {FAMILIES[family].title}: area-weighted percentages",
        f"{counted(rows)}. Intervals: bootstrap over pairs.{stand_ins([family])}"
        + _judged(rows, _SAME_REGION),
        (heads, tuple((TITLES[column], 1) for column in REGION) * 4),
        tuple(sections),
    )


def _figures(rows: list[ResultRow], families: list[str], folder: Path) -> list[Path]:
    from nho.lab.bench.figures.curves import pck_figure, success_figure
    from nho.lab.bench.figures.plotstyle import save

    written: list[Path] = []
    for family in families:
        of_family = chosen(rows, family=family)
        panels = {
            setting_title(*one): {
                method: np.array(
                    list(per_pair(setting(chosen(of_family, method=method), *one), "iou").values())
                )
                for method in methods_of(of_family)
            }
            for one in SETTINGS
            if setting(of_family, *one)
        }
        written += save(success_figure(panels), folder / f"iou-success-{family}")
    for one in SETTINGS:
        if not setting(rows, *one):
            continue
        panels = {
            FAMILIES[family].title: {
                method: _shares(setting(chosen(rows, family=family, method=method), *one))
                for method in methods_of(chosen(rows, family=family))
            }
            for family in families
        }
        name = setting_title(*one).replace(", ", "-")
        written += save(pck_figure(panels), folder / f"pck-{name}")
    return written


def _shares(rows: list[ResultRow]) -> np.ndarray:
    """(pairs, thresholds) shares in percent."""
    return np.array(list(pck_per_pair(rows).values()))


STUDY = Study(
    "main",
    "Main tables: four input settings",
    "How well are region and map found, and do scale and rotation of the input matter?",
    plan,
    report,
    wide=True,
)
