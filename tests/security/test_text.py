"""What files are called, and what they say, is shown as text: on terminals and in spreadsheets."""

from __future__ import annotations

import csv
import logging
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nho.batch.summary import SummaryRow, write_summary
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import Cut
from nho.lab.bench.run_studies import _check_pair_names
from nho.lab.bench.tasks import MatchTask
from nho.runtime.terminal import PrintableFormatter, printable
from tests.cli.test_cli import run

CONTROL = "\x1b]0;owned\x07\x1b[2J"  # sets the title of the window, clears the screen


@given(st.text(st.characters()))
def test_whatever_is_printed_is_one_printable_line(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    if text.isprintable():
        assert shown == text


def test_a_log_shows_control_characters_spelt_out_and_keeps_its_lines() -> None:
    try:
        raise ValueError(CONTROL)
    except ValueError:
        about = sys.exc_info()
    record = logging.LogRecord("nho", 30, __file__, 1, "%s", (f"scan{CONTROL}.ply",), about)
    lines = PrintableFormatter("%(message)s").format(record).split("\n")
    assert len(lines) > 3 and all(line.isprintable() for line in lines)
    assert lines[0] == "scan\\x1b]0;owned\\x07\\x1b[2J.ply"


def only_text(output: str) -> bool:
    return all(line.isprintable() for line in output.split("\n"))


@pytest.mark.skipif(sys.platform == "win32", reason="no such file names on Windows")
def test_a_match_shows_names_of_files_and_anchors_as_text(
    tmp_path: Path, whole: Mesh, piece: Cut
) -> None:
    scan = tmp_path / f"scan{CONTROL}.ply"
    # Two partners exchanged: a warning names the anchors.
    piece.mesh.write(scan)
    whole.write(tmp_path / "template.ply")
    chosen = sample_vertices(piece.mesh, 12)
    partners = piece.vertex_of_parent[chosen]
    partners[[0, 1]] = partners[[1, 0]]
    rows = [f"{p},{q},p{CONTROL}" for p, q in zip(chosen, partners, strict=True)]
    (tmp_path / "anchors.csv").write_text("partial,full,name\n" + "\n".join(rows) + "\n")
    words = ["--anchors", "anchors.csv", "--out", f"out{CONTROL}", "--set", "rounds=0"]
    done = run(tmp_path, "match", scan.name, "template.ply", *words)
    assert done.returncode == 0, done.stderr
    assert (
        "contradicts the others" in done.stderr
        and "owned" in done.stderr
        and "owned" in done.stdout
    )
    assert only_text(done.stdout) and only_text(done.stderr)


@pytest.mark.skipif(sys.platform == "win32", reason="no such file names on Windows")
def test_a_batch_shows_failures_as_text_and_its_table_holds_no_formula(tmp_path: Path) -> None:
    for name in (f"{CONTROL}.ply", "=cmd.ply"):
        (tmp_path / name).write_text("not a mesh")
    (tmp_path / "c.csv").write_text("partial,full\n0,0\n")
    rows = [f"{CONTROL}.ply,=cmd.ply,c.csv", "=cmd.ply,=cmd.ply,c.csv"]
    (tmp_path / "pairs.csv").write_text("partial,full,anchors\n" + "\n".join(rows) + "\n")
    done = run(tmp_path, "batch", "pairs.csv", "--out", "out")
    assert done.returncode == 1 and "owned" in done.stderr and "=cmd.ply" in done.stderr
    assert only_text(done.stdout) and only_text(done.stderr)
    text = (tmp_path / "out" / "summary.csv").read_text()
    assert only_text(text)
    cells = [cell for row in csv.reader(text.splitlines()) for cell in row]
    assert any(cell.startswith("'=cmd.ply") for cell in cells)
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]


def test_numbers_in_the_table_stay_numbers(tmp_path: Path) -> None:
    write_summary(tmp_path, [SummaryRow("a", "ok", seconds=1.5, mean_confidence=-0.0)])
    assert (tmp_path / "summary.csv").read_text().splitlines()[1] == "a,ok,,1.5,,,-0.0,,"


@pytest.mark.parametrize("pair", ["=1+1", "@x", "-x", "+x", CONTROL, "a\nb"])
def test_a_benchmark_refuses_pairs_that_are_named_so(pair: str) -> None:
    with pytest.raises(InputError, match="rename its files"):
        _check_pair_names([MatchTask("tosca", pair, "nearest")])


def test_a_benchmark_takes_all_ordinary_names() -> None:
    names = ["cuts_cat_shape_1", "tr_reg_080-tr_reg_090", "1", "Käfer (2)", "a=b"]
    _check_pair_names([MatchTask("tosca", name, "nearest") for name in names])
