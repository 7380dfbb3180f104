"""Does the suggested next anchor help more than the usual choices?

``python -m nho.bench.next_anchor --data DIR --out FOLDER`` starts every pair with a few anchors and
adds one at a time: where the result suggests, by farthest-point sampling, or at random.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nho.bench.datasets import FAMILIES, Pair, data_folder
from nho.matching import match
from nho.metrics import geodesic_errors
from nho.result import MatchResult
from nho.sampling import sample_vertices
from nho.surface import SurfacePoints

Choice = Callable[[Pair, np.ndarray, MatchResult | None], int]


def suggested(pair: Pair, chosen: np.ndarray, result: MatchResult | None) -> int:
    """The annotated vertex nearest to the suggestion."""
    assert result is not None
    return _nearest_annotated(pair, chosen, pair.partial.vertices[result.next_anchor])


def farthest(pair: Pair, chosen: np.ndarray, result: MatchResult | None) -> int:
    """The next of farthest-point sampling, which does not depend on how many follow."""
    annotated = np.flatnonzero(pair.truth.points.face >= 0)
    more = sample_vertices(pair.partial, len(chosen) + 1, "geodesic", 0, annotated)
    return int(more[-1])


def at_random(pair: Pair, chosen: np.ndarray, result: MatchResult | None) -> int:
    """Any annotated vertex that is not an anchor yet."""
    annotated = np.flatnonzero(pair.truth.points.face >= 0)
    return int(np.random.default_rng(len(chosen)).choice(np.setdiff1d(annotated, chosen)))


def _nearest_annotated(pair: Pair, chosen: np.ndarray, place: np.ndarray) -> int:
    annotated = np.setdiff1d(np.flatnonzero(pair.truth.points.face >= 0), chosen)
    gaps = np.linalg.norm(pair.partial.vertices[annotated] - place, axis=1)
    return int(annotated[gaps.argmin()])


CHOICES: dict[str, Choice] = {
    "suggested": suggested,
    "farthest point": farthest,
    "random": at_random,
}


def course(pair: Pair, choice: Choice, first: int, last: int) -> list[float]:
    """Mean error x100 (at vertices) with ``first`` ... ``last`` anchors."""
    chosen = pair.anchors(first)[:, 0]
    errors = []
    for count in range(first, last + 1):
        partner = pair.truth.points[chosen].nearest_vertex(pair.full)
        result = match(pair.partial, pair.full, np.stack([chosen, partner], axis=1))
        found = SurfacePoints.at_vertices(pair.full, result.vertex_map)
        errors.append(100 * float(np.nanmean(geodesic_errors(pair.full, found, pair.truth.points))))
        if count < last:
            chosen = np.append(chosen, choice(pair, chosen, result))
    return errors


def run(
    data: Annotated[Path | None, typer.Option("--data", help="Evaluation data.")] = None,
    families: Annotated[str, typer.Option("--families")] = ",".join(FAMILIES),
    first: Annotated[int, typer.Option("--first", help="Anchors to begin with.")] = 4,
    last: Annotated[int, typer.Option("--last", help="Anchors at the end.")] = 10,
    every: Annotated[int, typer.Option("--every", help="Only every n-th pair.")] = 6,
    out: Annotated[Path, typer.Option("--out", help="Folder for table and figure.")] = Path("."),
) -> None:
    """Write next_anchor.csv and next_anchor.png, and print the mean curves."""
    folder = data_folder(data)
    curves: dict[str, list[list[float]]] = {name: [] for name in CHOICES}
    with open(out / "next_anchor.csv", "w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["family", "pair", "choice", *range(first, last + 1)])
        for family in families.split(","):
            for pair in islice(FAMILIES[family](folder), 0, None, every):
                for name, choice in CHOICES.items():
                    curves[name].append(course(pair, choice, first, last))
                    rounded = [f"{error:.3f}" for error in curves[name][-1]]
                    table.writerow([family, pair.name, name, *rounded])
                    stream.flush()
                    typer.echo(f"{family} {pair.name} {name}: {' '.join(rounded)}")
    typer.echo("| anchors | " + " | ".join(map(str, range(first, last + 1))) + " |")
    typer.echo("|---" * (last - first + 2) + "|")
    for name, rows in curves.items():
        typer.echo(f"| {name} | " + " | ".join(f"{e:.2f}" for e in np.mean(rows, axis=0)) + " |")
    _draw(out / "next_anchor.png", curves, np.arange(first, last + 1))


def _draw(path: Path, curves: dict[str, list[list[float]]], counts: np.ndarray) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3.6), layout="constrained")
    for name, rows in curves.items():
        axes.plot(counts, np.mean(rows, axis=0), marker="o", ms=4, label=name)
    axes.set(xlabel="anchors", ylabel="mean error x100", xticks=counts)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    typer.run(run)
