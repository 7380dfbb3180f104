"""Many tasks into CSV files: side by side, here or on a cluster, and on after a kill.

Only this process writes, the caller holding the folder. A row is written as soon as it is measured.
What a CSV already holds is not measured again. A failure is reported and has no row, so the next
start tries it again.
"""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

from nho.batch.cluster import Cluster
from nho.batch.job import JobOutcome, one_line
from nho.batch.local import run_local
from nho.errors import InputError, NhoError
from nho.lab.bench.perturb import conditions_text
from nho.lab.bench.rowfile import ResultRow, append_row, check_columns, read_rows
from nho.lab.bench.tasks import Task, Values
from nho.runtime.parallel import thread_count

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class BenchProgress:
    """What a running benchmark tells.

    Attributes
    ----------
    done, failed, total : int
        Tasks that are settled, those of them that failed, and all.
    name : str
        The task that was settled just now, or empty.
    problem : str
        Why it failed, or empty.
    left : float
        Seconds that the rest will take, estimated; NaN before anything is known.
    """

    done: int
    failed: int
    total: int
    name: str = ""
    problem: str = ""
    left: float = float("nan")


Callback = Callable[[BenchProgress], None]


@dataclass(frozen=True)
class Measured(JobOutcome):
    """The outcome of a task that went well."""

    values: Values = field(default_factory=dict)


@dataclass(frozen=True)
class BenchJob:
    """A task on its way to a worker."""

    task: Task
    data: Path | None
    threads: int

    @property
    def name(self) -> str:
        """All keys, so that no two tasks share it."""
        return "|".join((self.task.kind, *self.task.keys.values()))

    @property
    def memory(self) -> int:
        """Not estimated: shapes of benchmarks are small."""
        return 0

    def run(self) -> JobOutcome:
        """Measure; whatever goes wrong is part of the answer."""
        start = time.monotonic()
        error, details, values = "", "", None
        try:
            values = self.task.measure(self.data, self.threads)
        except NhoError as problem:
            error = str(problem)
        except MemoryError:
            error = "not enough memory; use fewer --jobs"
        except Exception as problem:
            error = f"unexpected {type(problem).__name__}: {problem}"
            details = traceback.format_exc()
            log.exception("%s", self.name)
        seconds = time.monotonic() - start
        if values is None:
            return JobOutcome(self.name, seconds, one_line(error), details)
        return Measured(self.name, seconds, values=values)


def shown_name(task: Task) -> str:
    """Words that name a task on screen."""
    keys = task.keys
    if task.kind == "matches":
        words = [keys["family"], keys["pair"], keys["method"], keys["changes"]]
        words += [conditions_text(keys)]
        words += [f"seed {keys['seed']}"] if keys["seed"] not in ("-", "0") else []
        return " ".join(word for word in words if word)
    return f"{task.kind}: {' '.join(keys.values())}"


def execute(
    tasks: Sequence[Task],
    out: Path,
    data: Path | None,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Callback | None = None,
) -> dict[str, str]:
    """Measure what is not measured yet, into ``out / <kind>.csv``.

    Parameters
    ----------
    jobs : int, optional
        Processes at a time; as many as there are cores if not given.
    scheduler : str, optional
        Address of a Dask scheduler, whose workers then do the work.

    Returns
    -------
    dict
        Name of every task that failed, and why.
    """
    if jobs is not None and jobs < 1:
        raise InputError(f"--jobs {jobs}: at least one process is needed")
    tell = progress or (lambda event: None)
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        todo = unmeasured(tasks, out)
        pace = _Pace(todo, len(tasks))
        tell(pace.event())
        if not todo:
            return {}
        count = jobs or thread_count(0)
        threads = 0 if count == 1 and scheduler is None else 1
        work = [BenchJob(task, data, threads) for task in todo]
        if scheduler is not None:
            cluster = Cluster(scheduler, data, lambda note: log.warning("%s", note))
            outcomes = stack.enter_context(closing(cluster)).run(work)
        else:
            outcomes = run_local(work, count, None)
        by_name = {job.name: job.task for job in work}
        with closing(outcomes):
            for outcome in outcomes:
                task = by_name[outcome.name]
                if isinstance(outcome, Measured):
                    append_row(out / f"{task.kind}.csv", task.keys, outcome.values)
                tell(pace.settled(task, outcome))
        return pace.failures


def unmeasured(tasks: Sequence[Task], out: Path) -> list[Task]:
    """Tasks without a row, one of each: long ones first, then pair by pair."""
    todo: dict[tuple[str, ...], Task] = {}
    for task, row in zip(tasks, _valid_rows(tasks, out), strict=True):
        if row is None:
            todo.setdefault((task.kind, *task.keys.values()), task)

    def place(task: Task) -> tuple[float, str, str]:
        # A long one at the end would keep the other workers waiting.
        return (-task.effort, task.keys["family"], task.keys["pair"])

    return sorted(todo.values(), key=place)


def rows_of(tasks: Sequence[Task], out: Path) -> list[ResultRow]:
    """The rows of these tasks, in their order; those that failed have none."""
    return [row for row in _valid_rows(tasks, out) if row is not None]


def _valid_rows(tasks: Sequence[Task], out: Path) -> list[ResultRow | None]:
    """The last row with the keys of each task, or None if there is none with its stamp too."""
    tables: dict[str, dict[tuple[str, ...], ResultRow]] = {}
    found: list[ResultRow | None] = []
    for task in tasks:
        if task.kind not in tables:
            path = out / f"{task.kind}.csv"
            check_columns(path, task.columns)
            tables[task.kind] = {
                tuple(row[key] for key in task.keys): row for row in read_rows(path)
            }
        row = tables[task.kind].get(tuple(task.keys.values()))
        valid = row is not None and task.stamp.items() <= row.items()
        found.append(row if valid else None)
    return found


class _Pace:
    """Counts, and the time left from what the tasks of this run took."""

    def __init__(self, todo: Sequence[Task], total: int) -> None:
        self._missing = sum(task.effort for task in todo)
        self._made = 0.0
        self._start = time.monotonic()
        self._total = total
        self._done = total - len(todo)
        self.failures: dict[str, str] = {}

    def event(self, name: str = "", problem: str = "") -> BenchProgress:
        spent = time.monotonic() - self._start
        left = spent / self._made * self._missing if self._made else float("nan")
        return BenchProgress(self._done, len(self.failures), self._total, name, problem, left)

    def settled(self, task: Task, outcome: JobOutcome) -> BenchProgress:
        self._missing -= task.effort
        self._made += task.effort
        self._done += 1
        problem = "" if isinstance(outcome, Measured) else outcome.error
        name = shown_name(task)
        if problem:
            self.failures[name] = problem
        return self.event(name, problem)
