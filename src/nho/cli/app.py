"""The command `nho` and how its errors reach the user."""

from __future__ import annotations

import logging
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
import typer.core

from nho.cli import anchors, batch, bench, cache, demo, doctor, evaluate, match
from nho.errors import NhoError


class Interrupted(NhoError):
    """The user pressed Ctrl-C."""


class _Group(typer.core.TyperGroup):
    """Turns Ctrl-C into our own error; the library would end the program without a word."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("interrupted; nothing was written") from None


app = typer.Typer(
    name="nho",
    cls=_Group,
    help="Match a partial 3D surface to a full one from a few anchors.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command("match")(match.match_command)
app.command("batch")(batch.batch_command)
app.add_typer(anchors.app, name="anchors")
app.command("bench")(bench.bench_command)
app.command("eval")(evaluate.eval_command)
app.command("demo")(demo.demo_command)
app.command("doctor")(doctor.doctor_command)
app.add_typer(cache.app, name="cache")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nho {version('nho')}")
        raise typer.Exit


@app.callback()
def _common(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log what happens to stderr.")] = False,
) -> None:
    logging.basicConfig(
        level=logging.INFO if verbose else logging.ERROR, format="%(name)s: %(message)s"
    )


def main() -> None:
    """Run the command; whatever goes wrong on purpose is one sentence on stderr."""
    try:
        app()
    except NhoError as problem:
        typer.echo(f"nho: {problem}", err=True)
        sys.exit(130 if isinstance(problem, Interrupted) else 1)
    except MemoryError:
        typer.echo("nho: not enough memory for meshes of this size; decimate them first", err=True)
        sys.exit(1)
