"""docs/paper_tables.md: every number of the paper's result tables, with ours beside it.

Printed numbers come from `nho.lab.bench.published`, ours from `paper_measured.csv` beside this
file: means of runs of `nho bench`, as its tables show them. `make reference` writes
the page.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

from nho.lab.bench.published import METHODS, select
from nho.lab.bench.studies.cost import VERTICES, costs_of
from nho.settings import PRESETS

MEASURED = Path(__file__).parent / "paper_measured.csv"
PAGE = Path(__file__).parents[1] / "docs" / "paper_tables.md"
TEMPLATE = Path(__file__).parent / "paper_tables.template.md"
SECONDS = "25 to 85"  # docs/results.md
REGION = ("iou", "precision", "recall", "f1")
FURTHER = {  # method -> key and words of a further row of ours, on other pairs or surfaces
    "nho": ("nho:full-resolution", "full resolution"),
    **{name: (f"{name}:as-given", "as given") for name in ("dpfm", "dpfm-zoomout", "ulrssm")},
}
ERROR, BEFORE = "geodesic_error", "geodesic_error_before_nam"
SETTINGS = [(s, r) for s in ("default", "normalised") for r in ("unrotated", "rotated")]
NOT_MEASURED, AS_DEFAULT = "-", "as default"
DATASETS = {
    "cuts24": ("CUTS'24", "SHREC'16 cuts"),
    "pfaust_m": ("PFAUST-M", "PFAUST-M"),
    "pfaust_h": ("PFAUST-H", "PFAUST-H"),
    "pfarm": ("PFARM", "PFARM"),
}
TITLES = {**METHODS, "nho": "Ours", "nho-dpfm": "Ours (DPFM)"}
VARIED = {  # table of the paper -> rows
    "ablation": {
        "without-topology": "w/o topology loss",
        "without-reciprocal": "w/o reciprocal refinement",
        "without-operator": "w/o Hamiltonian operator",
        "full": "full method",
    },
    "anchor-sampling": {
        "geodesic": "geodesic FPS",
        "euclidean": "Euclidean FPS",
        "random": "uniform random",
    },
    "anchor-number": {number: number for number in ("3", "5", "10", "15", "25", "50", "100")},
    "discretization": {
        "1": "all faces",
        "0.5": "50 %",
        "0.2": "20 %",
        "0.1": "10 %",
        "0.05": "5 %",
    },
}


@cache
def measured() -> tuple[dict[str, str], ...]:
    """The rows of `paper_measured.csv`."""
    return tuple(csv.DictReader(MEASURED.read_text(encoding="utf-8").splitlines()))


def here(metric: str, **fields: str) -> str:
    """Our mean with half of its interval, or `NOT_MEASURED`."""
    fields["metric"] = metric
    found = [row for row in measured() if all(row[key] == fields[key] for key in fields)]
    if not found:
        return NOT_MEASURED
    assert len(found) == 1, f"{fields} is measured {len(found)} times"
    half = found[0]["half_width"]
    return found[0]["value"] + (f" ± {half}" if half else "")


def printed(metric: str, **fields: str) -> str:
    """The paper's number as it prints it, or `NOT_MEASURED`."""
    found = select(metric=metric, **fields)
    assert len(found) <= 1, f"{fields} is printed {len(found)} times"
    return found[0].value if found else NOT_MEASURED


def scores(of: Iterable[str]) -> str:
    """Several numbers in one cell; one sign if there is none of them."""
    values = list(of)
    return NOT_MEASURED if set(values) == {NOT_MEASURED} else " / ".join(values)


def pairs(**fields: str) -> str:
    """How many pairs our figures are of: "3" or, if columns differ, "2 to 8"."""
    found = {
        int(row["pairs"])
        for row in measured()
        if all(row[key] == value for key, value in fields.items())
    }
    if not found:
        return ""
    low, high = min(found), max(found)
    return f"{low}" if low == high else f"{low} to {high}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown."""
    lines = [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def settings_header() -> list[str]:
    """The four input settings in words."""
    return [f"{scale}, {rotation}" for scale, rotation in SETTINGS]


def label(method: str, dataset: str) -> str:
    """Name of a row of ours, with its number of pairs."""
    count = pairs(table="main", dataset=dataset, method=method)
    return f"*here*, {count} pair{'s' * (count != '1')}" if count else "*here*"


def scale_free(method: str, ours: list[str]) -> list[str]:
    """Figures of the four settings: other methods choose their own unit, so scale is no matter."""
    if method == "nho" or ours[2:] != [NOT_MEASURED] * 2:
        return ours
    return ours[:2] + [NOT_MEASURED if one == NOT_MEASURED else AS_DEFAULT for one in ours[:2]]


def alone(method: str, words: str, dataset: str, metrics: Sequence[str]) -> list[str]:
    """A row of ours that has none printed: another preset or resolution."""
    own = {"table": "main", "dataset": dataset, "method": method}
    ours = [
        scores(here(metric, scale=scale, rotation=rotation, **own) for metric in metrics)
        for scale, rotation in SETTINGS
    ]
    return [f"{label(method, dataset)}, {words}", *ours]


def further(method: str, dataset: str, metrics: Sequence[str]) -> list[list[str]]:
    """The further row of a method, if it was measured."""
    key, words = FURTHER.get(method, ("", ""))
    if not pairs(table="main", dataset=dataset, method=key):
        return []
    name, *ours = alone(key, words, dataset, metrics)
    return [[name, *scale_free(method, ours)]]


def region_table(dataset: str) -> str:
    """Tables 1 and 4: IoU / precision / recall / F1 of every method."""
    rows = []
    for method, title in TITLES.items():
        fields = {"dataset": dataset, "method": method}
        if not select(metric="iou", table=_localisation(dataset), **fields):
            continue
        of = [{**fields, "scale": scale, "rotation": rotation} for scale, rotation in SETTINGS]
        theirs = [
            scores(printed(metric, table=_localisation(dataset), **one) for metric in REGION)
            for one in of
        ]
        rows.append([f"{title}, printed", *theirs])
        ours = [scores(here(metric, table="main", **one) for metric in REGION) for one in of]
        rows.append([label(method, dataset), *scale_free(method, ours)])
        rows += further(method, dataset, REGION)
        images = [
            scores(here(f"{metric}_images", table="main", **one) for metric in REGION) for one in of
        ]
        if set(images) != {NOT_MEASURED}:
            rows.append(["*here*, truth `images`", *images])
        if method == "nho":
            rows.append(alone("default", "`default`", dataset, REGION))
    return table(["", *settings_header()], rows)


def _localisation(dataset: str) -> str:
    return "cuts24-localization" if dataset == "cuts24" else "additional-localization"


def error_table(dataset: str) -> str:
    """Table 2: error of every method, and its mean over the settings."""
    name, rows = "multidataset-geodesic", []
    for method, title in TITLES.items():
        fields = {"dataset": dataset, "method": method}
        if not select(table=name, **fields):
            continue
        columns = [*SETTINGS, ("average", "average")]
        theirs = [printed(ERROR, table=name, scale=s, rotation=r, **fields) for s, r in columns]
        rows.append([f"{title}, printed", *theirs])
        ours = [here(ERROR, table="main", scale=s, rotation=r, **fields) for s, r in SETTINGS]
        ours = scale_free(method, ours)
        rows.append([label(method, dataset), *ours, _mean(ours)])
        rows += [[*row, NOT_MEASURED] for row in further(method, dataset, [ERROR])]
        if method == "nho":
            others = alone("default", "`default`", dataset, [ERROR])
            rows.append([*others, _mean(others[1:])])
    return table(["", *settings_header(), "avg."], rows)


def own_table(dataset: str) -> str:
    """Both presets on data that the paper does not have: error and region of every setting."""
    rows = []
    for method, title in (("nho", "Ours"), ("default", "`default`")):
        for metrics, words in (([ERROR], "error"), (REGION, "IoU / precision / recall / F1")):
            rows.append(alone(method, words, dataset, metrics))
            rows[-1][0] = f"{title}, {rows[-1][0]}"
    return table(["", *settings_header()], rows)


def _mean(texts: Sequence[str]) -> str:
    """Of all settings; none if one is missing."""
    if NOT_MEASURED in texts:
        return NOT_MEASURED
    values = [float(text.split()[0]) for text in texts if text != AS_DEFAULT]
    return f"{sum(values) / len(values):.1f}"


def varied_table(name: str) -> str:
    """Tables 3, 5, 6 and 7: printed, the cuts, the other families."""
    keys = VARIED[name]
    errors = (BEFORE, ERROR) if name == "ablation" else (ERROR,)
    rows = []
    for key, title in keys.items():
        both = {"table": name, "method": key}
        theirs = [printed(metric, **both) for metric in errors]
        theirs += [scores(printed(metric, **both) for metric in REGION)]
        unprinted = set(theirs) == {NOT_MEASURED}
        if not unprinted:
            rows.append([f"{title}, printed", *theirs])
        for dataset, where in (("cuts24", "*cuts*"), ("others", "*others*")):
            if unprinted:
                where = f"{title}, {where}"
            own = {**both, "dataset": dataset}
            if not pairs(**own):
                continue
            ours = [here(metric, **own) for metric in errors]
            rows.append([where, *ours, scores(here(metric, **own) for metric in REGION)])
            images = scores(here(f"{metric}_images", **own) for metric in REGION)
            if images != NOT_MEASURED:
                rows.append([f"{where}, truth `images`", *["" for _ in errors], images])
            own["method"] = f"{key}:default"
            if pairs(**own):
                ours = [here(metric, **own) for metric in errors]
                region = scores(here(metric, **own) for metric in REGION)
                rows.append([f"{where}, `default`", *ours, region])
    words = ["error before NAM", "after NAM"] if name == "ablation" else ["error"]
    return table(["", *words, "IoU / precision / recall / F1"], rows)


def spread_table() -> str:
    """What the paper's text says of Ours: largest less smallest over the input settings."""
    rows = []
    for dataset, (title, _) in DATASETS.items():
        row = [title]
        for metric in ("iou", "f1", ERROR):
            own = {"dataset": dataset, "method": "nho"}
            name = "multidataset-geodesic" if metric == ERROR else _localisation(dataset)
            theirs = [printed(metric, table=name, scale=s, rotation=r, **own) for s, r in SETTINGS]
            ours = [here(metric, table="main", scale=s, rotation=r, **own) for s, r in SETTINGS]
            row += [f"{_spread(theirs):.2f}", f"{_spread(ours):.1f}"]
        rows.append(row)
    heads = [
        f"{words}, {whose}" for words in ("IoU", "F1", "error") for whose in ("printed", "here")
    ]
    return table(["", *heads], rows)


def _spread(texts: Sequence[str]) -> float:
    values = [float(text.split()[0]) for text in texts]
    return max(values) - min(values)


def cost_table() -> str:
    """The section on cost; ours are counted in the networks that the code builds."""
    settings = PRESETS["paper"]
    costs, refine_last = costs_of(settings), settings.flat()["refine_last"]
    lines = [
        ("field: parameters", "field", "parameters"),
        ("field: FLOPs of a forward pass", "field", "forward_flops"),
        ("NAM, last stage: parameters", "nam", "parameters"),
        ("NAM, last stage: FLOPs of a forward pass", "nam", "forward_flops"),
        ("Adam steps of the field", "field", "adam_steps"),
        ("Adam steps of NAM, all stages", "nam", "adam_steps"),
    ]
    rows = [
        [words, printed(metric, table="cost", method=method), f"{costs[method, metric]:,.0f}"]
        for words, method, metric in lines
    ]
    given = [
        ("NAM, last stage: dimension", "nam", "dimension", str(refine_last)),
        ("vertices of a forward pass", "pipeline", "forward_vertices", f"{VERTICES:,}"),
        ("seconds a pair", "pipeline", "seconds", SECONDS),
    ]
    rows += [
        [words, printed(metric, table="cost", method=method), ours]
        for words, method, metric, ours in given
    ]
    return table(["", "printed", "here"], rows)


def page() -> str:
    """The page: `paper_tables.template.md` with its tables filled in."""
    makers: dict[str, Callable[[str], str]] = {
        "region": region_table,
        "error": error_table,
        "own": own_table,
        "varied": varied_table,
        "spread": lambda name: spread_table(),
        "cost": lambda name: cost_table(),
    }

    def made(match: re.Match[str]) -> str:
        kind, _, name = match[1].partition(" ")
        return makers[kind](name).rstrip("\n")

    return re.sub(r"<!-- table: (.+?) -->", made, TEMPLATE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
