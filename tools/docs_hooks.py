"""Hooks of the documentation site: formulas become MathML, and two pages come from outside docs/.

MathML is written at build time and drawn by the browser itself, so the site carries no script and
no font for it. The same `$...$` is drawn by the usual hosts of Markdown as well.
"""

from __future__ import annotations

import html
import re
import unicodedata
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]

_FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<tex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)
_TAG = re.compile(r"\\tag\{(.*?)\}")  # number of an equation
_CALLED = re.compile(r'<mo>(\w\w+)</mo>(?=<mo stretchy="false">&#x00028;)')
_BARE = re.compile(r"(<mi>(?:log|tanh)</mi>)(?!<mo)")
_BOLD = re.compile(r'<mi mathvariant="bold(?:-italic)?">(&#x[0-9A-F]+;|\w)</mi>')


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that lie beside the README, and the tables that `make bench` wrote."""
    beside = {
        f"{name}.md": f"{name.lower()}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY")
    }
    for name, page in beside.items():
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        for other in beside:
            text = text.replace(f"]({other})", f"]({beside[other]})")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "timings.md", content=_timings()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Lead links to the tables of `make bench` to their page."""
    return markdown.replace("](speed)", "](timings.md)")


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Replace every formula by MathML."""
    try:
        return _FORMULA.sub(lambda found: mathml(found["tex"], found["tag"] == "div"), html)
    except ValueError as problem:
        raise PluginError(f"{page.file.src_uri}: {problem}") from problem


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


def _timings() -> str:
    """All tables of docs/speed on one page."""
    parts = ["# Timings\n\nWritten by `make bench`, one section a run."]
    for path in sorted((ROOT / "docs" / "speed").glob("*.md")):
        text = path.read_text(encoding="utf-8").strip()
        if not text.startswith("# "):
            text = f"# {path.stem}\n\n{text}"
        parts.append(re.sub(r"^#", "##", text, flags=re.MULTILINE))
    return "\n\n".join(parts) + "\n"
