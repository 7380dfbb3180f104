"""`run_batch`: many pairs into one folder, whatever happens on the way.

The folders of the pairs are the truth. The table is rebuilt from them at every start, so a run that
was killed loses the pairs that were running and nothing else.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from nho.batch.cluster import Cluster
from nho.batch.job import Job, JobOutcome
from nho.batch.local import run_local
from nho.batch.lock import folder_lock, refuse_links
from nho.batch.pairs import BatchPair
from nho.batch.plan import NOT_TRIED, PairPlan, Planner
from nho.batch.records import (
    STATE,
    PastFailure,
    find_result,
    forget_failure,
    record_failure,
    state_folders,
)
from nho.batch.summary import SUMMARY, SummaryRow, write_summary
from nho.errors import CannotWrite, InputError
from nho.report.result_folder import check_folder_writable
from nho.runtime.atomic_file import sweep_parts, write_whole
from nho.runtime.atomic_folder import sweep
from nho.runtime.input_protection import InputFiles, listed_files
from nho.runtime.interrupts import deferred
from nho.runtime.memory import available_memory
from nho.runtime.parallel import thread_count
from nho.settings import Settings

_SHARE = 0.9  # of the free memory; the rest is for the system and for what the estimate misses
_WRITING_SHARE = 0.05  # of the time, for writing the table anew
_MARK = "made by nho batch"
KEPT = "finished pairs are kept; run the same command again to continue"


@dataclass(frozen=True)
class BatchProgress:
    """An event of a running batch: a pair was settled, or there is something to say.

    Attributes
    ----------
    done, failed, total : int
        Pairs that are settled (ok or failed), those of them that failed, and all.
    row : SummaryRow or None
        The pair that was settled just now in this run.
    note : str
        A sentence for the user, or empty.
    """

    done: int
    failed: int
    total: int
    row: SummaryRow | None = None
    note: str = ""


BatchCallback = Callable[[BatchProgress], None]


def run_batch(
    pairs: Sequence[BatchPair],
    out: str | Path,
    settings: Settings,
    *,
    jobs: int | None = None,
    report: bool = True,
    retry_failed: bool = False,
    scheduler: str | None = None,
    progress: BatchCallback | None = None,
    pairs_file: str | Path | None = None,
) -> list[SummaryRow]:
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
    pairs_file : path, optional
        The file that the pairs come from, which must not be overwritten either.

    Returns
    -------
    list of SummaryRow
        The table, in the order of ``pairs``.
    """
    if jobs is not None and jobs < 1:
        raise InputError(f"--jobs {jobs}: at least one process is needed")
    out = Path(out).absolute()
    read = [path for pair in pairs for path in pair.files]
    inputs = InputFiles(
        [*read, *listed_files(settings.checkpoints), *([pairs_file] if pairs_file else [])]
    )
    _check_out(out, inputs)
    with ExitStack() as stack:
        warning = stack.enter_context(folder_lock(out))
        refuse_links([*state_folders(out), *(out / pair.name for pair in pairs)])
        table = _Summary(pairs, out, progress)
        if warning:
            table.notify(warning)
        write_whole(out / STATE / "README", f"{_MARK}: lock and records, needed to resume\n")
        _tidy(out, pairs)
        cluster = None
        if scheduler is not None:
            cluster = stack.enter_context(closing(Cluster(scheduler, out, table.notify)))
        budget = cluster.memory_per_pair() if cluster else _local_budget()
        table.plan(Planner(out, settings, report, retry_failed, budget, inputs))
        if table.jobs:
            workers = jobs or max(1, thread_count(0) // thread_count(settings.threads))
            outcomes = (
                cluster.run(table.jobs) if cluster else run_local(table.jobs, workers, budget)
            )
            try:
                table.settle(outcomes)
            except CannotWrite as problem:
                raise CannotWrite(f"{problem}; {KEPT}") from problem
            finally:
                with deferred(), suppress(CannotWrite):
                    _tidy(out, pairs)
                    table.add_unreported()
        return table.rows


class _Summary:
    """The table as it fills."""

    def __init__(
        self, pairs: Sequence[BatchPair], out: Path, progress: BatchCallback | None
    ) -> None:
        self._pairs, self._out, self._progress = pairs, out, progress
        self._rows = {pair.name: SummaryRow(pair.name, "skipped", NOT_TRIED) for pair in pairs}
        self._jobs: dict[str, Job] = {}
        self._counts = Counter(row.status for row in self._rows.values())
        self._stale: dict[str, str] = {}  # why an earlier result does not count
        self._next_writing = 0.0

    @property
    def rows(self) -> list[SummaryRow]:
        return list(self._rows.values())

    @property
    def jobs(self) -> list[Job]:
        return list(self._jobs.values())

    def notify(self, note: str = "", row: SummaryRow | None = None) -> None:
        if self._progress is not None:
            counts = self._counts
            done = counts["ok"] + counts["failed"]
            self._progress(BatchProgress(done, counts["failed"], len(self._rows), row, note))

    def plan(self, planner: Planner) -> None:
        """Fill the table with what is known, and say what is done again or not at all."""
        plans = [planner.plan(pair) for pair in self._pairs]
        for plan in plans:
            name = plan.row.name
            if plan.stale:
                self._stale[name] = plan.stale
            self._put(plan.row)
            if plan.job is not None:
                self._jobs[name] = plan.job
                forget_failure(self._out, name)
        write_summary(self._out, self.rows)
        for note in _notes(plans):
            self.notify(note)
        self.notify()

    def settle(self, outcomes: Generator[JobOutcome, None, None]) -> None:
        """Take the outcomes as they come; what the folder holds decides."""
        with closing(outcomes):
            for outcome in outcomes:
                if outcome.hits_every_job:
                    raise CannotWrite(outcome.error)
                self._put(self._row_of(outcome))
                self._write_if_due()
                self.notify(row=self._rows[outcome.name])
        write_summary(self._out, self.rows)

    def _write_if_due(self) -> None:
        """Write the table, which takes the longer the more pairs there are, a part of the time."""
        start = time.monotonic()
        if start >= self._next_writing:
            write_summary(self._out, self.rows)
            self._next_writing = start + (time.monotonic() - start) / _WRITING_SHARE

    def add_unreported(self) -> None:
        """Enter pairs that were finished, but not yet reported, when the run was stopped."""
        if all(row.status != "skipped" for row in self._rows.values()):
            return
        for name, job in self._jobs.items():
            if self._rows[name].status == "skipped":
                found = find_result(self._out, name, job.request, job.report)
                if found.result is not None:
                    self._put(SummaryRow.of_result(name, found.result))
        write_summary(self._out, self.rows)

    def _row_of(self, outcome: JobOutcome) -> SummaryRow:
        job = self._jobs[outcome.name]
        found = find_result(self._out, job.name, job.request, job.report)
        if found.result is not None:
            self._stale.pop(job.name, None)
            return SummaryRow.of_result(job.name, found.result)
        error = outcome.error or "its files changed while it ran; run the batch again"
        seconds = round(outcome.seconds, 3)
        if outcome.error:
            failure = PastFailure(outcome.error, seconds)
            record_failure(self._out, job.name, job.request, failure, outcome.details)
        return SummaryRow(job.name, "failed", error, seconds)

    def _put(self, row: SummaryRow) -> None:
        if row.status == "failed" and row.name in self._stale:
            why = f"the earlier result in the folder does not count: {self._stale[row.name]}"
            row = replace(row, error=f"{row.error} ({why})")
        self._counts[self._rows[row.name].status] -= 1
        self._counts[row.status] += 1
        self._rows[row.name] = row


def _tidy(out: Path, pairs: Sequence[BatchPair]) -> None:
    """Remove what killed processes left half-written."""
    sweep(out, {pair.name for pair in pairs})
    sweep_parts([out, *state_folders(out)])


def _check_out(out: Path, inputs: InputFiles) -> None:
    """Refuse a folder in which we would overwrite an input, or a table that is not ours."""
    check_folder_writable(out)
    inputs.refuse_file(out / SUMMARY)
    inputs.refuse_folder(out / STATE)
    if (out / SUMMARY).exists() and not (out / STATE).is_dir():
        raise InputError(
            f"{out}: holds a {SUMMARY} that no batch wrote; give a new or empty folder for --out"
        )


def _local_budget() -> int | None:
    free = available_memory()
    return None if free is None else int(_SHARE * free)


def _notes(plans: Sequence[PairPlan]) -> Iterator[str]:
    done = sum(plan.row.status == "ok" for plan in plans)
    if done:
        yield f"{done} of {len(plans)} pairs are done already"
    again = Counter(plan.stale for plan in plans if plan.stale and plan.job)
    for why, count in again.items():
        yield f"{count} earlier results are recomputed ({why})"
    kept = sum(plan.old_failure for plan in plans)
    if kept:
        yield f"{kept} pairs failed earlier and are not tried again; --retry-failed tries them"
