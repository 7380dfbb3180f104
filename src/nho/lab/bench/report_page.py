"""The page of all results: tables, figures, and how they came about, in one HTML file."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import jinja2

from nho.lab.bench.rowfile import read_rows
from nho.lab.bench.studies.study import Findings, Study
from nho.lab.bench.tabular import html
from nho.lab.machine import cpu_name
from nho.report.result_folder import versions
from nho.report.scene import packaged_text
from nho.runtime.atomic_file import write_whole
from nho.runtime.input_file import read_bytes

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_IMAGE_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}
_SVG_WIDTH = re.compile(rb'<svg [^>]*\bwidth="([0-9.]+)pt"')
_ENLARGED = 1.3  # figures are drawn for a column of print, where letters are smaller
_WORDS = {"iou": "IoU", "pck": "PCK"}
_LARGE_SVG = 1_500_000  # bytes; a browser draws a picture of so many paths slowly


@dataclass(frozen=True)
class StudyReport:
    """One study, as the page shows it.

    Attributes
    ----------
    study : Study
        Its name on the command line, its title and its question are shown.
    findings : Findings
        Image files that differ in their suffix only are one figure; CSVs with a column ``pair``
        tell how many pairs there are.
    command : str
        The command that makes it again.
    failures : list of str
        What could not be measured, and why.
    """

    study: Study
    findings: Findings
    command: str
    failures: list[str]


@dataclass(frozen=True)
class _Shown:
    """A study with everything the template needs."""

    report: StudyReport
    tables: list[str]
    figures: list[tuple[str, str, int, list[tuple[str, str]]]]  # see `_figure`
    links: list[tuple[str, str]]  # text, address
    counts: list[tuple[int, str]]


def write_report_page(
    folder: Path, reports: Sequence[StudyReport], machine: Mapping[str, str] | None = None
) -> Path:
    """Write ``report.html`` into the folder.

    Figures and tables are inside the page, which asks the network for nothing; only the links to
    other files need them beside it.

    Parameters
    ----------
    folder : Path
    reports : sequence of StudyReport
        In the order to show; their files lie in or below the folder.
    machine : mapping, optional
        What the measurements ran on, by name; this machine if not given.

    Returns
    -------
    Path
        Of the page.
    """
    for report in reports:
        if not _NAME.fullmatch(report.study.name):
            raise ValueError(f"study name {report.study.name!r} must be letters, digits and dashes")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["number"] = lambda value: f"{value:,}"
    source = packaged_text("report_page.html.jinja", __package__)
    page = environment.from_string(source).render(
        studies=[_shown(report, folder) for report in reports],
        machine=this_machine() if machine is None else dict(machine),
    )
    path = folder / "report.html"
    # Messages of failures may quote file names, which need not be valid Unicode.
    write_whole(path, page.encode("utf-8", "replace"))
    return path


def this_machine() -> dict[str, str]:
    """Versions of what the results depend on, and the machine, by name."""
    return {**versions(), "cpu": cpu_name(), "cores": str(os.cpu_count())}


def _shown(report: StudyReport, folder: Path) -> _Shown:
    findings = report.findings
    return _Shown(
        report=report,
        tables=[html(table) for table in findings.tables],
        figures=[_figure(images, folder) for images in _by_stem(findings.figures)],
        links=[(path.name, _address(path, folder)) for path in findings.files],
        counts=_counts(findings.files),
    )


def _by_stem(paths: Iterable[Path]) -> list[list[Path]]:
    """Files of one picture together, in order of appearance."""
    found: dict[Path, list[Path]] = {}
    for path in paths:
        found.setdefault(path.with_suffix(""), []).append(path)
    return list(found.values())


def _figure(images: list[Path], folder: Path) -> tuple[str, str, int, list[tuple[str, str]]]:
    """Caption, image as a data address, its width and links to its files.

    The address is "" if no file can be shown, the width (in pixels of the page) 0 if unknown.
    """
    usable = {path.suffix: path for path in images if path.suffix in _IMAGE_TYPES}
    chosen = usable.get(".svg") or usable.get(".png")
    if ".png" in usable and chosen is not None and chosen.stat().st_size > _LARGE_SVG:
        chosen = usable[".png"]
    data, width = "", 0
    if chosen is not None:
        content = read_bytes(chosen)
        # As an image rather than as elements of the page: names inside two drawings may be equal.
        coded = base64.b64encode(content).decode("ascii")
        data = f"data:{_IMAGE_TYPES[chosen.suffix]};base64,{coded}"
        points = _SVG_WIDTH.search(content[:5000]) if chosen.suffix == ".svg" else None
        width = round(float(points[1]) * 96 / 72 * _ENLARGED) if points else 0
    links = [(path.suffix.lstrip(".").upper(), _address(path, folder)) for path in images]
    return _caption(images[0].stem), data, width, links


def _caption(stem: str) -> str:
    """The words of a file's name."""
    words = " ".join(_WORDS.get(word, word) for word in re.split(r"[_-]+", stem))
    return words[:1].upper() + words[1:]


def _address(path: Path, folder: Path) -> str:
    """Address of a file relative to the page; "./" keeps a colon from ending a scheme."""
    return "./" + quote(Path(os.path.relpath(path, folder)).as_posix())


def _counts(paths: Sequence[Path]) -> list[tuple[int, str]]:
    """How much was measured: (number, what)."""
    rows = [row for path in paths if path.suffix == ".csv" for row in read_rows(path)]
    rows = [row for row in rows if row.get("pair")]
    if not rows:
        return []
    pairs = {(row.get("family", ""), row["pair"]) for row in rows}
    methods = {row["method"] for row in rows if row.get("method")}
    found = [(len(pairs), "pair"), (len(methods), "method"), (len(rows), "run")]
    return [(count, f"{word}{'' if count == 1 else 's'}") for count, word in found if count]
