"""Kill a command at random moments, again and again, and look at what it left each time."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from nho.runtime.cache import _OURS, Cache
from tests.faults.running import Process, start, wait_until

_FINISH_EVERY = 6  # kills between two runs that may go on to their end


@dataclass
class Report:
    """What a series of kills came to.

    Attributes
    ----------
    kills : int
    seen : Counter
        What was found after the kills, in words.
    finished : int
        Runs that went on to their end, each compared with an undisturbed one.
    problems : list of str
        Everything that should not be.
    """

    kills: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    finished: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


class Subject(Protocol):
    """A command to be killed, and what has to hold afterwards."""

    name: str
    words: list[object]  # of the command

    def moment(self, process: Process, draw: random.Random) -> str:
        """Wait until the process shall be killed; returns what it was waited for."""
        ...

    def look(self) -> str:
        """Look at what a kill left and name it; an `AssertionError` for what should not be."""
        ...

    def look_finished(self) -> None:
        """Look at what a run to the end left; everything as if undisturbed, and no rubbish."""
        ...

    def renew(self) -> None:
        """Begin anew after a run to the end."""
        ...


def kill_again_and_again(
    subject: Subject, cache: Path, kills: int, seed: int, tell: Callable[[str], None] = print
) -> Report:
    """So many kills, with runs to the end in between and at the end."""
    report, draw = Report(), random.Random(f"{subject.name} {seed}")
    begin = time.monotonic()

    def checked(what: str, look: Callable[[], object]) -> str:
        try:
            return str(look())
        except AssertionError as problem:
            report.problems.append(f"{subject.name}, {what}: {problem}")
            return "problem"

    since_end = 0
    while True:
        to_the_end = since_end == _FINISH_EVERY or report.kills == kills
        with start(*subject.words, variables={"NHO_CACHE": str(cache)}) as process:
            aim = "" if to_the_end else subject.moment(process, draw)
            if to_the_end or not process.running:
                code, _, err = process.ended()
                if code:
                    report.problems.append(f"{subject.name} ended with {code}: {err[-300:]}")
        if process.returncode == -9:
            report.kills, since_end = report.kills + 1, since_end + 1
            found = checked(f"kill {report.kills} ({aim})", subject.look)
            report.seen[found] += 1
            tell(f"{subject.name}: kill {report.kills} {aim}: {found}")
        else:
            report.finished, since_end = report.finished + 1, 0
            checked(f"end {report.finished}", subject.look_finished)
            subject.renew()
            if report.kills == kills:
                break
        checked("cache", lambda: look_at_cache(cache))
    report.seconds = time.monotonic() - begin
    return report


def look_at_cache(folder: Path) -> None:
    """Every entry reads; besides there are only unfinished ones, under a name that tells."""
    cache = Cache(folder)
    if not folder.exists():
        return
    for path in folder.iterdir():
        assert _OURS.fullmatch(path.name), f"{path.name} in the cache"
        if path.suffix == ".npz":
            assert cache._read(path) is not None, f"{path.name} in the cache is damaged"


def until(process: Process, condition: Callable[[], object], seconds: float) -> None:
    """Wait for the condition and a while longer, but not beyond the end of the process."""
    wait_until(lambda: not process.running or condition())
    end = time.monotonic() + seconds
    while process.running and time.monotonic() < end:
        time.sleep(0.001)
