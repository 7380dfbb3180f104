"""From names of studies to a folder of rows, tables, figures and one page about all of them.

    OUT/matches.csv, courses.csv    every measurement, appended to as they come
    OUT/<study>/rows.csv            those of one study
    OUT/<study>/*.md, *.tex         its tables
    OUT/<study>/*.svg, *.pdf, *.png its figures
    OUT/settings.json               the settings behind every settings_hash
    OUT/report.html                 all of it to look at

Studies share measurements: what two of them need is measured once.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from nho.batch.lock import BENCH_STATE, folder_lock, refuse_links
from nho.batch.summary import FORMULA_SIGNS
from nho.errors import CannotWrite, InputError, NhoError
from nho.evaluation.ground_truth import REGION_RULES
from nho.lab.bench.engine import Callback, execute, rows_of, shown_name
from nho.lab.bench.latex import latex
from nho.lab.bench.report_page import StudyReport, write_report_page
from nho.lab.bench.rowfile import ResultRow, read_rows
from nho.lab.bench.scores import shown_under
from nho.lab.bench.studies import STUDIES, Findings, Study, StudyRequest
from nho.lab.bench.tabular import markdown
from nho.lab.bench.tasks import MatchTask, Task
from nho.runtime.atomic_file import sweep_parts, write_whole
from nho.runtime.input_file import read_text

KEPT = "what was measured is kept; run the same command again to continue"
_COMPARED = ("geodesic_error", "geodesic_error_vertex", "iou", "precision", "recall", "f1")
_TOLERANCE = 1e-4  # relative; numbers in a row have eight digits, other machines round otherwise
_NEEDED = {"matplotlib": "figures", "fast_simplification": "coarser meshes"}


def run_studies(
    names: Sequence[str],
    request: StudyRequest,
    out: Path,
    command: str,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Callback | None = None,
) -> tuple[Path, dict[str, str]]:
    """Measure what is missing and write everything anew.

    Parameters
    ----------
    names : sequence of str
        Of studies.
    command : str
        How the user asked, for the page; ``{study}`` stands for the name of a study.

    Returns
    -------
    page : Path
        The report.
    failures : dict
        Runs that failed, and why.
    """
    check_installed()
    plans = {name: STUDIES[name].tasks(request) for name in names}
    # Runs that several studies need are counted once.
    tasks = {(task.kind, *task.keys.values()): task for plan in plans.values() for task in plan}
    _check_pair_names(tasks.values())
    with folder_lock(out, BENCH_STATE) as warning:
        refuse_links(folder(out, name) for name in names)
        refuse_links(out / f"{task.kind}.csv" for task in tasks.values())
        if warning:
            request.tell(warning)
        for name in names:
            _make_folder(folder(out, name))
        sweep_parts([out, *(folder(out, name) for name in names)])
        _write_settings(out, list(tasks.values()))
        try:
            failures = execute(
                list(tasks.values()),
                out,
                request.data,
                jobs=jobs,
                scheduler=scheduler,
                progress=progress,
            )
            return _report(plans, request, out, command, failures), failures
        except CannotWrite as problem:
            raise CannotWrite(f"{problem}; {KEPT}") from problem


def _report(
    plans: Mapping[str, list[Task]],
    request: StudyRequest,
    out: Path,
    command: str,
    failures: Mapping[str, str],
) -> Path:
    """Tables and figures of every study, and the page about them."""
    reports = []
    for name, plan in plans.items():
        rows = rows_of(plan, out)
        failed = [
            f"{shown}: {failures[shown]}" for shown in map(shown_name, plan) if shown in failures
        ]
        reports.append(_reported(STUDIES[name], request, rows, out, command, failed, bool(plan)))
    return write_report_page(out, reports)


def _check_pair_names(tasks: Iterable[Task]) -> None:
    """Names come from files and go to tables: refuse what a spreadsheet or a terminal obeys."""
    for task in tasks:
        pair = task.keys.get("pair", "")
        if pair.startswith(FORMULA_SIGNS) or not pair.isprintable():
            raise InputError(
                f"{task.keys.get('family', '')}: the pair {pair!r} is named like a formula or has "
                "control characters; rename its files"
            )


def check_installed() -> None:
    """Say what is missing now rather than after hours of measuring."""
    for module, what in _NEEDED.items():
        if find_spec(module) is None:
            raise InputError(
                f"{what} need {module}, which is not installed; pip install 'nho[bench]'"
            )


def folder(out: Path, study: str) -> Path:
    """Where the files of a study go."""
    return out / study


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise CannotWrite.to(path, problem) from problem


def _reported(
    study: Study,
    request: StudyRequest,
    rows: list[ResultRow],
    out: Path,
    command: str,
    failed: list[str],
    measures: bool,
) -> StudyReport:
    """Write the files of one study."""
    place = folder(out, study.name)
    rule = request.region_truth
    words = f"{REGION_RULES[rule].words} (--region-truth {rule})"
    told = "" if rule == "usual" else f"Unless a table names its rule, the true region is {words}."
    if measures and not rows:
        findings = Findings(notes=["Every run failed; there is nothing to show."])
    else:
        shown = [shown_under(rule, row) for row in rows]
        findings = study.findings(request, shown, place)
    files = list(findings.files)
    if rows:
        write_whole(place / "rows.csv", _as_csv(rows))
        files.append(place / "rows.csv")
    for table in findings.tables:
        # A file may be read without the page, which says it once.
        alone = replace(table, note=f"{table.note} {told}".strip())
        for suffix, text in ((".md", markdown(alone)), (".tex", latex(alone))):
            path = place / f"{table.name}{suffix}"
            write_whole(path, text)
            files.append(path)
    findings = replace(findings, files=files, notes=[*findings.notes, *filter(None, [told])])
    return StudyReport(study, findings, command.replace("{study}", study.name), failed)


def _as_csv(rows: list[ResultRow]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _write_settings(out: Path, tasks: list[Task]) -> None:
    """Every settings_hash with the settings it stands for; those of earlier runs stay."""
    path = out / "settings.json"
    try:
        known = dict(json.loads(read_text(path))) if path.exists() else {}
    except (InputError, ValueError, TypeError) as problem:
        raise InputError(
            f"{path}: not the settings that nho bench wrote ({problem}); delete it or give another "
            "--out"
        ) from problem
    for task in tasks:
        if isinstance(task, MatchTask):
            method = task.contender
            if method.settings is not None:
                known.setdefault(method.settings_hash, method.settings.as_dict())
    write_whole(path, json.dumps(known, indent=1) + "\n")


def rerun(place: str, data: Path | None) -> str:
    """Measure the row that ``CSV:ROW`` names; an `NhoError` if anything differs.

    Returns
    -------
    str
        A line a score.
    """
    path, row = _row_at(place)
    task = MatchTask.from_row(row)
    if task.stamp["settings_hash"] != row["settings_hash"]:
        raise NhoError(
            f"{path}: the row was made with other settings ({row['settings_hash']}) than preset "
            f"{task.method!r} has in nho {version('nho')}; it says version {row['version']}"
        )
    values = task.measure(data, 0)
    lines, differing = [], []
    for name in _COMPARED:
        then = float(row[name] or "nan")
        now = float(values[name])
        same = math.isclose(then, now, rel_tol=_TOLERANCE) or (math.isnan(then) and math.isnan(now))
        lines.append(f"{name}: {then:.6g} in the row, {now:.6g} now")
        if not same:
            differing.append(name)
    if differing:
        raise NhoError("; ".join(lines) + f": not reproduced ({', '.join(differing)})")
    return "\n".join([*lines, "reproduced"])


def _row_at(place: str) -> tuple[Path, dict[str, str]]:
    text, _, number = place.rpartition(":")
    path = Path(text)
    if not number.isdigit() or not text:
        raise InputError(f"--rerun {place!r}: give a file and a row, such as matches.csv:1")
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    rows = read_rows(path)
    if not 1 <= int(number) <= len(rows):
        raise InputError(f"{path}: has rows 1 to {len(rows)}, not {number}")
    return path, rows[int(number) - 1]
