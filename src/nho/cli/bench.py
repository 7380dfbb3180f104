"""`nho bench`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from nho.cli.bench_display import bench_display
from nho.cli.console import if_stopped, say
from nho.cli.options import RegionTruth, Scheduler, comma_separated
from nho.errors import InputError
from nho.lab.baselines import BASELINES
from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.datasets.family import PLAIN, QUICK
from nho.lab.bench.run_studies import KEPT, check_installed, rerun, run_studies
from nho.lab.bench.studies import STUDIES, StudyRequest
from nho.lab.bench.studies.study import ALWAYS_THERE
from nho.lab.speed.run_speed import SPEED_CASES, SpeedRequest, run_speed
from nho.runtime.input_protection import InputFiles
from nho.settings import PRESETS

_METHODS = (*PRESETS, *BASELINES)


def bench_command(
    study: Annotated[
        str,
        typer.Option(
            "--study",
            help=f"Comma-separated, of {', '.join(STUDIES)}; or `all`; or `speed` alone.",
        ),
    ] = "main",
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="DIR", envvar="NHO_DATA", help="Folder of data sets, see the docs."
        ),
    ] = None,
    families: Annotated[
        str,
        typer.Option(
            "--families",
            help=f"Comma-separated, of {', '.join(FAMILIES)}; default: all that are present in "
            "--data.",
        ),
    ] = "",
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            help=f"Comma-separated, of {', '.join(_METHODS)}; or `all`; default: chosen by each "
            "study.",
        ),
    ] = "",
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for everything.")
    ] = Path("nho-bench"),
    quick: Annotated[
        bool, typer.Option("--quick", help="One pair per family, few variants: minutes.")
    ] = False,
    as_given: Annotated[
        bool,
        typer.Option("--as-given", help="Main tables: input neither normalised nor rotated."),
    ] = False,
    rotations: Annotated[
        int, typer.Option("--rotations", min=1, help="Main tables: trials with rotated input.")
    ] = StudyRequest.rotations,
    checkpoints: Annotated[
        str,
        typer.Option(
            "--checkpoints",
            metavar="FILE,...",
            help="Main tables: files for learned methods; default: the shipped ones.",
        ),
    ] = "",
    region_truth: RegionTruth = "usual",
    every: Annotated[int, typer.Option("--every", min=1, help="Only every n-th pair.")] = 1,
    pairs: Annotated[
        int,
        typer.Option("--pairs", min=0, help="At most so many of a family, evenly spread; 0 = all."),
    ] = 0,
    vertices: Annotated[
        int,
        typer.Option("--vertices", min=0, help="Presets solve on about so many; 0 = their choice."),
    ] = 0,
    seeds: Annotated[
        str,
        typer.Option(
            "--seeds",
            help="Seeds, comma-separated (studies ablation, readings, nam-start and parts; speed "
            "case same-result); default: 0, for readings 0,1,2.",
        ),
    ] = "",
    jobs: Annotated[
        int | None, typer.Option("--jobs", help="Runs at a time; default: one per core.")
    ] = None,
    scheduler: Scheduler = None,
    row: Annotated[
        str | None,
        typer.Option(
            "--rerun", metavar="CSV:ROW", help="Measure one row again (from 1) and compare."
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="No progress; failures are still reported.")
    ] = False,
    sizes: Annotated[
        str,
        typer.Option(
            "--sizes",
            help="Speed: numbers of vertices, comma-separated, such as 500,5k,1M; default: 1k to "
            "1M.",
        ),
    ] = "",
    cases: Annotated[
        str,
        typer.Option(
            "--cases",
            help=f"Speed: comma-separated, of {', '.join(SPEED_CASES)}; default: all timed ones.",
        ),
    ] = "",
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="Speed: processes per case and size.")
    ] = SpeedRequest.repeats,
    limit: Annotated[
        float, typer.Option("--limit", help="Speed: seconds that a process may take.")
    ] = SpeedRequest.limit,
    threads: Annotated[
        int, typer.Option("--threads", min=0, help="Speed: 0 = as each case chooses.")
    ] = SpeedRequest.threads,
    pair: Annotated[
        int,
        typer.Option(
            "--pair",
            min=0,
            help="Speed: number of the pair in --families; without --families, the shipped sample.",
        ),
    ] = SpeedRequest.pair,
    name: Annotated[
        str, typer.Option("--name", help="Speed: name of the files written.")
    ] = SpeedRequest.name,
) -> None:
    """Measure methods on data sets: every table and figure of the paper, and our own.

    Writes rows (CSV), tables (Markdown, LaTeX), figures (SVG, PDF, PNG) and one `report.html` to
    the folder of `--out`. Run the same command again to resume: what is measured is kept, what
    failed is tried again. Studies share their runs.

    Every run is judged by all rules of `--region-truth`, so another one needs no new measurement.

    Data sets that are not there are left out; `synthetic`, which needs no files, is always there.
    Timings are reliable only with `--jobs 1` on a machine that does nothing else.

    Exit code 1 if any run failed.

    `--study speed` stands alone: time, memory and accuracy against size, beside other libraries
    (needs `nho[peers]`), every measurement in a process of its own.

    Example: `nho bench --study all --quick --out quick`

    Example: `nho bench --study speed --sizes 1k,5k --cases floor,default,pyfm --out results`
    """
    if row is not None:
        typer.echo(rerun(row, data))
        return

    InputFiles([] if data is None else [data]).refuse_inside(out)

    def tell(note: str) -> None:
        if not quiet:
            say(note, err=True)

    if comma_separated(study) == ["speed"]:
        speed = SpeedRequest(
            tuple(comma_separated(sizes)) or (("1k",) if quick else SpeedRequest.sizes),
            tuple(_known(comma_separated(cases), SPEED_CASES, "case")) or SpeedRequest.cases,
            1 if quick else repeats,
            limit,
            threads,
            _integers(seeds, "--seeds") or SpeedRequest.seeds,
            _one_family(families),
            pair,
            data,
            name,
        )
        check_installed()
        with if_stopped(lambda: "the sizes that were finished are written"):
            page = run_speed(speed, out, tell)
        if not quiet:
            say(f"look at {page}")
        return
    names = _studies(study)
    request = StudyRequest(
        data,
        _families(families, data, quick),
        _methods(methods),
        quick,
        every,
        pairs,
        _integers(seeds, "--seeds"),
        as_given,
        rotations,
        checkpoints,
        vertices,
        region_truth,
        tell,
    )
    with if_stopped(lambda: KEPT), bench_display(quiet) as progress:
        page, failures = run_studies(
            names,
            request,
            out,
            _command(request, out),
            jobs=jobs,
            scheduler=scheduler,
            progress=progress,
        )
    for failed, problem in failures.items():
        say(f"failed: {failed}: {problem}", err=True)
    if not quiet:
        say(f"look at {page}")
    if failures:
        raise typer.Exit(1)


def _command(request: StudyRequest, out: Path) -> str:
    """The command of one study, with the folders' names only: pages are shared."""
    words = ["nho bench --study {study}"]
    words += ["--data DIR"] if request.data else []
    words += [f"--families {','.join(request.families)}"]
    words += [f"--methods {','.join(request.methods)}"] if request.methods else []
    words += ["--quick"] * request.quick + ["--as-given"] * request.as_given
    if request.rotations != StudyRequest.rotations:
        words += [f"--rotations {request.rotations}"]
    words += ["--checkpoints FILES"] if request.checkpoints else []
    if request.region_truth != "usual":
        words += [f"--region-truth {request.region_truth}"]
    words += [f"--every {request.every}"] if request.every > 1 else []
    words += [f"--pairs {request.most}"] if request.most else []
    words += [f"--vertices {request.vertices}"] if request.vertices else []
    words += [f"--seeds {','.join(map(str, request.seeds))}"] if request.seeds else []
    return " ".join([*words, f"--out {shlex.quote(out.name)}"])


def _studies(text: str) -> list[str]:
    names = comma_separated(text)
    if names == ["all"]:
        return list(STUDIES)
    if "speed" in names:
        raise InputError("the study speed wants the machine to itself; give it alone")
    return _known(names, STUDIES, "study", "all or speed")


def _families(text: str, data: Path | None, quick: bool) -> tuple[str, ...]:
    names = comma_separated(text)
    if data is not None and not data.is_dir():
        raise InputError(f"{data}: no such folder of data sets")
    if names:
        for name in _known(names, FAMILIES, "family"):
            FAMILIES[name].names(data)  # says what is missing, and where it goes
        return tuple(names)
    asked = (name for name in (QUICK if quick else PLAIN) if name != ALWAYS_THERE)
    there = (name for name in asked if data is not None and FAMILIES[name].present(data))
    return (ALWAYS_THERE, *there)


def _methods(text: str) -> tuple[str, ...]:
    names = comma_separated(text)
    if names == ["all"]:
        return _METHODS
    return tuple(_known(names, _METHODS, "method", "all"))


def _one_family(text: str) -> str:
    names = _known(comma_separated(text), FAMILIES, "family")
    if len(names) > 1:
        raise InputError(f"--families {text}: the study speed takes one pair, so one family")
    return names[0] if names else ""


def _known(names: list[str], known: Iterable[str], what: str, other: str = "") -> list[str]:
    choices = list(known)
    for name in names:
        if name not in choices:
            also = f" or {other}" if other else ""
            raise InputError(f"{what} {name!r} is unknown; choose from {', '.join(choices)}{also}")
    return names


def _integers(text: str, option: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in comma_separated(text))
    except ValueError:
        raise InputError(f"{option} {text!r} is not a list of whole numbers") from None
