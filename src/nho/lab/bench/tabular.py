"""A table of results: what it holds, which values are the best, and Markdown and HTML of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

BEST, SECOND = "best", "second"
NO_VALUE = "-"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Cell:
    """One value.

    Attributes
    ----------
    value : float
        NaN = nothing there, shown as "-".
    half_width : float
        Half of the 95 % interval; NaN = none is shown.
    digits : int
        Decimals that are shown, of the value and of its interval.
    """

    value: float
    half_width: float = math.nan
    digits: int = 2

    @property
    def text(self) -> str:
        """The value as it is shown, without its interval."""
        return NO_VALUE if math.isnan(self.value) else _shown(self.value, self.digits)

    @property
    def interval(self) -> str:
        """Half of the interval as it is shown; "" if none is."""
        if math.isnan(self.value) or math.isnan(self.half_width):
            return ""
        return _shown(self.half_width, self.digits)


@dataclass(frozen=True)
class Section:
    """Rows that are compared with each other.

    Attributes
    ----------
    title : str
        "" = none is shown.
    rows : ((label, cells), ...)
    better : tuple of {"high", "low", ""}
        Per column, which values are the better ones; empty = no column is judged.
    """

    title: str
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    better: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """Sections of rows under common headings.

    Attributes
    ----------
    name : str
        Name of its files, without suffix.
    title : str
    note : str
        A sentence or two beneath it: how many pairs, what differs from the paper.
    header : (((text, columns spanned), ...), ...)
        Levels of headings from the top; the column of row labels has none.
    sections : tuple of Section
        Separated by rules.
    """

    name: str
    title: str
    note: str
    header: tuple[tuple[tuple[str, int], ...], ...]
    sections: tuple[Section, ...]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"table name {self.name!r} must be letters, digits, dots and dashes")
        for level in self.header:
            if sum(span for _, span in level) != self.columns:
                raise ValueError(f"table {self.name}: headings {level} do not span all columns")
        for section in self.sections:
            for label, cells in section.rows:
                if len(cells) != self.columns:
                    raise ValueError(f"table {self.name}: row {label!r} has {len(cells)} cells")
            if len(section.better) not in (0, self.columns):
                raise ValueError(f"table {self.name}: `better` must name every column or none")
            if not set(section.better) <= {"high", "low", ""}:
                raise ValueError(f'table {self.name}: `better` knows "high", "low" and ""')

    @property
    def columns(self) -> int:
        """Columns of values, the labels not counted."""
        if self.header:
            return sum(span for _, span in self.header[0])
        return next((len(cells) for part in self.sections for _, cells in part.rows), 0)


def marks(section: Section) -> list[list[str]]:
    """Per row and column `BEST`, `SECOND` or "".

    Values count as they are shown: those that read alike share a rank. A column in which all
    read alike, or only one row has a value, has no best.
    """
    found = [["" for _ in cells] for _, cells in section.rows]
    for column, better in enumerate(section.better):
        values = [_as_shown(cells[column]) for _, cells in section.rows]
        ranks = sorted({v for v in values if not math.isnan(v)}, reverse=better == "high")
        if not better or len(ranks) < 2:
            continue
        for row, value in enumerate(values):
            if value == ranks[0]:
                found[row][column] = BEST
            elif value == ranks[1]:
                found[row][column] = SECOND
    return found


def group_starts(table: Table) -> set[int]:
    """Columns at which a heading of the top level begins, the very first one aside."""
    starts, at = set(), 0
    if len(table.header) > 1:
        for _, span in table.header[0]:
            starts.add(at)
            at += span
    return starts - {0}


def legend(table: Table, second: str = "") -> str:
    """What the marks in the table mean, as sentences; `second` says how second places look."""
    words = []
    found = {mark for part in table.sections for row in marks(part) for mark in row}
    if BEST in found:
        where = "section" if len(table.sections) > 1 else "column"
        also = f", second {second}" if second and SECOND in found else ""
        words.append(f"Best of each {where} in bold{also}.")
    cells = (cell for part in table.sections for _, row in part.rows for cell in row)
    if any(cell.interval for cell in cells):
        words.append("Behind ± stands half of the 95 % interval.")
    return " ".join(words)


def markdown(table: Table) -> str:
    """The table for GitHub, whose tables have one row of headings: levels become lines of it."""
    heads = ["<br>".join(map(escape_markdown, filter(None, texts))) for texts in _flat(table)]
    lines = [_line(["", *heads]), _line(["---", *("---:" for _ in heads)])]
    for number, section in enumerate(table.sections):
        if section.title or number:  # without a rule, an empty row has to part them
            title = f"*{escape_markdown(section.title)}*" if section.title else ""
            lines.append(_line([title, *("" for _ in heads)]))
        for (label, cells), row in zip(section.rows, marks(section), strict=True):
            shown = (_markdown_cell(*pair) for pair in zip(cells, row, strict=True))
            lines.append(_line([escape_markdown(label), *shown]))
    words = " ".join(filter(None, (table.note, legend(table))))
    parts = [f"### {escape_markdown(table.title)}", "\n".join(lines), escape_markdown(words)]
    return "\n\n".join(filter(None, parts)) + "\n"


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is, in one line and inside a table."""
    line = re.sub(r"([\\`*_\[\]<>|~$&#])", r"\\\1", " ".join(text.split()))
    # What would begin a list, a heading or a rule, at the start of a paragraph.
    return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", line)


def html(table: Table) -> Markup:
    """The table as HTML, headings spanning their columns; caption above, note beneath."""
    caption = Markup("<figcaption>{}</figcaption>").format(table.title)
    words = " ".join(filter(None, (table.note, legend(table, "underlined"))))
    note = Markup("<p class=note>{}</p>").format(words) if words else Markup()
    body = Markup().join([*_html_head(table), *_html_sections(table)])
    whole = Markup('<figure class="table">{}<div class=wide><table>{}</table></div>{}</figure>')
    return whole.format(caption, body, note)


def _html_head(table: Table) -> Iterator[Markup]:
    starts = group_starts(table)
    yield Markup("<thead>")
    for number, level in enumerate(table.header):
        corner = Markup("<td rowspan={}></td>").format(len(table.header)) if not number else ""
        at, cells = 0, [escape(corner)]
        for text, span in level:
            of_group = "g" if at in starts else ""
            kind = f"{of_group} span".strip() if span > 1 and text else of_group
            scope = "colgroup" if span > 1 else "col"
            head = Markup('<th class="{}" scope={} colspan={}><span>{}</span></th>')
            cells.append(head.format(kind, scope, span, text))
            at += span
        yield Markup("<tr>{}</tr>").format(Markup().join(cells))
    yield Markup("</thead>")


def _html_sections(table: Table) -> Iterator[Markup]:
    starts = group_starts(table)
    for section in table.sections:
        yield Markup("<tbody>")
        if section.title:
            head = Markup("<tr class=section><th scope=rowgroup colspan={}>{}</th></tr>")
            yield head.format(table.columns + 1, section.title)
        for (label, cells), row in zip(section.rows, marks(section), strict=True):
            shown = Markup().join(
                Markup('<td class="{}">{}</td>').format(
                    "g" if column in starts else "", _html_cell(cell, mark)
                )
                for column, (cell, mark) in enumerate(zip(cells, row, strict=True))
            )
            yield Markup("<tr><th scope=row>{}</th>{}</tr>").format(label, shown)
        yield Markup("</tbody>")


def _html_cell(cell: Cell, mark: str) -> Markup:
    shape = {BEST: Markup("<b>{}</b>"), SECOND: Markup("<u>{}</u>")}.get(mark, Markup("{}"))
    value = shape.format(cell.text.replace("-", "−") if cell.text != NO_VALUE else "–")
    return value + Markup(" <small>± {}</small>").format(cell.interval) if cell.interval else value


def _markdown_cell(cell: Cell, mark: str) -> str:
    value = f"**{cell.text}**" if mark == BEST else cell.text
    return f"{value} ± {cell.interval}" if cell.interval else value


def _flat(table: Table) -> list[list[str]]:
    """The headings above each column, from the top level down."""
    columns: list[list[str]] = [[] for _ in range(table.columns)]
    for level in table.header:
        texts = [text for text, span in level for _ in range(span)]
        for heads, text in zip(columns, texts, strict=True):
            heads.append(text)
    return columns


def _shown(value: float, digits: int) -> str:
    if math.isinf(value):
        return str(value)
    # Adding zero turns a negative zero, which rounding may leave, into a plain one.
    return f"{round(value, digits) + 0.0:,.{digits}f}"


def _as_shown(cell: Cell) -> float:
    """The value that is read in the table; NaN if none."""
    return math.nan if math.isnan(cell.value) else float(cell.text.replace(",", ""))


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
