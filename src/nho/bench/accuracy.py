"""Accuracy of presets and baselines over families of pairs: a CSV row each, and a table of means.

``python -m nho.bench.accuracy --help`` tells how. It can be stopped and started again: rows
already in the CSV are not computed twice.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from nho.baselines import BASELINES
from nho.bench.datasets import FAMILIES, data_folder
from nho.bench.perturb import Conditions
from nho.bench.rowfile import read_rows
from nho.bench.runner import Outcome, contenders, measure
from nho.bench.tables import table
from nho.errors import InputError, NhoError
from nho.settings import PRESETS

Value = TypeVar("Value")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def run(
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder of evaluation data; or NHO_DATA.")
    ] = None,
    families: Annotated[str, typer.Option("--families", help="Pairs to measure on.")] = ",".join(
        FAMILIES
    ),
    methods: Annotated[
        str, typer.Option("--methods", help=f"Of {', '.join([*PRESETS, *BASELINES])}.")
    ] = "default",
    changes: Annotated[
        list[str],
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the presets; repeatable."),
    ] = [],  # noqa: B006
    anchors: Annotated[str, typer.Option("--anchors", help="Anchors a pair.")] = "25",
    seeds: Annotated[str, typer.Option("--seeds", help="Settings seeds of the presets.")] = "0",
    sampling: Annotated[
        str, typer.Option("--sampling", help="Of anchors: geodesic, euclidean or random.")
    ] = "geodesic",
    bad: Annotated[
        float, typer.Option("--bad", metavar="SHARE", help="Share of the anchors made wrong.")
    ] = 0.0,
    bad_kind: Annotated[
        str,
        typer.Option("--bad-kind", help="random, swap (exchanged in twos) or absent."),
    ] = "random",
    bad_seed: Annotated[int, typer.Option("--bad-seed", help="Draws the wrong anchors.")] = 0,
    partial_scale: Annotated[
        float, typer.Option("--partial-scale", help="Partial coordinates are multiplied by it.")
    ] = 1.0,
    rotate: Annotated[
        int | None, typer.Option("--rotate", metavar="SEED", help="Turn both shapes at random.")
    ] = None,
    input_scale: Annotated[
        str, typer.Option("--input-scale", help="default, or normalised: unit area of the full.")
    ] = "default",
    every: Annotated[int, typer.Option("--every", min=1, help="Only every n-th pair.")] = 1,
    out: Annotated[Path, typer.Option("--out", help="CSV, appended to.")] = Path("accuracy.csv"),
) -> None:
    """Measure methods on pairs with known truth, and print a table of means.

    Families, methods, anchors and seeds are comma-separated lists. Every run becomes a row of
    the CSV; those already there are not computed again, so a stopped run goes on where it was.
    The table shows all rows of the CSV.

    \b
    Example: both presets against a baseline, with a fifth of 10 and 25 anchors wrong
      python -m nho.bench.accuracy --data DIR --families pfaust_m,tosca --every 2 \\
        --methods default,paper,anchor-distance --anchors 10,25 --bad 0.2 --out wrong.csv
    """
    conditions = [
        Conditions(count, sampling, bad, bad_kind, bad_seed, partial_scale, rotate, input_scale)
        for count in _listed(anchors, "--anchors", int)
    ]
    chosen = _listed(families, "--families", str)
    for family in chosen:
        if family not in FAMILIES:
            raise InputError(f"family {family!r} is unknown; choose {', '.join(FAMILIES)}")
    folder = data_folder(data)
    pairs = {family: islice(FAMILIES[family](folder), 0, None, every) for family in chosen}
    competing = contenders(
        _listed(methods, "--methods", str), changes, _listed(seeds, "--seeds", int)
    )
    failures = 0
    for outcome in measure(pairs, competing, conditions, out):
        typer.echo(_told(outcome), err=outcome.scores is None)
        failures += outcome.scores is None
    typer.echo(table(read_rows(out)))
    if failures:
        raise NhoError(f"{failures} runs failed and have no row; the reasons stand above")


def _listed(text: str, option: str, kind: Callable[[str], Value]) -> list[Value]:
    """The entries of a comma-separated option, each once."""
    words = dict.fromkeys(word.strip() for word in text.split(",") if word.strip())
    try:
        values = [kind(word) for word in words]
    except ValueError:
        raise InputError(f"{option} {text!r} is not a list of whole numbers") from None
    if not values:
        raise InputError(f"{option} is empty; give at least one entry")
    return values


def _told(outcome: Outcome) -> str:
    keys, scores = outcome.keys, outcome.scores
    about = f"{keys['family']} {keys['pair']} {keys['method']} {keys['anchors']} anchors"
    about += f" seed {keys['seed']}" * (keys["seed"] != "-")
    if scores is None:
        return f"{about}: failed: {outcome.failure}"
    return (
        f"{about}: error {scores.geodesic_error:.2f}, IoU {scores.iou:.1f}, {scores.seconds:.1f} s"
    )


def main() -> None:
    """Run; whatever goes wrong on purpose is one sentence on stderr."""
    try:
        app()
    except NhoError as problem:
        typer.echo(f"nho.bench.accuracy: {problem}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
