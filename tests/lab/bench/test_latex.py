"""LaTeX tables: their structure holds, whatever the texts are; compiled where LaTeX exists."""

import math
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nho.lab.bench.latex import escape, latex
from nho.lab.bench.tabular import Cell, Section, Table
from tests.lab.bench.test_tabular import TABLE

SIGNS = "\\input{z} ~ ^ <t> [opt] *star \"q\" -- '' ?` é ř ß ↑ ± × 猫\n|"
HOSTILE = f"CUTS'24 50% a_b & c+d #1 $x$ {{y}} {SIGNS}"
NASTY = Table(
    "nasty-1",
    HOSTILE,
    HOSTILE,
    (((HOSTILE, 2), ("B", 1)), (("x", 1), (HOSTILE, 1), ("", 1))),
    (
        Section(HOSTILE, ((HOSTILE, (Cell(-1.0, 0.5), Cell(2.0), Cell(math.nan))),) * 2),
        Section("", (("[1] first", (Cell(1.0),) * 3), ("*", (Cell(2.0),) * 3)), ("low",) * 3),
    ),
)


def without_escapes(text: str) -> str:
    return re.sub(r"\\[\\&%$#_{}]", "", text)


def columns(line: str) -> int:
    spans = [int(n) for n in re.findall(r"\\multicolumn\{(\d+)\}", line)]
    plain = re.sub(r"\\[&%$#_{}]", "", line)
    return plain.count("&") + 1 + sum(n - 1 for n in spans)


def body(text: str) -> list[str]:
    inner = text.split(r"\toprule")[1].split(r"\bottomrule")[0]
    return [line for line in inner.splitlines() if line.endswith(r"\\")]


@pytest.mark.parametrize("table", [TABLE, NASTY], ids=["plain", "nasty"])
def test_braces_balance_and_all_rows_have_all_columns(table: Table) -> None:
    text = latex(table)
    plain = without_escapes(text)
    depth = 0
    for character in plain:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    assert plain.count("$") % 2 == 0
    assert {columns(line) for line in body(text)} == {table.columns + 1}
    sections = table.sections
    rows = sum(len(part.rows) + bool(part.title) for part in sections)
    assert len(body(text)) == rows + len(table.header)
    letters = re.search(r"\\begin\{tabular\}\{(.*)\}", text)
    assert letters and re.sub(r"@\{.*?\}\}", "", letters[1]) == "l" + "r" * table.columns


def test_rules_and_heads_are_those_of_booktabs() -> None:
    text = latex(TABLE)
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 2, 1]
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}" in text
    assert r" & \multicolumn{2}{c}{Default} & \multicolumn{2}{c}{Normalised} \\" in text
    assert r" & IoU $\uparrow$ & Geo. $\downarrow$ & IoU $\uparrow$ &  \\" in text
    assert r"\multicolumn{5}{l}{\textit{measured here}} \\" in text
    assert r"\label{tab:main}" in text and r"\caption{Main results. 12 pairs." in text


def test_best_is_bold_and_second_underlined() -> None:
    text = latex(TABLE)
    assert r"default & \textbf{91.20} $\pm$ 1.00 & \textbf{1.44} $\pm$ 0.10 & 90.00 & - \\" in text
    assert r"paper & \underline{75.00} & \underline{6.50} & 80.00 & \underline{3.00} \\" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a_b & 50% #1", r"a\_b \& 50\% \#1"),
        ("CUTS'24", "CUTS'24"),
        ("anchor-distance+zoomout", "anchor-distance+zoomout"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("--", "-{}-"),
        ("---", "-{}-{}-"),
        ("[1] *", "{[}1] {*}"),
        ("x100 ± 1", r"x100 $\pm$ 1"),
        ("a\nb\tc", "a b c"),
        ("é", "é"),
        ("Ł ą đ", "Ł a ?"),  # an accent and a letter that the standard font lacks
        ("½ 猫", "1?2 ?"),
    ],
)
def test_text_is_set_as_it_is(text: str, expected: str) -> None:
    assert escape(text) == expected


def test_negative_numbers_have_a_minus_and_not_a_hyphen() -> None:
    assert r"$-$1.00 $\pm$ 0.50" in latex(NASTY)


def test_it_compiles(tmp_path: Path) -> None:
    program = shutil.which("pdflatex") or shutil.which("tectonic")
    if program is None:
        pytest.skip("neither pdflatex nor tectonic is installed")
    source = tmp_path / "t.tex"
    source.write_text(
        "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n"
        "\\begin{document}\n"
        f"{latex(TABLE)}\n{latex(NASTY)}\n\\end{{document}}\n",
        encoding="utf-8",
    )
    options = ["-interaction=nonstopmode", "-halt-on-error"] if "pdflatex" in program else []
    done = subprocess.run([program, *options, source.name], cwd=tmp_path, capture_output=True)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-2000:]
    assert "Overfull" not in said
