"""`nho review`: which scans of a batch are suspicious."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from nho.batch.cycles import Cycle, run_cycles
from nho.batch.fits import result_folders, run_fits
from nho.batch.job import JobOutcome
from nho.batch.review import render_review, suspicions
from nho.batch.summary import without_result
from nho.cli.console import counted_line, say, say_notes
from nho.cli.options import AsJson, Quiet, Scheduler
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.runtime.atomic_file import write_whole
from nho.runtime.input_protection import InputFiles
from nho.shapes.collection import judged


def review_command(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="Folder that `nho batch --out` wrote.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page, .html.")],
    cycles: Annotated[
        bool,
        typer.Option(
            "--cycles/--no-cycles",
            help="Match the template to every scan as well, and see whether it comes back.",
        ),
    ] = True,
    ways: Annotated[
        int,
        typer.Option(
            "--ways",
            help="Direct matches from each scan to others, compared with those through the "
            "template; two or more say which of two scans is wrong.",
        ),
    ] = 0,
    jobs: Annotated[int | None, typer.Option("--jobs", help="Fits at a time, at most.")] = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Review the results of a batch: one page, worst first, with what is suspicious.

    The template is fitted to every scan: distances both ways, coverage, suspect anchors. With
    `--cycles` every scan is compared with a match of the template to it, and with `--ways` with
    direct matches from scan to scan, whose anchors are found by shape alone: these also name
    matches that are mirrored or turned round.

    Example: `nho review results --out review.html`

    Example: `nho review results --ways 2 --out review.html`
    """
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{out.name}: the review is a page; give a name that ends with .html")
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise InputError(f"{out}: cannot be written; give a file name in a folder that exists")
    folders = result_folders(results)
    InputFiles(folders).refuse_file(out)
    template = Mesh.read(folders[0] / "full.ply")
    count = 0

    def done(outcome: JobOutcome, total: int) -> None:
        nonlocal count
        count = count % total + 1
        if not quiet:
            say(counted_line(count, total, f"looked at {outcome.name}", 0, ""), err=True)

    found: list[Cycle] = []
    with tempfile.TemporaryDirectory() as scratch:
        store = Path(scratch)
        collection = run_fits(folders, template, store, jobs=jobs, scheduler=scheduler, done=done)
        fits = collection.fits
        failed = without_result(results, fits) | collection.failed
        if cycles or ways:
            found, without = run_cycles(
                [folder for folder in folders if folder.name in fits],
                store,
                back=cycles,
                ways=ways,
                jobs=jobs,
                scheduler=scheduler,
                done=done,
            )
            failed |= without
        del collection  # its arrays are mapped from files in the store
    judgements = judged(fits, suspicions(found))
    notes = [f"{name}: {why}" for name, why in failed.items()]
    write_whole(out, render_review(results, fits, judgements, found, notes))
    say_notes(notes)
    suspicious = {each.name: list(each.reasons) for each in judgements if each.reasons}
    if as_json:
        typer.echo(json.dumps({"scans": len(fits), "suspicious": suspicious, "out": str(out)}))
    elif not quiet:
        say(f"{len(suspicious)} of {len(fits)} scans are suspicious; look at {out}")
