"""A table of results as LaTeX; needs the packages booktabs and graphicx."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from nho.lab.bench.tabular import BEST, NO_VALUE, SECOND, Cell, Table, group_starts, legend, marks

_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # Other signs than these stand at their places in the standard font.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # At the start of a row these would be taken for options of the row before.
    "[": "{[}",
    "*": "{*}",
    '"': "{''}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{EN DASH}": "{--}",
    "\N{EM DASH}": "{---}",
    "\N{LEFT SINGLE QUOTATION MARK}": "{`}",
    "\N{RIGHT SINGLE QUOTATION MARK}": "{'}",
    "\N{LEFT DOUBLE QUOTATION MARK}": "{``}",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "{''}",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{MINUS SIGN}": "$-$",
    "\N{UPWARDS ARROW}": r"$\uparrow$",
    "\N{DOWNWARDS ARROW}": r"$\downarrow$",
    "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    "\N{LESS-THAN OR EQUAL TO}": r"$\leq$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
    "\N{ALMOST EQUAL TO}": r"$\approx$",
    "\N{DEGREE SIGN}": r"$^{\circ}$",
    "\N{SUPERSCRIPT TWO}": "$^{2}$",
    "\N{MIDDLE DOT}": r"$\cdot$",
    "\N{GREEK SMALL LETTER ALPHA}": r"$\alpha$",
    "\N{GREEK SMALL LETTER BETA}": r"$\beta$",
    "\N{GREEK SMALL LETTER MU}": r"$\mu$",
    "\N{MICRO SIGN}": r"$\mu$",
    "\N{GREEK SMALL LETTER SIGMA}": r"$\sigma$",
    "\N{GREEK SMALL LETTER TAU}": r"$\tau$",
    "\N{GREEK CAPITAL LETTER DELTA}": r"$\Delta$",
}
# Letters and accents of the standard font; others would stop LaTeX.
_LETTERS = "ßæÆœŒøØåÅłŁ"
_ACCENTS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327"
# What the standard font joins into another sign.
_JOINED = re.compile(r"(?<=-)(?=-)|(?<=')(?=')|(?<=`)(?=`)|(?<=[?!])(?=`)")
_BREAKS = {code: " " for code in (*range(32), 127, 0x2028, 0x2029)}
_WIDE = 8  # columns; with more, a table goes over both columns of a page that has two
# Made smaller where it would be wider than the page, and only there.
_FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"


def latex(table: Table) -> str:
    """The table as a float of its own, with caption and label.

    The best value of every section and column is bold, the second underlined.
    """
    words = [_sentence(table.title), _sentence(table.note), legend(table, "underlined")]
    place = "table*" if table.columns > _WIDE else "table"
    lines = [
        rf"\begin{{{place}}}[t]",
        rf"\caption{{{escape(' '.join(filter(None, words)))}}}",
        rf"\label{{tab:{table.name}}}",
        r"\centering",
        _FIT,
        rf"\begin{{tabular}}{{{_columns(table)}}}",
        r"\toprule",
        *_head(table),
        *_body(table),
        r"\bottomrule",
        r"\end{tabular}}",
        rf"\end{{{place}}}",
    ]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Text that LaTeX sets as it is, in one line; signs it has no letter for become "?"."""
    pieces = _JOINED.split(text.translate(_BREAKS))
    return "{}".join("".join(map(_sign, piece)) for piece in pieces)


def _sign(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character.isascii() or character in _LETTERS:
        return character
    letter, *accents = list(unicodedata.normalize("NFKD", character))
    if letter.isascii() and len(accents) == 1 and accents[0] in _ACCENTS:
        return character
    rest = "".join(sign for sign in accents if not unicodedata.combining(sign))
    return "".join(_SPECIAL.get(sign, sign) if sign.isascii() else "?" for sign in letter + rest)


def _columns(table: Table) -> str:
    """Letters of the columns; groups of the top level stand apart."""
    starts = group_starts(table)
    apart = r"@{\hspace{10pt}}"
    return "l" + "".join(f"{apart if at in starts else ''}r" for at in range(table.columns))


def _head(table: Table) -> Iterator[str]:
    for number, level in enumerate(table.header):
        cells, rules, at = [""], [], 2
        lowest = number == len(table.header) - 1
        for text, span in level:
            shown = escape(text)
            if span > 1 or not lowest:
                shown = rf"\multicolumn{{{span}}}{{c}}{{{shown}}}"
            cells.append(shown)
            if text and not lowest and span > 1:
                rules.append(rf"\cmidrule(lr){{{at}-{at + span - 1}}}")
            at += span
        yield _line(cells)
        if rules:
            yield " ".join(rules)
    if table.header:
        yield r"\midrule"


def _body(table: Table) -> Iterator[str]:
    for number, section in enumerate(table.sections):
        if number:
            yield r"\midrule"
        if section.title:
            title = rf"\textit{{{escape(section.title)}}}"
            yield _line([rf"\multicolumn{{{table.columns + 1}}}{{l}}{{{title}}}"])
        for (label, cells), row in zip(section.rows, marks(section), strict=True):
            yield _line([escape(label), *map(_cell, cells, row)])


def _cell(cell: Cell, mark: str) -> str:
    value = cell.text if cell.text == NO_VALUE else cell.text.replace("-", "$-$")
    if mark == BEST:
        value = rf"\textbf{{{value}}}"
    elif mark == SECOND:
        value = rf"\underline{{{value}}}"
    return rf"{value} $\pm$ {cell.interval}" if cell.interval else value


def _line(cells: list[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _sentence(text: str) -> str:
    """With its full stop."""
    text = text.strip()
    return text if not text or text[-1] in ".!?" else f"{text}."
