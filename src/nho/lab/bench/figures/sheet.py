"""A sheet of pictures in rows and columns with words around them, as PNG and PDF."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nho.lab.bench.figures.plotstyle import save, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 300
WIDTH = 7.0  # inches of the whole sheet: a page of text
_NARROWEST, _WIDEST = 0.72, 1.45  # inches of a column
_GAP = 0.06  # inches between columns
_LABEL = 0.32  # inches at the left, if the rows have labels
_LINE = 0.145  # inches of a line of text
_TOP = 0.04  # inches left free above all
_FONT = 7  # points
_LETTER = 0.57  # width of a letter over the size of the font, on average


@dataclass(frozen=True)
class Panel:
    """One picture.

    Attributes
    ----------
    image : (h, w, 4) uint8 array
    above, below : str
        Words over and under it.
    """

    image: np.ndarray
    above: str = ""
    below: str = ""


@dataclass(frozen=True)
class PanelRow:
    """Pictures side by side; None leaves a place empty.

    Attributes
    ----------
    groups : tuple of (str, int)
        Headings over so many columns each, with a line under them.
    """

    panels: tuple[Panel | None, ...]
    label: str = ""
    groups: tuple[tuple[str, int], ...] = ()


def column_inches(columns: int, labelled: bool = True) -> float:
    """Width of a column of a sheet, in inches."""
    free = WIDTH - (_LABEL if labelled else 0) - _GAP * columns
    return min(max(free / columns, _NARROWEST), _WIDEST)


@styled
def save_sheet(
    rows: Sequence[PanelRow],
    path: Path,
    caption: str,
    legend: dict[str, tuple[int, int, int]] | None = None,
) -> list[Path]:
    """Write ``path`` with the suffixes .png and .pdf, and tell both.

    All pictures of a row have the height of its highest one; all columns are equally wide.
    """
    return save(_figure(rows, caption, legend or {}), path, ("png", "pdf"), DPI)


def _figure(
    rows: Sequence[PanelRow], caption: str, legend: dict[str, tuple[int, int, int]]
) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    columns = max(len(row.panels) for row in rows)
    left = _LABEL if any(row.label for row in rows) else 0.0
    column = column_inches(columns, left > 0)
    width = left + columns * (column + _GAP)
    lines = textwrap.wrap(caption, _letters(width))
    bottom = _LINE * (len(lines) + 0.6) + (1.7 * _LINE if legend else 0)
    heights = [_row_height(row, column) for row in rows]
    height = bottom + sum(heights) + _TOP
    figure = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)

    def place(x: float, y: float, text: str, **more: Any) -> None:
        # Names are not formulas, whatever signs they hold.
        figure.text(x / width, y / height, text, parse_math=False, size=_FONT, **more)

    top = height - _TOP
    for row, tall in zip(rows, heights, strict=True):
        _draw_row(figure, row, left, top, column, place)
        if row.label:
            words = "\n".join(textwrap.wrap(row.label, _letters(tall))[:2])
            middle = top - tall / 2
            place(left / 2, middle, words, rotation=90, ha="center", va="center", color="0.25")
        top -= tall
    if legend:
        figure.legend(
            handles=[Patch(color=_hex(colour), label=name) for name, colour in legend.items()],
            loc="upper center",
            bbox_to_anchor=(0.5, bottom / height),
            ncols=len(legend),
            fontsize=_FONT,
            handlelength=1.0,
            handleheight=1.0,
            borderaxespad=0.2,
        )
    place(width / 2, _LINE * 0.3, "\n".join(lines), ha="center", va="bottom", color="0.3")
    return figure


def _hex(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _letters(inches: float) -> int:
    """Letters that fit a line."""
    return max(4, int(inches * 72 / (_LETTER * _FONT)))


def _broken(words: str, inches: float) -> str:
    """A name on as many lines as it needs; it may break before a plus and after a hyphen."""
    letters = _letters(inches)
    if len(words) <= letters:
        return words
    return "\n".join(textwrap.wrap(words.replace("+", " +"), letters))


def _heading_height(row: PanelRow, column: float) -> float:
    """Inches of the words over the pictures of a row."""
    heads = [_broken(panel.above, column) for panel in row.panels if panel and panel.above]
    lines = max((1 + head.count("\n") for head in heads), default=0)
    return _LINE * (lines + 0.3) if lines else 0.0


def _row_height(row: PanelRow, column: float) -> float:
    """Inches of a row, with its words."""
    panels = [panel for panel in row.panels if panel is not None]
    picture: float = max(column * panel.image.shape[0] / panel.image.shape[1] for panel in panels)
    below = any(panel.below for panel in panels)
    words = _LINE * (1.2 * below + 1.4 * bool(row.groups) + 0.5)
    return _heading_height(row, column) + picture + words


def _draw_row(
    figure: Figure,
    row: PanelRow,
    left: float,
    top: float,
    column: float,
    place: Callable[..., None],
) -> None:
    """The pictures of a row and their words, downwards from ``top`` (inches)."""
    from matplotlib.lines import Line2D

    width, height = figure.get_size_inches()
    if row.groups:
        start = left
        for words, count in row.groups:
            stop = start + count * (column + _GAP)
            place(
                (start + stop) / 2, top - 0.15 * _LINE, words, ha="center", va="top", weight="bold"
            )
            line = (top - 1.3 * _LINE) / height
            ends = [(start + 1.5 * _GAP) / width, (stop - 1.5 * _GAP) / width]
            figure.add_artist(Line2D(ends, [line, line], color="0.6", linewidth=0.6))
            start = stop
        top -= 1.4 * _LINE
    top -= _heading_height(row, column)
    tall = max(
        column * panel.image.shape[0] / panel.image.shape[1] for panel in row.panels if panel
    )
    for number, panel in enumerate(row.panels):
        if panel is None:
            continue
        x = left + number * (column + _GAP) + _GAP / 2
        high = column * panel.image.shape[0] / panel.image.shape[1]
        low = top - tall + (tall - high) / 2
        box = (x / width, low / height, column / width, high / height)
        axes = figure.add_axes(box)
        axes.set_axis_off()
        axes.imshow(panel.image, interpolation="none", aspect="auto")
        head = _broken(panel.above, column)
        place(x + column / 2, top + 0.2 * _LINE, head, ha="center", va="bottom")
        place(x + column / 2, top - tall - 0.2 * _LINE, panel.below, ha="center", va="top")
