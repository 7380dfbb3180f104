"""One bar for many things of a kind: how many are done, how many failed, how long is left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from nho.runtime.terminal import printable


class CountingBar:
    """A bar on a terminal's stderr."""

    def __init__(self, bars: Progress, what: str) -> None:
        self._bars = bars
        self._task = bars.add_task(what, total=None, failed="", left="")

    def update(self, done: int, total: int, failed: int, left: str) -> None:
        """Show the counts; ``left`` is the time left, in words or empty."""
        told = f"{failed} failed" if failed else ""
        self._bars.update(self._task, completed=done, total=total, failed=told, left=left)

    def say(self, note: str) -> None:
        """A sentence above the bar."""
        self._bars.console.print(printable(note), markup=False, highlight=False)


@contextmanager
def counting_bar(what: str) -> Iterator[CountingBar]:
    """A bar that counts ``what``, such as pairs."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}", style="red"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        yield CountingBar(bars, what)


def duration(seconds: float) -> str:
    """Such as ``45 s``, ``12 min``, ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def counted_line(done: int, total: int, told: str, failed: int, left: str) -> str:
    """The same for a file: a line a thing."""
    parts = [f"{done}/{total} {told}"]
    parts += [f"{failed} failed"] if failed else []
    return ", ".join([*parts, left] if left else parts)
