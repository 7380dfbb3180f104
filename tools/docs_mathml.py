"""An extension of Markdown: formulas become MathML.

MathML is written at build time and drawn by the browser itself, so the site carries no script and
no font for it. The same `$...$` is drawn by the usual hosts of Markdown as well.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Any

from latex2mathml.converter import convert
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor

_FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<tex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)
_TAG = re.compile(r"\\tag\{(.*?)\}")  # number of an equation
_CALLED = re.compile(r'<mo>(\w\w+)</mo>(?=<mo stretchy="false">&#x00028;)')
_BARE = re.compile(r"(<mi>(?:log|tanh)</mi>)(?!<mo)")
_BOLD = re.compile(r'<mi mathvariant="bold(?:-italic)?">(&#x[0-9A-F]+;|\w)</mi>')


class _Formulas(Postprocessor):
    """Replaces what `pymdownx.arithmatex` marked as a formula."""

    def run(self, text: str) -> str:
        """The page with every formula as MathML."""
        return _FORMULA.sub(lambda found: mathml(found["tex"], found["tag"] == "div"), text)


class MathML(Extension):
    """To be listed behind `pymdownx.arithmatex`."""

    def extendMarkdown(self, md: Any) -> None:  # noqa: N802
        """Run last, when all parts of a page are in place."""
        md.postprocessors.register(_Formulas(md), "mathml", -1)


def makeExtension(**options: Any) -> MathML:  # noqa: N802
    """What Markdown calls."""
    return MathML(**options)


def mathml(tex: str, display: bool) -> str:
    """A formula as MathML; what the converter does not know is an error, not a gap."""
    tex = html.unescape(tex).strip()
    found = convert(_TAG.sub("", tex), display="block" if display else "inline")
    if "\\" in found:  # left as it was
        raise ValueError(f"the formula {tex!r} has a command that cannot be written as MathML")
    # Names of functions: no gap before a bracket, a thin one before anything else.
    found = _CALLED.sub(r"<mi>\1</mi>", found)
    found = _BARE.sub(r'\1<mspace width="0.17em"/>', found)
    found = _BOLD.sub(_bold, found)
    if not display:
        return found
    number = "".join(f"<span>({number})</span>" for number in _TAG.findall(tex))
    return f'<div class="formula">{found}{number}</div>'


def _bold(found: re.Match[str]) -> str:
    # Browsers ignore mathvariant but for "normal"; bold letters have code points of their own.
    letter = html.unescape(found[1])
    name = unicodedata.name(letter).replace("GREEK", "").replace("LATIN", "").replace("LETTER", "")
    bold = unicodedata.lookup(" ".join(f"MATHEMATICAL BOLD {name}".split()))
    return f"<mi>{bold}</mi>"
