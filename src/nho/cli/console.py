"""Progress on a terminal (a bar per stage) and elsewhere (plain lines)."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

from nho.progress import Progress, ProgressCallback, ignore


@contextmanager
def progress_display(quiet: bool) -> Iterator[ProgressCallback]:
    """A callback for `match` that draws to stderr; nothing at all if ``quiet``."""
    if quiet:
        yield ignore
    elif sys.stderr.isatty():
        with _bars() as bars:
            yield _BarPerStage(bars)
    else:
        yield _PlainLines()


def _bars() -> Bars:
    return Bars(
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[loss]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )


class _BarPerStage:
    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, event: Progress) -> None:
        if event.stage not in self._tasks:
            self._tasks[event.stage] = self._bars.add_task(event.stage, total=event.steps, loss="")
        loss = "" if event.loss is None else f"loss {event.loss:.4f}"
        self._bars.update(
            self._tasks[event.stage], completed=event.step, total=event.steps, loss=loss
        )


class _PlainLines:
    """One line when a stage begins to take long, and one when it ends."""

    _EVERY = 10.0  # seconds between lines of one stage

    def __init__(self) -> None:
        self._started: dict[str, float] = {}
        self._last = 0.0

    def __call__(self, event: Progress) -> None:
        now = time.monotonic()
        start = self._started.setdefault(event.stage, now)
        done = event.step >= event.steps
        if not done and now - max(self._last, start) < self._EVERY:
            return
        self._last = now
        loss = "" if event.loss is None else f", loss {event.loss:.4f}"
        left = ""
        if not done and event.step:
            left = f", about {(now - start) * (event.steps / event.step - 1):.0f} s left"
        print(
            f"{event.stage}: {event.step}/{event.steps}{loss}, {now - start:.1f} s{left}",
            file=sys.stderr,
            flush=True,
        )
