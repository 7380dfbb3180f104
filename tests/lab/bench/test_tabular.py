"""Tables: what is shown, what is best, and that no text can break out of its cell."""

import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from nho.lab.bench.tabular import Cell, Section, Table, html, legend, markdown, marks

HEADER = (
    (("Default", 2), ("Normalised", 2)),
    (("IoU ↑", 1), ("Geo. ↓", 1), ("IoU ↑", 1), ("", 1)),
)
MEASURED = Section(
    "measured here",
    (
        ("default", (Cell(91.204, 1.0), Cell(1.444, 0.1), Cell(90.0), Cell(math.nan))),
        ("paper", (Cell(75.0), Cell(6.5), Cell(80.0), Cell(3.0))),
        ("nearest", (Cell(74.0), Cell(1.436), Cell(70.0), Cell(-0.001))),
    ),
    ("high", "low", "", "low"),
)
PUBLISHED = Section("", (("NHO", (Cell(75.15), Cell(6.53), Cell(1234.5), Cell(0.5, digits=1))),))
TABLE = Table("main", "Main results", "12 pairs.", HEADER, (MEASURED, PUBLISHED))
HOSTILE = "<script>alert(1)</script> a|b *x* _y_ `z` [l](http://x) & \\ \"q\" 'r'\nnew"


def rows_of(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_best_and_second_are_marked_by_what_is_shown() -> None:
    found = marks(MEASURED)
    # 1.444 and 1.436 both read 1.44: neither is better as far as a reader can see.
    assert [row[1] for row in found] == ["best", "second", "best"]
    assert [row[0] for row in found] == ["best", "second", ""]
    assert [row[2] for row in found] == ["", "", ""]
    assert [row[3] for row in found] == ["", "second", "best"]


def test_a_row_without_rivals_is_not_the_best() -> None:
    alone = replace(MEASURED, rows=MEASURED.rows[:1])
    equal = replace(MEASURED, rows=(MEASURED.rows[1], MEASURED.rows[1]))
    for section in (alone, equal):
        assert not any(mark for row in marks(section) for mark in row)


def test_markdown_has_one_row_of_headings_and_equally_long_rows() -> None:
    rows = rows_of(markdown(TABLE))
    assert {len(row) for row in rows} == {5}
    assert rows[0] == [
        "",
        "Default<br>IoU ↑",
        "Default<br>Geo. ↓",
        "Normalised<br>IoU ↑",
        "Normalised",
    ]
    assert rows[2] == ["*measured here*", "", "", "", ""]
    assert rows[3] == ["default", "**91.20** ± 1.00", "**1.44** ± 0.10", "90.00", "-"]
    assert rows[5] == ["nearest", "74.00", "**1.44**", "70.00", "**0.00**"]
    assert rows[6] == ["", "", "", "", ""]
    assert rows[7] == ["NHO", "75.15", "6.53", "1,234.50", "0.5"]
    assert "12 pairs." in markdown(TABLE) and markdown(TABLE).startswith("### Main results\n")


def test_markdown_shows_hostile_text_as_text() -> None:
    section = Section(HOSTILE, ((HOSTILE, (Cell(1.0),)),))
    text = markdown(Table("t", HOSTILE, "- " + HOSTILE, (((HOSTILE, 1),),), (section,)))
    rows = rows_of(text)
    assert {len(row) for row in rows} == {2} and len(rows) == 4
    for sign in "<*_`[|&":
        at = [text[i - 1] for i, c in enumerate(text) if c == sign]
        ours = {"|": 3 * 4, "*": 2}.get(sign, 0)  # rules of the table, the title of the section
        assert sum(before != "\\" for before in at) == ours, sign
    assert "\n\\- " in text


class Grid(HTMLParser):
    """Column counts of the rows, and every tag and attribute that occurs."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[int] = []
        self.tags: list[str] = []
        self.reserved = 0
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        assert not any(name.startswith("on") for name in values)
        if tag == "tr":
            self.rows.append(self.reserved if "thead" in self.tags and self.reserved else 0)
        if tag == "tbody":
            self.reserved = 0
        if tag in ("td", "th"):
            self.rows[-1] += int(values.get("colspan") or 1)
            if "rowspan" in values:
                self.reserved = 1

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parsed(table: Table) -> Grid:
    grid = Grid()
    grid.feed(str(html(table)))
    return grid


def test_html_spans_its_columns() -> None:
    grid = parsed(TABLE)
    assert grid.rows == [5] * 7
    assert "colspan=2><span>Default</span>" in html(TABLE)
    assert "<b>91.20</b> <small>± 1.00</small>" in html(TABLE)
    assert "<u>75.00</u>" in html(TABLE)


def test_html_shows_hostile_text_as_text() -> None:
    section = Section(HOSTILE, ((HOSTILE, (Cell(1.0),)),))
    grid = parsed(Table("t", HOSTILE, HOSTILE, (((HOSTILE, 1),),), (section,)))
    assert "script" not in grid.tags
    assert "".join(grid.text).count("<script>alert(1)</script>") == 5


def test_the_legend_explains_only_what_is_there() -> None:
    assert legend(TABLE, "underlined") == (
        "Best of each section in bold, second underlined. "
        "Behind ± stands half of the 95 % interval."
    )
    plain = replace(TABLE, sections=(PUBLISHED,))
    assert legend(plain) == ""


@pytest.mark.parametrize(
    "change",
    [
        {"name": "../main"},
        {"header": ((("Default", 3),),)},
        {"header": (*HEADER, (("x", 1),))},
        {"sections": (Section("", (("short", (Cell(1.0),)),)),)},
        {"sections": (replace(MEASURED, better=("high",)),)},
        {"sections": (replace(MEASURED, better=("high", "low", "", "lower")),)},
    ],
)
def test_a_table_that_does_not_fit_together_is_refused(change: dict) -> None:
    with pytest.raises(ValueError):
        replace(TABLE, **change)


def test_a_value_never_reads_as_minus_zero() -> None:
    assert [Cell(v, digits=1).text for v in (-0.04, -0.06, 0.0)] == ["0.0", "-0.1", "0.0"]
