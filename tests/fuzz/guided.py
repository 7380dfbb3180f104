"""A small coverage-guided fuzzer.

Random damage alone rarely gets past a second check: both must be hit at once. Here an input that
makes the package take a step it has not taken before (from one line to another) is kept, and later
inputs start from it, so that checks fall one after the other. Steps are seen with `sys.settrace`,
which follows only the frames of the package itself. It makes readers two to four times slower, so
when nothing new has been seen for long, only some inputs are watched; all of them are judged.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import nho
from tests.fuzz.judge import Verdict, judge
from tests.fuzz.mutations import apply, pick
from tests.fuzz.target import Target

if sys.platform != "win32":
    import resource

PACKAGE = str(Path(nho.__file__).parent)
_RECENT = 16  # newest inputs of the corpus, which a third of the inputs start from
_LONG = 2000  # inputs without a new step, after which ...
_GLANCE = 8  # ... only every so many-th is watched, until there is one again
_MOST_MINIMISING = 400  # runs spent on making one finding smaller


@dataclass
class Finding:
    """An input that breaks the contract, as small as deletion makes it."""

    key: str
    data: bytes
    at_input: int


@dataclass
class Report:
    """What a run did.

    Attributes
    ----------
    kinds : how many inputs were valid, refused, refused by the last net, or findings.
    nets : one input for every place whose exception only the last net caught.
    peak : bytes of resident memory that the process gained while it ran.
    """

    inputs: int = 0
    seconds: float = 0.0
    lines: int = 0
    steps: int = 0
    corpus: list[bytes] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    findings: dict[str, Finding] = field(default_factory=dict)
    nets: dict[str, bytes] = field(default_factory=dict)
    slowest: float = 0.0
    slowest_input: bytes = b""
    peak: int = 0


class Coverage:
    """The steps from line to line that a function takes in files under `root`."""

    def __init__(self, root: str = PACKAGE) -> None:
        self.root = root
        self.numbers: dict[CodeType, int] = {}  # -1: not ours
        self.steps: set[int] = set()

    def of(self, function: Callable[[], Any]) -> tuple[Any, set[int]]:
        """What the function returns, and its steps."""
        self.steps = set()
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            return function(), self.steps
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, _: Any) -> Any:
        number = self.numbers.get(frame.f_code)
        if number is None:
            ours = frame.f_code.co_filename.startswith(self.root)
            number = len(self.numbers) if ours else -1
            self.numbers[frame.f_code] = number
        if number < 0:
            return None
        base, steps = number << 32, self.steps
        previous = 0

        def follow(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal previous
            if event == "line":
                line = frame.f_lineno & 0xFFFF
                steps.add(base | previous << 16 | line)
                previous = line
            return follow

        return follow


def fuzz(
    target: Target,
    inputs: int,
    seed: int,
    *,
    guided: bool = True,
    root: str = PACKAGE,
    before_each: Callable[[bytes], None] = lambda _: None,
    enough: Callable[[Report], bool] = lambda _: False,
) -> Report:
    """Feed a target with `inputs` variants of its seeds.

    Parameters
    ----------
    guided : keep what reaches new steps; False is random mutation of the seeds alone.
    root : folder whose files count for coverage.
    before_each : is shown every input before it runs, for whoever survives a dead process.
    enough : ends the run early.
    """
    chance, coverage, report = random.Random(seed), Coverage(root), Report()
    known: set[int] = set()
    news = 0  # the input that last took a new step
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    report.corpus = list(target.seeds)
    waiting = list(target.seeds)
    while report.inputs < inputs and not enough(report):
        data = waiting.pop() if waiting else vary(target, report.corpus, chance)
        before_each(data)
        steps: set[int] = set()
        if report.inputs - news < _LONG or report.inputs % _GLANCE == 0:
            verdict, steps = coverage.of(lambda data=data: judge(target.read, data))  # type: ignore[misc]
        else:
            verdict = judge(target.read, data)
        report.inputs += 1
        _note(report, target, data, verdict)
        if not steps <= known:
            known |= steps
            news = report.inputs
            if guided and data not in target.seeds:
                report.corpus.append(data)
    report.seconds = time.process_time() - started
    report.steps = len(known)
    report.lines = len({step & ~0xFFFF0000 for step in known})
    report.peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) * 1024
    return report


def vary(target: Target, corpus: list[bytes], chance: random.Random) -> bytes:
    """A new input: one to five operations on a seed, on one of the newest, or on any other."""
    # What reaches new code is mostly refused; the seeds keep some inputs near valid ones.
    data = chance.choice(chance.choice([target.seeds, corpus[-_RECENT:], corpus]))
    parts = target.unpack(data) if target.unpack and chance.random() < 0.7 else []
    at = chance.randrange(len(parts)) if parts else 0
    inside = parts[at] if parts else data
    for _ in range(chance.choice([1, 1, 1, 2, 3, 5])):
        inside = apply(pick(chance), inside, chance, corpus)
    if not parts or target.pack is None:
        return inside
    return target.pack([*parts[:at], inside, *parts[at + 1 :]])


def _note(report: Report, target: Target, data: bytes, verdict: Verdict) -> None:
    report.kinds[verdict.kind] += 1
    if verdict.seconds > report.slowest:
        report.slowest, report.slowest_input = verdict.seconds, data
    if verdict.kind == "net":
        smallest = min(report.nets.get(verdict.key, data), data, key=len)
        report.nets[verdict.key] = smallest
    elif verdict.kind == "finding" and verdict.key not in report.findings:
        small = minimised(target.read, data, verdict.key)
        report.findings[verdict.key] = Finding(verdict.key, small, report.inputs)


def minimised(read: Callable[[bytes], object], data: bytes, key: str) -> bytes:
    """The input without every piece that the same failure can do without."""
    size, runs = max(len(data) // 2, 1), 0
    while True:
        at = 0
        while at < len(data) and runs < _MOST_MINIMISING:
            shorter = data[:at] + data[at + size :]
            runs += 1
            if judge(read, shorter).key == key:
                data = shorter
            else:
                at += size
        if size == 1 or runs >= _MOST_MINIMISING:
            return data
        size //= 2
