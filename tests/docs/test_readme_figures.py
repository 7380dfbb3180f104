"""Figures of README, report and page of failures stand in docs/results.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RESULTS = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")

_NUMBER = re.compile(r"(?<![\w.,'/-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w.]*\w)")
_NO_FIGURE = re.compile(r"```.*?```|`[^`\n]*`|!?\[[^\]]*\]\([^)]*\)|Python [\d.]+", re.DOTALL)


def figures(text: str) -> set[str]:
    return set(_NUMBER.findall(_NO_FIGURE.sub("", text)))


def sections(text: str) -> list[str]:
    """The parts below the headings of any level; code is no heading."""
    return re.split(r"^#+ .*$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.MULTILINE)


def sentences(text: str) -> list[str]:
    """Those of the paragraphs; tables are left out."""
    lines = _NO_FIGURE.sub("", text).splitlines()
    prose = "\n".join(line for line in lines if not line.startswith("|"))
    return re.split(r"(?<=[.:?!])\s+|\n\s*\n", prose)


def table_rows(text: str) -> list[tuple[str, set[str]]]:
    """(label, figures) of every row of every table."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    lines = [line for line, below in zip(lines, [*lines[1:], ""]) if not below.startswith("|---")]
    return [(line.split("|")[1].strip(), figures(line.partition("|")[2])) for line in lines]


def without_source(readme: str, results: str) -> list[str]:
    """What of the README no results have.

    The figures of a sentence must stand in one section, those of a row of a table in one row
    that is labelled alike.
    """
    parts = [figures(part) for part in sections(results)]
    rows = table_rows(results)
    lost = [text for text in sentences(readme) if not any(figures(text) <= part for part in parts)]
    lost += [
        label
        for label, found in table_rows(readme)
        if not any(found <= known for named, known in rows if named == label)
        and (found or label.strip("-"))
    ]
    return lost


def test_every_figure_of_the_readme_stands_in_the_results():
    assert len(figures(README)) > 50
    assert without_source(README, RESULTS) == []


@pytest.mark.parametrize("name", ["trust.md", "report.md"])
def test_every_figure_of_a_page_about_results_stands_in_the_results(name):
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    page = re.sub(r"\$\$.*?\$\$|\$.*?\$", "", text, flags=re.DOTALL)  # formulas
    assert len(figures(page)) > 20
    assert without_source(page, RESULTS) == []


def test_what_reports_an_error_says_what_constants_were_chosen_on():
    with_errors = [
        part for part in sections(README) if "error" in part and re.search(r"\d\.\d", part)
    ]
    assert len(with_errors) >= 3
    assert [part for part in with_errors if "chosen" not in part] == []


SOURCE = """# Results
## Bodies
The error is 1.25 with 2,743 vertices, in 3.0 s.

| | error | worst |
|---|---|---|
| bodies | **1.25** (2.0) | 4.5 |
| faces | 0.75 | 0.9 |

## Speed
A pair takes 7.5 s.
"""


def test_figures_as_in_the_results_are_found():
    right = (
        "# Readme\nBodies have 1.25 at 2,743 vertices.\n\n| | e |\n|---|---|\n| faces | 0.75 |\n"
    )
    assert without_source(right, SOURCE) == []


def test_a_wrong_figure_in_a_sentence_is_found():
    assert without_source("Bodies have 1.26. It takes 7.5 s.", SOURCE) == ["Bodies have 1.26."]


def test_figures_of_two_sections_in_one_sentence_are_found():
    assert without_source("Bodies have 1.25 and take 7.5 s.", SOURCE) != []


def test_a_row_with_the_figure_of_another_row_is_found():
    assert without_source("| faces | 1.25 |\n", SOURCE) == ["faces"]


def test_numbers_of_code_links_and_versions_are_no_figures():
    text = "Python 3.11, `x=4.5` and [docs](a-6.html) in 3D.\n\n```sh\nrun 8.5\n```\n"
    assert figures(text) == set()
