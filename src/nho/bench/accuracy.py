"""Accuracy of a preset over families of pairs: a CSV row a pair, and a table of means.

``python -m nho.bench.accuracy --data DIR --preset paper --out results.csv`` can be stopped and
started again: pairs already in the CSV are not computed twice.
"""

from __future__ import annotations

import csv
import logging
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nho.bench.datasets import FAMILIES, Pair, data_folder
from nho.errors import InputError, NhoError
from nho.matching import match
from nho.metrics import evaluate
from nho.settings import Settings, preset

log = logging.getLogger(__name__)

KEYS = ("family", "pair", "preset", "changes", "anchors", "seed")


def measure(pair: Pair, settings: Settings, anchors: int) -> dict[str, float]:
    """Match one pair from true anchors and compare with the truth."""
    result = match(pair.partial, pair.full, pair.anchors(anchors), settings)
    return {
        **evaluate(result, pair.full, pair.truth).as_dict(),
        "seconds": result.timings["total"],
        "partial_vertices": len(pair.partial.vertices),
        "full_vertices": len(pair.full.vertices),
    }


def run(
    data: Annotated[Path | None, typer.Option("--data", help="Evaluation data.")] = None,
    families: Annotated[str, typer.Option("--families", help="Comma-separated.")] = ",".join(
        FAMILIES
    ),
    preset_name: Annotated[str, typer.Option("--preset")] = "default",
    changes: Annotated[list[str], typer.Option("--set", metavar="KEY=VALUE")] = [],  # noqa: B006
    anchors: Annotated[int, typer.Option("--anchors", help="Anchors a pair.")] = 25,
    seed: Annotated[int, typer.Option("--seed")] = 0,
    every: Annotated[int, typer.Option("--every", help="Only every n-th pair.")] = 1,
    out: Annotated[Path, typer.Option("--out", help="CSV, appended to.")] = Path("accuracy.csv"),
) -> None:
    """Measure a preset on every pair of the families and print a table of means."""
    settings = preset(preset_name).with_text(changes).replace(seed=seed)
    folder = data_folder(data)
    done = {tuple(row[key] for key in KEYS) for row in read_rows(out)}
    for family in families.split(","):
        if family not in FAMILIES:
            raise InputError(f"family {family!r} is unknown; choose {', '.join(FAMILIES)}")
        for number, pair in enumerate(FAMILIES[family](folder)):
            if number % every:
                continue
            key = (family, pair.name, preset_name, " ".join(changes), str(anchors), str(seed))
            if key in done:
                continue
            try:
                values = measure(pair, settings, anchors)
            except NhoError as problem:
                typer.echo(f"{family} {pair.name}: failed: {problem}", err=True)
                continue
            append_row(out, dict(zip(KEYS, key, strict=True)), values)
            typer.echo(
                f"{family} {pair.name}: error {values['geodesic_error']:.2f}, "
                f"IoU {values['iou']:.1f}, {values['seconds']:.1f} s"
            )
    typer.echo(table(read_rows(out)))


def read_rows(path: Path) -> list[dict[str, str]]:
    """Rows of the CSV so far."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def append_row(path: Path, keys: dict[str, str], values: dict[str, float]) -> None:
    """Add one row, with a header if the file is new."""
    new = not path.exists()
    with open(path, "a", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, [*keys, *values])
        if new:
            writer.writeheader()
        writer.writerow({**keys, **{name: f"{value:.4f}" for name, value in values.items()}})


def table(rows: list[dict[str, str]]) -> str:
    """Markdown: means per family and configuration."""
    lines = [
        "| family | preset | anchors | pairs | error x100 (at vertices) | worst pair | IoU % "
        "| precision | recall | F1 | s a pair |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        group = (row["family"], f"{row['preset']} {row['changes']}".strip(), row["anchors"])
        groups.setdefault(group, []).append(row)
    for (family, name, anchors), members in groups.items():

        def column(key: str, members: list[dict[str, str]] = members) -> np.ndarray:
            return np.array([float(row[key]) for row in members])

        error = column("geodesic_error")
        scores = " | ".join(
            f"{column(key).mean():.1f}" for key in ("iou", "precision", "recall", "f1", "seconds")
        )
        lines.append(
            f"| {family} | {name} | {anchors} | {len(members)} | {error.mean():.2f} "
            f"({column('geodesic_error_vertex').mean():.2f}) | {error.max():.2f} | {scores} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    typer.run(run)
