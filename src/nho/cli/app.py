"""The command `nho` and how its errors reach the user."""

from __future__ import annotations

import logging
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
import typer.core

from nho.cli import (
    anchors,
    batch,
    bench,
    cache,
    demo,
    doctor,
    evaluate,
    fit,
    match,
    studio,
    train,
    transfer,
)
from nho.cli.saying import say
from nho.cli.stopping import Ended, if_stopped
from nho.errors import NhoError
from nho.runtime.terminal import log_to_terminal

log = logging.getLogger(__name__)


class _Group(typer.core.TyperGroup):
    """Turns Ctrl-C into our own error; the library would end the program without a word."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with if_stopped(lambda: "nothing was written"):
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with if_stopped(lambda: "every file is whole, or not there"):
            return super().invoke(ctx)


app = typer.Typer(
    name="nho",
    cls=_Group,
    help="Match a partial 3D surface to a full one from a few anchors.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command("match")(match.match_command)
app.command("studio")(studio.studio_command)
app.command("batch")(batch.batch_command)
app.add_typer(anchors.app, name="anchors")
app.command("bench")(bench.bench_command)
app.command("eval")(evaluate.eval_command)
app.command("transfer")(transfer.transfer_command)
app.command("fit")(fit.fit_command)
app.command("train")(train.train_command)
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
    log_to_terminal(logging.INFO if verbose else logging.ERROR)
    # Our own warnings are for the user: no cache, a solver that had to try again.
    logging.getLogger("nho").setLevel(logging.INFO if verbose else logging.WARNING)


def run() -> None:
    """Run the command; whatever goes wrong on purpose is one sentence on stderr."""
    try:
        app()
    except NhoError as problem:
        say(f"nho: {problem}", err=True)
        sys.exit(problem.exit_code if isinstance(problem, Ended) else 1)
    except MemoryError:
        typer.echo("nho: not enough memory for meshes of this size; decimate them first", err=True)
        sys.exit(1)
    except OSError as problem:  # a file or disk that failed where nobody expected it
        log.info("an unexpected error", exc_info=True)
        where = f"{problem.filename}: " if problem.filename else ""
        say(f"nho: {where}{problem.strerror or problem}", err=True)
        sys.exit(1)
