"""What the commands say: lines, progress (bars on a terminal, lines elsewhere), how they ended."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from nho.errors import NhoError
from nho.progress import Progress, ProgressCallback, ignore
from nho.runtime.interrupts import Stopped
from nho.runtime.terminal import printable

if TYPE_CHECKING:
    from rich.progress import Progress as Bars


def say(line: str, err: bool = False) -> None:
    """Print a line whose words may come from files, to stdout or to stderr."""
    typer.echo(printable(line), err=err)


def say_notes(notes: list[str]) -> None:
    """Print each note once, to stderr."""
    for note in dict.fromkeys(notes):
        say(f"note: {note}", err=True)


class Ended(NhoError):
    """A signal ended the command; the text is for the user."""

    def __init__(self, stop: KeyboardInterrupt, rest: str) -> None:
        stopped = stop if isinstance(stop, Stopped) else Stopped(signal.SIGINT)
        super().__init__(f"{stopped.word}; {rest}")
        self.exit_code = stopped.exit_code


@contextmanager
def if_stopped(message: Callable[[], str]) -> Iterator[None]:
    """Ctrl-C and SIGTERM in this block end the command with what ``message`` returns then."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise Ended(stop, message()) from None


@contextmanager
def progress_display(quiet: bool) -> Iterator[ProgressCallback]:
    """A callback for `match` that draws to stderr; nothing at all if ``quiet``."""
    if quiet:
        yield ignore
    elif sys.stderr.isatty():
        with _bars(["{task.fields[loss]}"], left=True) as bars:
            yield _BarPerStage(bars)
    else:
        yield _PlainLines()


class _BarPerStage:
    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._tasks: dict[str, Any] = {}

    def __call__(self, event: Progress) -> None:
        if event.stage not in self._tasks:
            name = f"{event.stage:<10}"
            self._tasks[event.stage] = self._bars.add_task(name, total=event.steps, loss="")
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
        line = f"{event.stage}: {event.step}/{event.steps}{loss}, {now - start:.1f} s{left}"
        print(line, file=sys.stderr, flush=True)


class CountingBar:
    """A bar on a terminal's stderr for many things of a kind."""

    def __init__(self, bars: Bars, what: str) -> None:
        self._bars = bars
        self._task = bars.add_task(what, total=None, failed="", left="")

    def update(self, done: int, total: int, failed: int, left: str) -> None:
        """Show the counts; ``left`` is the time left, in words or empty."""
        failures = f"{failed} failed" if failed else ""
        self._bars.update(self._task, completed=done, total=total, failed=failures, left=left)

    def say(self, note: str) -> None:
        """Print a sentence above the bar."""
        self._bars.console.print(printable(note), markup=False, highlight=False)


@contextmanager
def counting_bar(what: str) -> Iterator[CountingBar]:
    """A bar that counts ``what``, such as pairs."""
    with _bars(["[red]{task.fields[failed]}"], ["{task.fields[left]}"]) as bars:
        yield CountingBar(bars, what)


def counted_line(done: int, total: int, message: str, failed: int, left: str) -> str:
    """One log line for each finished item."""
    parts = [f"{done}/{total} {message}", f"{failed} failed" if failed else "", left]
    return ", ".join(part for part in parts if part)


def duration(seconds: float) -> str:
    """Such as ``45 s``, ``12 min``, ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _bars(before: list[str], after: list[str] | None = None, left: bool = False) -> Bars:
    """Bars on stderr with further columns before and after the time elapsed."""
    from rich import progress  # takes as long to import as the rest of a command
    from rich.console import Console

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        *map(progress.TextColumn, before),
        progress.TimeElapsedColumn(),
        *map(progress.TextColumn, after or []),
        *([progress.TimeRemainingColumn()] if left else []),
        console=Console(stderr=True),
    )
