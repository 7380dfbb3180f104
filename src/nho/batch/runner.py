"""`run_batch`: many pairs into one folder, whatever happens on the way.

The folders of the pairs are the truth. The table is rebuilt from them at every start and after
every pair, so a run that was killed loses the pairs it was at and nothing else.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from nho.batch.cluster import Cluster
from nho.batch.job import Job, Outcome
from nho.batch.links import refuse_links
from nho.batch.local import run_local
from nho.batch.lock import folder_lock
from nho.batch.names import SUMMARY
from nho.batch.pairs import Pair
from nho.batch.records import (
    STATE,
    Failure,
    find_result,
    forget_failure,
    record_failure,
    state_folders,
)
from nho.batch.summary import Row, write_summary
from nho.batch.survey import Survey, Surveyor
from nho.errors import CannotWrite, InputError
from nho.runtime.atomic_file import sweep_parts, write_whole
from nho.runtime.atomic_folder import sweep
from nho.runtime.interrupts import deferred
from nho.runtime.memory import available_memory
from nho.runtime.parallel import thread_count
from nho.settings import Settings

_SHARE = 0.9  # of the free memory; the rest is for the system and for what the estimate misses
_MARK = "made by nho batch"
KEPT = "finished pairs are kept, and the same command goes on from here"


@dataclass(frozen=True)
class BatchProgress:
    """What a running batch tells: a pair was settled, or there is something to say.

    Attributes
    ----------
    done, failed, total : int
        Pairs that are settled (ok or failed), those of them that failed, and all.
    row : Row or None
        The pair that was settled just now in this run.
    note : str
        A sentence for the user, or empty.
    """

    done: int
    failed: int
    total: int
    row: Row | None = None
    note: str = ""


BatchCallback = Callable[[BatchProgress], None]


def run_batch(
    pairs: Sequence[Pair],
    out: str | Path,
    settings: Settings,
    *,
    jobs: int | None = None,
    report: bool = True,
    retry_failed: bool = False,
    scheduler: str | None = None,
    progress: BatchCallback | None = None,
) -> list[Row]:
    """Match every pair into ``out / name`` and keep ``out / summary.csv``.

    Pairs that are done (same content of the files, same settings) are not done again; a failure
    does not stop the others.

    Parameters
    ----------
    jobs : int, optional
        Most processes at a time; as many as the cores allow if not given. Memory may allow fewer.
    report : bool
        Whether every folder gets its ``report.html``.
    retry_failed : bool
        Try again what failed in an earlier run.
    scheduler : str, optional
        Address of a Dask scheduler, whose workers then do the work.
    progress : callable, optional
        Called with a `BatchProgress` whenever something happened.

    Returns
    -------
    list of Row
        The table, in the order of ``pairs``.
    """
    if jobs is not None and jobs < 1:
        raise InputError(f"--jobs {jobs}: at least one process is needed")
    out = Path(out).absolute()
    _check_out(out)
    with ExitStack() as stack:
        warning = stack.enter_context(folder_lock(out))
        refuse_links([*state_folders(out), *(out / pair.name for pair in pairs)])
        run = _Run(pairs, out, progress)
        if warning:
            run.tell(warning)
        write_whole(out / STATE / "README", f"{_MARK}: lock and records, needed to resume\n")
        _tidy(out, pairs)
        cluster = None
        if scheduler is not None:
            cluster = stack.enter_context(closing(Cluster(scheduler, out, run.tell)))
        budget = cluster.memory_per_pair() if cluster else _local_budget()
        run.survey(Surveyor(out, settings, report, retry_failed, budget))
        if run.todo:
            workers = jobs or max(1, thread_count(0) // thread_count(settings.threads))
            outcomes = cluster.run(run.todo) if cluster else run_local(run.todo, workers, budget)
            try:
                run.settle(outcomes)
            except CannotWrite as problem:
                raise CannotWrite(f"{problem}; {KEPT}") from problem
            finally:
                with deferred(), suppress(CannotWrite):
                    _tidy(out, pairs)
                    if run.waits:
                        run.look_again()
        return run.rows


class _Run:
    """The table as it fills."""

    def __init__(self, pairs: Sequence[Pair], out: Path, progress: BatchCallback | None) -> None:
        self._pairs, self._out, self._progress = pairs, out, progress
        self._table = {pair.name: Row(pair.name, "skipped", "not tried yet") for pair in pairs}
        self._jobs: dict[str, Job] = {}
        self._stale: dict[str, str] = {}

    @property
    def rows(self) -> list[Row]:
        return list(self._table.values())

    @property
    def todo(self) -> list[Job]:
        return list(self._jobs.values())

    @property
    def waits(self) -> bool:
        """Whether some pairs are not settled yet."""
        return any(row.status == "skipped" for row in self._table.values())

    def tell(self, note: str = "", row: Row | None = None) -> None:
        if self._progress is not None:
            counts = Counter(row.status for row in self._table.values())
            done = counts["ok"] + counts["failed"]
            self._progress(BatchProgress(done, counts["failed"], len(self._table), row, note))

    def survey(self, surveyor: Surveyor) -> None:
        """Fill the table with what is known, and say what is done again or not at all."""
        surveys = [surveyor.look(pair) for pair in self._pairs]
        for survey in surveys:
            name = survey.row.name
            if survey.stale:
                self._stale[name] = survey.stale
            self._put(survey.row)
            if survey.job is not None:
                self._jobs[name] = survey.job
                forget_failure(self._out, name)
        write_summary(self._out, self.rows)
        for note in _notes(surveys):
            self.tell(note)
        self.tell()

    def settle(self, outcomes: Generator[Outcome, None, None]) -> None:
        """Take the outcomes as they come; what the folder holds decides."""
        with closing(outcomes):
            for outcome in outcomes:
                if outcome.for_all:
                    raise CannotWrite(outcome.error)
                row = self._row_of(outcome)
                self._put(row)
                write_summary(self._out, self.rows)
                self.tell(row=self._table[row.name])

    def look_again(self) -> None:
        """Enter pairs that were finished but not yet told of when the run was stopped."""
        for job in self._jobs.values():
            if self._table[job.name].status == "skipped":
                found = find_result(self._out, job.name, job.request, job.report)
                if found.result is not None:
                    self._put(Row.of_result(job.name, found.result))
        write_summary(self._out, self.rows)

    def _row_of(self, outcome: Outcome) -> Row:
        job = self._jobs[outcome.name]
        found = find_result(self._out, job.name, job.request, job.report)
        if found.result is not None:
            self._stale.pop(job.name, None)
            return Row.of_result(job.name, found.result)
        error = outcome.error or "its files changed while it ran; run the batch again"
        seconds = round(outcome.seconds, 3)
        if outcome.error:
            failure = Failure(outcome.error, seconds)
            record_failure(self._out, job.name, job.request, failure, outcome.details)
        return Row(job.name, "failed", error, seconds)

    def _put(self, row: Row) -> None:
        if row.status == "failed" and row.name in self._stale:
            error = f"{row.error} (the result in the folder is {self._stale[row.name]})"
            row = Row(row.name, row.status, error, row.seconds)
        self._table[row.name] = row


def _tidy(out: Path, pairs: Sequence[Pair]) -> None:
    """Remove what killed processes left half-written."""
    sweep(out, {pair.name for pair in pairs})
    sweep_parts([out, *state_folders(out)])


def _check_out(out: Path) -> None:
    """Refuse a folder in which we would overwrite a table that is not ours."""
    nearest = next(place for place in (out, *out.parents) if place.exists())
    if not nearest.is_dir():
        raise InputError(f"{out}: {nearest.name} is a file; give a folder for --out")
    if not os.access(nearest, os.W_OK):
        raise CannotWrite(
            f"{out}: cannot be written (no permission in {nearest}); give another place"
        )
    if (out / SUMMARY).exists() and not (out / STATE).is_dir():
        raise InputError(
            f"{out}: holds a {SUMMARY} that no batch wrote; give a new or empty folder for --out"
        )


def _local_budget() -> int | None:
    free = available_memory()
    return None if free is None else int(_SHARE * free)


def _notes(surveys: Sequence[Survey]) -> Iterator[str]:
    done = sum(survey.row.status == "ok" for survey in surveys)
    if done:
        yield f"{done} of {len(surveys)} pairs are done already"
    again = Counter(survey.stale for survey in surveys if survey.stale and survey.job)
    for why, count in again.items():
        yield f"{count} results are {why} and are made again"
    kept = sum(survey.old_failure for survey in surveys)
    if kept:
        yield f"{kept} pairs failed earlier and are not tried again; --retry-failed tries them"
