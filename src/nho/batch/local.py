"""Workers on this machine: processes that take one pair after another.

The standard process pool is lost as a whole when one process is killed. Here every worker has a
pipe of its own, so the death of one (out of memory, say) costs its pair one attempt, nothing else.
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from threadpoolctl import threadpool_limits

from nho.batch.job import Outcome, Work
from nho.runtime.interrupts import deferred
from nho.runtime.terminal import log_to_terminal

_ATTEMPTS = 2  # a killed worker may be bad luck; two in a row are not
_PATIENCE = 5.0  # seconds that a worker gets to end by itself


def run_local(
    jobs: Sequence[Work], workers: int, budget: int | None
) -> Generator[Outcome, None, None]:
    """Run the jobs side by side and give the outcomes as they come.

    Parameters
    ----------
    jobs : sequence of Work
        Each fits into ``budget`` by itself.
    workers : int
        Most processes at a time.
    budget : int or None
        Bytes that the running jobs may need together; None = no limit.

    Closing the iterator ends all workers and drops the pairs they were at.
    """
    waiting = list(jobs)
    deaths: Counter[str] = Counter()
    idle: list[_Worker] = []
    busy: list[_Worker] = []
    try:
        while waiting or busy:
            while len(busy) < workers and (job := _next_that_fits(waiting, busy, deaths, budget)):
                waiting.remove(job)
                worker = _living(idle) or _Worker()
                busy.append(worker)
                worker.give(job)
            for worker in _ready(busy):
                busy.remove(worker)
                job = worker.job
                assert job is not None
                outcome = worker.answer()
                if outcome is not None:
                    idle.append(worker)
                    yield outcome
                    continue
                worker.stop()
                deaths[job.name] += 1
                if deaths[job.name] < _ATTEMPTS:
                    waiting.append(job)
                else:
                    yield Outcome(job.name, worker.age, _death_sentence(worker))
    finally:
        for worker in (*idle, *busy):
            worker.stop()


def _next_that_fits(
    waiting: list[Work], busy: list[_Worker], deaths: Counter[str], budget: int | None
) -> Work | None:
    """The first job for which there is memory now.

    A job whose worker died runs alone: most likely the memory was not enough for all.
    """
    running = [worker.job for worker in busy if worker.job is not None]
    if any(deaths[job.name] for job in running):
        return None
    used = sum(job.memory for job in running)
    for job in waiting:
        if deaths[job.name]:
            if not running:
                return job
        elif budget is None or not running or used + job.memory <= budget:
            return job
    return None


def _living(idle: list[_Worker]) -> _Worker | None:
    """Take a worker that is still there; one may have been killed while it had nothing to do."""
    while idle:
        worker = idle.pop()
        if worker.process.is_alive():
            return worker
        worker.stop()
    return None


def _ready(busy: list[_Worker]) -> list[_Worker]:
    """Wait until some workers have an answer or are dead, and return these."""
    handles: dict[Any, _Worker] = {}
    for worker in busy:
        handles[worker.connection] = handles[worker.process.sentinel] = worker
    return list(dict.fromkeys(handles[handle] for handle in wait(list(handles))))


def _death_sentence(worker: _Worker) -> str:
    code = worker.process.exitcode
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    return (
        f"the worker died {_ATTEMPTS} times ({how}), the last time with no other pair beside it; "
        "most likely memory ran out: decimate the meshes or use a larger machine"
    )


class _Worker:
    """A process, the pipe to it and the job it is at."""

    def __init__(self) -> None:
        # Spawned: a forked child would inherit the thread pools of BLAS in an unknown state.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True, name="nho batch")
        with deferred(), _interrupts_blocked():  # half a start would leave a process behind
            self.process.start()
        theirs.close()
        self.job: Work | None = None
        self._since = time.monotonic()

    @property
    def age(self) -> float:
        """Seconds since the last job was given."""
        return time.monotonic() - self._since

    def give(self, job: Work) -> None:
        self.job = job
        self._since = time.monotonic()
        with suppress(OSError):  # dead already: `answer` will tell
            self.connection.send(job)

    def answer(self) -> Outcome | None:
        """The outcome of the job; None if the process died over it."""
        self.job = None
        try:
            outcome: Outcome = self.connection.recv()
        except (EOFError, OSError):
            return None
        return outcome

    def stop(self) -> None:
        """End the process, at work or not."""
        self.connection.close()
        self.process.terminate()
        self.process.join(_PATIENCE)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C meanwhile; what is started now inherits the block and leaves Ctrl-C to us."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection) -> None:
    """The life of a worker: jobs in, outcomes out, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log_to_terminal(logging.WARNING)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with threadpool_limits(limits=1):
        while True:
            try:
                job = connection.recv()
            except EOFError:
                return
            connection.send(job.run())


def _end_with_parent() -> None:
    """A worker whose parent was killed must not go on: the next run may be at the same pair."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        signal.raise_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
