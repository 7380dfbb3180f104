"""A reader of the paper finds every number of it beside ours on docs/paper_tables.md."""

from __future__ import annotations

import importlib.util
import math
import re
from collections import Counter
from pathlib import Path

import pytest

from nho.lab.bench.published import published

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "paper_tables.md").read_text(encoding="utf-8")

_spec = importlib.util.spec_from_file_location("paper_tables", ROOT / "tools" / "paper_tables.py")
assert _spec is not None and _spec.loader is not None
paper_tables = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(paper_tables)


def rows() -> list[list[str]]:
    """Cells of every row of every table."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.splitlines()
        if line.startswith("|") and not line.startswith("|---")
    ]


def numbers(cells: list[str]) -> list[str]:
    return re.findall(r"[\d.,]+[KG]?", " ".join(cells))


def test_the_page_is_made_of_the_stored_figures():
    assert paper_tables.page() == PAGE, "run `make reference`"


def test_every_printed_number_is_on_the_page_once():
    found = Counter(
        number
        for first, *cells in rows()
        if first.endswith(", printed")
        for number in numbers(cells)
    )
    cost = PAGE.partition("## Cost")[2]
    found += Counter(cells[1] for cells in rows() if f"| {cells[0]} |" in cost and cells[0])
    assert found == Counter(entry.value for entry in published())


def test_every_printed_row_of_ours_has_a_measured_row_below_it_without_a_gap():
    def below(title: str) -> list[list[str]]:
        every = rows()
        return [every[at + 1] for at, cells in enumerate(every) if cells[0] == f"{title}, printed"]

    variants = [title for names in paper_tables.VARIED.values() for title in names.values()]
    checked = 0
    for title in ["Ours", *variants]:
        for label, *cells in below(title):
            assert label.startswith(("*here*", "*cuts*")), title
            assert paper_tables.NOT_MEASURED not in cells, title
            checked += 1
    assert checked == 2 * 4 + 4 + 3 + 5 + 4  # both main tables on four data sets, then the others


def test_steadiness_is_printed_as_the_text_of_the_paper_says():
    said = {"CUTS'24": ("0.18", "0.35", "0.64"), "PFAUST-M": ("0.68", None, "0.73")}
    said |= {"PFAUST-H": ("1.10", None, "0.97"), "PFARM": ("0.89", None, "1.75")}
    table = [line.split(" | ") for line in paper_tables.spread_table().splitlines()[2:]]
    assert len(table) == len(said)
    for name, *cells in table:
        for cell, number in zip(cells[::2], said[name.strip("| ")], strict=True):
            assert number in (None, cell), name


def test_measured_figures_are_numbers_of_some_pairs_and_named_once():
    keys = []
    for row in paper_tables.measured():
        keys.append(tuple(row[name] for name in list(row)[1:7]))
        assert 0 <= float(row["value"]) <= 100 and int(row["pairs"]) >= 1
        assert not row["half_width"] or math.isfinite(float(row["half_width"]))
    assert len(keys) > 500 and len(set(keys)) == len(keys)


def test_a_figure_that_is_measured_twice_is_refused(monkeypatch):
    twice = paper_tables.measured() * 2
    monkeypatch.setattr(paper_tables, "measured", lambda: twice)
    with pytest.raises(AssertionError, match="is measured 2 times"):
        paper_tables.error_table("cuts24")
