"""The command `nho`: its commands, each loaded when it is called, and how errors are shown."""

from __future__ import annotations

import gc
import logging
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from nho.cli.console import Ended, if_stopped, say
from nho.errors import NhoError
from nho.runtime.terminal import log_to_terminal

log = logging.getLogger(__name__)

# The first line of every command's help: the overview needs no more, and the modules of most
# commands take a second to import.
COMMANDS = {
    "match": "Match PARTIAL to FULL: region, dense map (partial to full) and confidence.",
    "studio": (
        "Place anchors on both shapes in the browser, match, inspect and download the result."
    ),
    "batch": "Match every pair of a table; continue after failures, resume after a kill.",
    "anchors": "Make and convert anchors.",
    "transfer": "Transfer labels, numbers, colours, texture and landmarks to the other shape.",
    "fit": "Deform FULL onto PARTIAL: the whole template in the pose and unit of the scan.",
    "complete": "Complete SCAN by TEMPLATE: what was measured, and a prediction of the rest.",
    "mirror": "Mirror MESH, at its own plane of symmetry or at a plane of the axes.",
    "eval": "Compare RESULT with a known map (error, region, overlap), or with the way back.",
    "review": "Review the results of a batch: one page, worst first, with what is suspicious.",
    "shapes": "Shape space of many partial scans: mean, components, scores, outliers, and a page.",
    "bench": "Measure methods on data sets: every table and figure of the paper, and our own.",
    "train": "Train the network of a learned method on generated shapes, on one core.",
    "demo": (
        "Match the shipped pair: part of a human body, in another pose and with other triangles."
    ),
    "doctor": "Show versions and threads, and check in a few seconds that a small match works.",
    "cache": "Show or clear what is kept on disk to save time.",
}
_MODULES = {"eval": "evaluate", "fit": "transfer", "mirror": "complete"}  # where not named alike


def load(name: str) -> Any:
    """Import the function of a command, or its group of commands."""
    module = import_module(f"nho.cli.{_MODULES.get(name, name)}")
    gc.enable()
    return getattr(module, f"{name}_command", None) or module.app


class _Later(typer.core.TyperCommand):
    """A command of which only name and first line are known before it is called."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with if_stopped(lambda: "nothing was written"):
            holder = typer.Typer(add_completion=False, rich_markup_mode="markdown")
            name, found = str(self.name), load(str(self.name))
            if isinstance(found, typer.Typer):
                holder.add_typer(found, name=name)
            else:
                holder.command(name)(found)
            command = typer.main.get_group(holder).commands[name]
            return command.make_context(*args, **kwargs)


class _Group(typer.core.TyperGroup):
    """Turns Ctrl-C into our own error; the library would end the program without a word."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for name, first_line in COMMANDS.items():
            self.commands[name] = _Later(name, help=first_line)

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with if_stopped(lambda: "nothing was written"):
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with if_stopped(lambda: "no incomplete file was left behind"):
            return super().invoke(ctx)


app = typer.Typer(
    name="nho",
    cls=_Group,
    help="Match a partial 3D surface to a full one from a few anchors.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

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
        typer.echo("nho: not enough memory for these meshes; simplify the meshes first", err=True)
        sys.exit(1)
    except OSError as problem:  # a file or disk that failed where nobody expected it
        log.info("an unexpected error", exc_info=True)
        where = f"{problem.filename}: " if problem.filename else ""
        say(f"nho: {where}{problem.strerror or problem}", err=True)
        sys.exit(1)
