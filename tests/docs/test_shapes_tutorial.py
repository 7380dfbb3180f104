"""The tutorial on shapes, as it is written: its forty scans, its commands, its plot."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import nho
from nho.cli.app import app
from nho.io.landmarks import read_landmarks, read_specimens

PAGE = (Path(__file__).parents[2] / "docs/tutorials/shapes.md").read_text(encoding="utf-8")
SCANS, *BLOCKS = re.findall(r"```python.*?\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = re.findall(r"^nho .*$", PAGE, re.MULTILINE)


def run(command):
    outcome = CliRunner().invoke(app, shlex.split(command)[1:])
    assert outcome.exit_code == 0, f"{command}\n{outcome.output}"
    return outcome.output


def test_every_command_of_the_tutorial_is_one_that_exists():
    named = [command.split()[1] for command in COMMANDS]
    assert named == ["batch", "review", "shapes", "match", "complete"]


def test_the_scans_of_the_tutorial_are_forty_incomplete_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(SCANS, "forty.py", "exec"), {})  # noqa: S102
    assert len((tmp_path / "forty/pairs.csv").read_text().splitlines()) == 41
    template = nho.Mesh.read(tmp_path / "forty/template.ply")
    shares = []
    for path in sorted((tmp_path / "forty/scans").glob("a*.ply")):
        scan = nho.Mesh.read(path)
        shares.append(scan.area / (1e6 * template.area))
        marks = read_landmarks(path.with_suffix(".mrk.json"))
        assert 5 <= marks.defined.sum() <= 30 and marks.on(scan)[1].max() < 1e-3 * scan.diagonal
    assert len(shares) == 40 and min(shares) > 0.3 and np.median(shares) < 0.8


@pytest.mark.slow
def test_from_forty_scans_to_a_plot_and_the_next_scan(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    exec(compile(SCANS, "forty.py", "exec"), {})  # noqa: S102
    monkeypatch.chdir(tmp_path / "forty")
    batch, review, shapes, match, complete = COMMANDS
    assert "40 of 40 pairs ok" in run(f"{batch} --jobs 1")
    run(f"{review} --jobs 1")
    assert Path("review.html").read_text(encoding="utf-8").count("data:image/png") == 40
    run(f"{shapes} --jobs 1")
    marks = read_specimens(Path("shapes/landmarks.csv"))
    assert marks.positions.shape == (40, 30, 3) and np.isnan(marks.positions).any()

    variables: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "shapes.md", "exec"), variables)  # noqa: S102
    assert Path("scores.png").stat().st_size > 5_000
    left, truth = variables["left"], variables["truth"]
    assert (1 - left.var(axis=0) / truth.var(axis=0)).min() > 0.7

    assert "the shape space of 40 shapes" in run(match)
    run(complete)
    assert nho.Mesh.read(Path("new_whole.ply")).n_vertices >= 2000
