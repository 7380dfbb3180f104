"""What matches say of themselves, against the truth, in every world.

``python -m nho.lab.bench.honesty --data DIR --out FOLDER`` matches pairs of each family with right
anchors and with impossible ones (see `nho.lab.bench.fit_placement`), as a user would. Nothing is
fitted. ``runs.csv`` gets a row a match, and a run that was stopped goes on where it was; two
figures show confidence against the share of good matches, world by world, and the chance of the
right place, case by case. Both tables are printed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import nho
from nho.errors import InputError
from nho.evaluation.metrics import geodesic_errors
from nho.geometry.mesh import Mesh
from nho.lab.bench.datasets import FAMILIES, AnnotatedPair
from nho.lab.bench.figures.plotstyle import save
from nho.lab.bench.figures.trust import placement_figure, reliability_figure
from nho.lab.bench.fit_placement import cases
from nho.lab.bench.rowfile import ResultRow, append_row, read_rows
from nho.lab.bench.scores import reliability
from nho.lab.bench.studies import StudyRequest
from nho.recipes.guided.confidence import RADIUS
from nho.recipes.guided.placement import DOUBTFUL_BELOW

_FAMILIES = (
    "pfaust_m,pfaust_h,pfarm,tosca,shrec16_cuts,shrec16_holes,faces,skulls,tibias,scans,species"
)
# Of the cases of a pair: little is learnt from the others.
_TRIED = (
    *(("right", 25), ("right", 5), ("mirrored", 5)),
    *(("shifted", 12), ("shuffled", 12), ("foreign", 5)),
)
_CASES = ",".join(dict.fromkeys(name for name, _ in _TRIED))
_ASKED = 1000  # vertices of a match that are judged, at most


def looked_at(
    pair: AnnotatedPair, case: str, full: Mesh, anchors: np.ndarray
) -> dict[str, float | str]:
    """One match: the chance it gives its place, whether it lies right, and its reliability.

    A placement is right if more than half of the matches are. Confidence is judged where the
    anchors are right and the place is not in doubt.
    """
    result = nho.match(pair.partial, full, anchors, nho.preset("default").replace(threads=1))
    status = result.status.partition(":")[0]
    table, right = np.zeros(0), False
    if full is pair.full:
        judged = pair.judged(anchors) & (result.face >= 0)
        known = np.random.default_rng(0).permutation(np.flatnonzero(judged))[:_ASKED]
        found, truth = result.points[known], pair.truth.points[known]
        away = found.positions(full) - truth.positions(full)
        right = bool(np.median(np.linalg.norm(away, axis=1)) < RADIUS * np.sqrt(full.area))
        if case == "right" and status != "doubtful":
            errors = 100 * geodesic_errors(full, found, truth)
            table = reliability(errors, result.confidence[known])
    return {
        "status": status,
        "chance": float(result.chance),
        "right": str(int(right)),
        "trust": " ".join(f"{value:.5g}" for value in table.ravel()),
    }


def trust_of(rows: list[ResultRow]) -> np.ndarray:
    """(bins, 3) vertices, mean confidence and share of good matches of all rows together."""
    tables = [np.array(row["trust"].split(), float).reshape(-1, 3) for row in rows if row["trust"]]
    if not tables:
        return np.zeros((0, 3))
    count = np.sum([table[:, :1] for table in tables], axis=0)
    sums = np.sum([table[:, :1] * table[:, 1:] for table in tables], axis=0)
    return np.hstack([count, sums / np.maximum(count, 1)])


def tables(rows: list[ResultRow]) -> str:
    """Confidence by world, and the chance of the right place by case, as Markdown."""
    lines = [
        "| world | matches | vertices | confidence | within | gap |",
        "|---|---|---|---|---|---|",
    ]
    for family in dict.fromkeys(row["family"] for row in rows):
        own = [row for row in rows if row["family"] == family]
        table = trust_of(own)
        if not table.sum():
            continue
        weight = table[:, 0] / table[:, 0].sum()
        gap = weight @ np.abs(table[:, 1] - table[:, 2])
        lines.append(
            f"| {FAMILIES[family].title} | {sum(bool(row['trust']) for row in own)} | "
            f"{table[:, 0].sum():,.0f} | {weight @ table[:, 1]:.2f} | {weight @ table[:, 2]:.2f} | "
            f"{gap:.3f} |"
        )
    lines += [
        "",
        "| anchors | runs | lie right | mean chance | `doubtful` |",
        "|---|---|---|---|---|",
    ]
    for case in dict.fromkeys(row["case"] for row in rows):
        own = [row for row in rows if row["case"] == case]
        lines.append(
            f"| {case} | {len(own)} | {sum(row['right'] == '1' for row in own)} | "
            f"{np.mean([float(row['chance']) for row in own]):.2f} | "
            f"{sum(row['status'] == 'doubtful' for row in own)} |"
        )
    return "\n".join(lines)


def run(
    data: Annotated[Path | None, typer.Option("--data", help="Evaluation data.")] = None,
    families: Annotated[str, typer.Option("--families", help="Comma-separated.")] = _FAMILIES,
    pairs: Annotated[int, typer.Option("--pairs", help="Of every family.")] = 1,
    tried: Annotated[
        str, typer.Option("--cases", help="Comma-separated; wrong ones take longest.")
    ] = _CASES,
    out: Annotated[Path, typer.Option("--out", help="Folder for rows and figures.")] = Path("."),
) -> None:
    """Match what is missing, print the tables and draw the figures."""
    out.mkdir(parents=True, exist_ok=True)
    path, names = out / "runs.csv", families.split(",")
    there = {tuple(row.values())[:4] for row in read_rows(path)} if path.exists() else set()
    for number, family in enumerate(names):
        other = names[number - 1]
        foreign = FAMILIES[other].load(data, FAMILIES[other].names(data)[0]).full
        for _, name in StudyRequest(data, (family,), most=pairs).pairs():
            pair = FAMILIES[family].load(data, name)
            for case, full, anchors in cases(pair, foreign):
                keys = {"family": family, "pair": name, "case": case, "anchors": str(len(anchors))}
                if tuple(keys.values()) in there or (case, len(anchors)) not in _TRIED:
                    continue
                if case not in tried.split(","):
                    continue
                try:
                    values = looked_at(pair, case, full, anchors)
                except InputError as refused:  # no answer, so none that is wrong
                    values = {
                        "status": f"refused: {refused}",
                        "chance": 0.0,
                        "right": "0",
                        "trust": "",
                    }
                append_row(path, keys, values)
                typer.echo(f"{' '.join(keys.values())}: {values['status']}", err=True)
    rows = read_rows(path)
    typer.echo(tables(rows))
    draw(rows, out)


def draw(rows: list[ResultRow], out: Path) -> None:
    """Write both figures."""
    worlds = {
        FAMILIES[family].title: trust_of([row for row in rows if row["family"] == family])
        for family in dict.fromkeys(row["family"] for row in rows)
    }
    drawn = {title: table for title, table in worlds.items() if table.sum()}
    save(reliability_figure(drawn, RADIUS), out / "reliability")
    told = [(row["case"], float(row["chance"]), row["right"] == "1") for row in rows]
    save(placement_figure(told, DOUBTFUL_BELOW), out / "placement")


if __name__ == "__main__":
    typer.run(run)
