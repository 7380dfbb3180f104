"""Workers on this machine: processes that take one pair after another.

The standard process pool is lost as a whole when one process is killed. Here every worker has a
pipe of its own, so the death of one (out of memory, say) costs its pair one attempt, nothing else.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any

from threadpoolctl import threadpool_limits

from nho.batch.job import JobOutcome, Work
from nho.runtime.worker_process import Send, WorkerProcess

_ATTEMPTS = 2  # a killed worker may be bad luck; two in a row are not


def run_local(
    jobs: Sequence[Work], workers: int, budget: int | None
) -> Generator[JobOutcome, None, None]:
    """Run the jobs side by side and yield the outcomes as they come.

    Parameters
    ----------
    jobs : sequence of Work
        Each fits into ``budget`` by itself.
    workers : int
        Most processes at a time.
    budget : int or None
        Bytes that the running jobs may need together; None = no limit.

    Closing the iterator ends all workers and drops their pairs.
    """
    waiting = list(jobs)
    deaths: Counter[str] = Counter()
    idle: list[WorkerProcess] = []
    running: list[_Attempt] = []
    try:
        while waiting or running:
            while len(running) < workers and (
                job := _next_that_fits(waiting, running, deaths, budget)
            ):
                waiting.remove(job)
                attempt = _Attempt(_alive(idle) or WorkerProcess(_run, "nho batch"), job)
                running.append(attempt)
                attempt.begin()
            for attempt in _ended(running):
                running.remove(attempt)
                job = attempt.job
                outcome = attempt.outcome()
                if outcome is not None:
                    idle.append(attempt.worker)
                    yield outcome
                    continue
                attempt.worker.stop()
                deaths[job.name] += 1
                if deaths[job.name] < _ATTEMPTS:
                    waiting.append(job)
                else:
                    yield JobOutcome(job.name, attempt.seconds, _death_message(attempt.worker))
    finally:
        for worker in (*idle, *(attempt.worker for attempt in running)):
            worker.stop()


@dataclass(eq=False)
class _Attempt:
    """A job and the worker that runs it."""

    worker: WorkerProcess
    job: Work
    start: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.start

    def begin(self) -> None:
        with suppress(OSError):  # dead already, as `outcome` will find
            self.worker.connection.send(self.job)

    def outcome(self) -> JobOutcome | None:
        """The outcome of the job; None if the process died over it."""
        try:
            outcome: JobOutcome = self.worker.connection.recv()
        except (EOFError, OSError):
            return None
        return outcome


def _run(job: Work, send: Send) -> None:
    with threadpool_limits(limits=1):
        send(job.run())


def _next_that_fits(
    waiting: list[Work], running: list[_Attempt], deaths: Counter[str], budget: int | None
) -> Work | None:
    """The first job for which there is memory now.

    A job whose worker died runs alone: most likely the memory was not enough for all.
    """
    if any(deaths[attempt.job.name] for attempt in running):
        return None
    used = sum(attempt.job.memory for attempt in running)
    for job in waiting:
        if deaths[job.name]:
            if not running:
                return job
        elif budget is None or not running or used + job.memory <= budget:
            return job
    return None


def _alive(idle: list[WorkerProcess]) -> WorkerProcess | None:
    """Take a worker that is still there; one may have been killed while it had nothing to do."""
    while idle:
        worker = idle.pop()
        if worker.process.is_alive():
            return worker
        worker.stop()
    return None


def _ended(running: list[_Attempt]) -> list[_Attempt]:
    """Wait until some workers have an answer or are dead, and return their attempts."""
    handles: dict[Any, _Attempt] = {}
    for attempt in running:
        worker = attempt.worker
        handles[worker.connection] = handles[worker.process.sentinel] = attempt
    return list(dict.fromkeys(handles[handle] for handle in wait(list(handles))))


def _death_message(worker: WorkerProcess) -> str:
    code = worker.process.exitcode
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    return (
        f"the worker died {_ATTEMPTS} times ({how}), the last time with no other pair beside it; "
        "most likely memory ran out: simplify the meshes or use a larger machine"
    )
