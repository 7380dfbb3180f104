"""Progress of `nho bench`: a bar on a terminal, a line per run elsewhere."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from nho.cli.console import counted_line, counting_bar, duration, say
from nho.lab.bench.engine import BenchProgress, Callback


@contextmanager
def bench_display(quiet: bool) -> Iterator[Callback]:
    """A callback for `run_studies` that draws to stderr; nothing at all if ``quiet``."""
    if quiet:
        yield lambda event: None
    elif sys.stderr.isatty():
        with counting_bar("runs") as bar:
            yield lambda event: bar.update(event.done, event.total, event.failed, _left(event))
    else:
        yield _line


def _line(event: BenchProgress) -> None:
    if not event.name:
        typer.echo(f"{event.total - event.done} of {event.total} runs to do", err=True)
        return
    text = event.name + (f": failed: {event.problem}" if event.problem else "")
    line = counted_line(event.done, event.total, text, event.failed, _left(event))
    say(line, err=True)


def _left(event: BenchProgress) -> str:
    if math.isnan(event.left) or event.done >= event.total:
        return ""
    return f"about {duration(event.left)} left"
