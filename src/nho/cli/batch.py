"""`nho batch`, and its progress: a bar on a terminal, a line per pair elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from nho.batch import BatchProgress, read_pairs, run_batch
from nho.batch.runner import KEPT, BatchCallback
from nho.batch.summary import SUMMARY
from nho.cli.console import counted_line, counting_bar, duration, if_stopped, say
from nho.cli.options import Changes, Preset, Scheduler, Seed, chosen_settings
from nho.io.landmarks.parsing import listed


def batch_command(
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS", help="CSV of pairs.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for all results.")],
    preset_name: Preset = "default",
    changes: Changes = [],  # noqa: B006  (typer reads it, nothing changes it)
    seed: Seed = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", help="Pairs at a time, at most; default: as many as cores and memory allow."
        ),
    ] = None,
    threads: Annotated[
        int,
        typer.Option("--threads", help="Threads per pair; 0 = every core, for a few large ones."),
    ] = 1,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write report.html for every pair.")
    ] = True,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try again what failed in an earlier run.")
    ] = False,
    scheduler: Scheduler = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="No progress, no summary; failures are still shown.")
    ] = False,
) -> None:
    """Match every pair of a table; continue after failures, resume after a kill.

    PAIRS is a CSV with the columns `partial,full,anchors` and optionally `name`; its paths are
    relative to its own folder. For landmarks in two files, `anchors_partial,anchors_full` take the
    place of `anchors`, and a column `flip_anchors` may say where to negate x and y. With `auto` in
    place of a file the anchors are found by shape. The result of a pair goes to a folder of its
    name in DIR, and DIR/summary.csv has one row per pair: `ok`, `failed` with the reason, or
    `skipped` (not tried).

    Run the same command again to resume: finished pairs are kept unless their files or the
    settings changed. No more pairs run at a time than fit into memory.

    With `--scheduler`, meshes, anchors and DIR must be on a disk that all Dask workers see under
    the same path; start the workers with `--nthreads 1`.

    Exit code 1 if any pair failed.

    Example: `nho batch pairs.csv --out results`
    """
    settings = chosen_settings(preset_name, changes, seed, threads)
    table = read_pairs(pairs)
    with if_stopped(lambda: KEPT), _batch_display(quiet) as progress:
        rows = run_batch(
            table,
            out,
            settings,
            jobs=jobs,
            report=report,
            retry_failed=retry_failed,
            scheduler=scheduler,
            progress=progress,
            pairs_file=pairs,
        )
    failed = [row for row in rows if row.status == "failed"]
    for row in failed:
        say(f"failed: {row.name}: {row.error}", err=True)
    if not quiet:
        counts = Counter(row.status for row in rows)
        warned = [row.name for row in rows if row.warnings]
        doubts = f", {len(warned)} with warnings ({listed(warned)})" if warned else ""
        say(
            f"{counts['ok']} of {len(rows)} pairs ok, {counts['failed']} failed{doubts}; "
            f"look at {out / SUMMARY}"
        )
    if failed:
        raise typer.Exit(1)


@contextmanager
def _batch_display(quiet: bool) -> Iterator[BatchCallback]:
    """A callback for `run_batch` that draws to stderr; nothing at all if ``quiet``."""
    if quiet:
        yield lambda event: None
        return
    time_left = _TimeLeft()
    if not sys.stderr.isatty():
        yield lambda event: _show_lines(event, time_left(event))
        return
    with counting_bar("pairs") as bar:

        def show(event: BatchProgress) -> None:
            if event.note:
                bar.say(event.note)
            bar.update(event.done, event.total, event.failed, time_left(event))

        yield show


def _show_lines(event: BatchProgress, left: str) -> None:
    if event.note:
        say(event.note, err=True)
    if event.row is not None:
        message = f"{event.row.name}: {event.row.status}"
        say(counted_line(event.done, event.total, message, event.failed, left), err=True)


class _TimeLeft:
    """Time left, from the pairs settled in this run only: earlier ones cost nothing now."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._settled = 0

    def __call__(self, event: BatchProgress) -> str:
        self._settled += event.row is not None
        missing = event.total - event.done
        if not self._settled or not missing:
            return ""
        seconds = (time.monotonic() - self._start) / self._settled * missing
        return f"about {duration(seconds)} left"
