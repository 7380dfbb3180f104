"""Fuzzing in a process of its own, so that a crash of native code or a hang is a finding too.

The child writes every input into shared memory before it reads it. When it dies or stands still,
the parent still has that input, notes it, and starts another child for the inputs that are left.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
import time
from multiprocessing.connection import Connection

from tests.fuzz.guided import Finding, Report, fuzz
from tests.fuzz.judge import SLOWEST, limited_memory
from tests.fuzz.mutations import LONGEST
from tests.fuzz.target import Target

_HEAD = 16  # bytes in front of the input: how many were begun, and the length of this one
_MOST_DEATHS = 20


class Blackboard:
    """The input that is being read, where a parent can see it."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, _HEAD + 4 * LONGEST)
        self.begun = 0

    def show(self, data: bytes) -> None:
        self.begun += 1
        data = data[: 4 * LONGEST]
        self.memory[_HEAD : _HEAD + len(data)] = data
        self.memory[:_HEAD] = self.begun.to_bytes(8, "little") + len(data).to_bytes(8, "little")

    def read(self) -> tuple[int, bytes]:
        """How many inputs were begun, and the last of them."""
        begun = int.from_bytes(self.memory[:8], "little")
        length = int.from_bytes(self.memory[8:_HEAD], "little")
        return begun, self.memory[_HEAD : _HEAD + length]


def fuzz_guarded(target: Target, inputs: int, seed: int, guided: bool = True) -> Report:
    """Like `fuzz`, with a memory limit, and whatever happens to the process."""
    total = Report()
    for death in range(_MOST_DEATHS):
        board = Blackboard()
        receiving, sending = multiprocessing.Pipe(duplex=False)
        left = inputs - total.inputs
        child = multiprocessing.get_context("fork").Process(
            target=_run, args=(target, left, seed + death, guided, board, sending)
        )
        child.start()
        sending.close()
        why, part = _watch(child, board, receiving)
        child.join()
        begun, data = board.read()
        if part is not None:
            _add(total, part)
            break
        why = why or f"died with exit code {child.exitcode}"
        total.inputs += begun
        total.kinds["finding"] += 1
        total.findings.setdefault(why, Finding(why, data, total.inputs))
        if total.inputs >= inputs:
            break
    return total


def _watch(
    child: multiprocessing.process.BaseProcess, board: Blackboard, done: Connection
) -> tuple[str, Report | None]:
    """Wait for the child: its report, or None and why it had to be killed ("" if it died)."""
    last, used = -1, 0.0
    while not done.poll(0.5):
        begun, now = board.read()[0], _cpu_seconds(child.pid or 0)
        if begun != last:
            last, used = begun, now
        # Processor time and not time of day: a busy machine is no hang. Twice the limit, since
        # what comes back in between is judged by the child itself.
        elif now - used > 2 * SLOWEST:
            child.kill()
            return "hangs", None
    try:
        return "", done.recv()
    except EOFError:  # the pipe is closed by the death of its other end
        return "", None


def _cpu_seconds(pid: int) -> float:
    try:
        with open(f"/proc/{pid}/stat") as status:
            fields = status.read().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _run(
    target: Target, inputs: int, seed: int, guided: bool, board: Blackboard, sending: Connection
) -> None:
    with limited_memory():
        report = fuzz(target, inputs, seed, guided=guided, before_each=board.show)
    sending.send(report)
    sending.close()


def _add(total: Report, part: Report) -> None:
    total.inputs += part.inputs
    total.seconds += part.seconds
    total.lines, total.steps = max(total.lines, part.lines), max(total.steps, part.steps)
    total.corpus, total.peak = part.corpus, max(total.peak, part.peak)
    total.kinds += part.kinds
    total.nets |= part.nets
    for key, finding in part.findings.items():
        total.findings.setdefault(key, finding)
    if part.slowest > total.slowest:
        total.slowest, total.slowest_input = part.slowest, part.slowest_input
