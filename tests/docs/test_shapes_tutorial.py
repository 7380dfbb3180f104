"""The tutorial on shapes, step by step, with generated scans."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import nho
from nho.cli.app import app
from nho.geometry.alignment import random_rotation
from nho.geometry.synthetic import cut_by_plane
from tests.shapes.family import TEMPLATE, shape_of

TUTORIAL = Path(__file__).parents[2] / "docs/tutorials/shapes.md"


def run(*arguments):
    outcome = CliRunner().invoke(app, [*map(str, arguments)])
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


def write_scan(folder, name, random, first, second):
    """A scan of 70 % of a shape, in another pose, and its anchors to the template."""
    whole = TEMPLATE.moved(shape_of(first, second))
    cut = cut_by_plane(whole, random.normal(size=3), keep_area=0.7)
    scan = cut.mesh.moved(cut.mesh.vertices @ random_rotation(random).T)
    scan.write(folder / f"{name}.ply")
    rows = np.linspace(0, scan.n_vertices - 1, 10).astype(int)
    pairs = [f"{row},{cut.vertex_of_parent[row]}" for row in rows]
    (folder / f"{name}.csv").write_text("\n".join(["partial,full", *pairs]) + "\n")


@pytest.mark.slow
def test_from_scans_to_a_plot_and_the_next_scan(tmp_path):
    random = np.random.default_rng(2)
    TEMPLATE.write(tmp_path / "template.ply")
    truth = random.normal(size=(7, 2))
    lines = ["partial,full,anchors,name"]
    for number, coordinates in enumerate(truth):
        write_scan(tmp_path, f"a{number}", random, *coordinates)
        lines.append(f"a{number}.ply,template.ply,a{number}.csv,a{number}")
    (tmp_path / "pairs.csv").write_text("\n".join(lines) + "\n")
    write_scan(tmp_path, "new", random, 1.0, -1.0)

    run("batch", tmp_path / "pairs.csv", "--out", tmp_path / "results", "--jobs", 1, "--quiet")
    review = tmp_path / "review.html"
    run("review", tmp_path / "results", "--no-cycles", "--out", review, "--jobs", 1, "--quiet")
    assert review.read_text().count("data:image/png") == 7
    out = tmp_path / "shapes"
    run("shapes", tmp_path / "results", "--slide", "--out", out, "--jobs", 1, "--quiet")

    space = nho.ShapeSpace.load(out)
    design = np.c_[np.ones(7), truth]
    left = (
        space.scores[:, :2] - design @ np.linalg.lstsq(design, space.scores[:, :2], rcond=None)[0]
    )
    assert (left**2).sum() < 0.5 * ((space.scores[:, :2] - space.scores[:, :2].mean(0)) ** 2).sum()

    new = [tmp_path / "new.ply", tmp_path / "template.ply"]
    model = ["--model", out, "--quiet", "--json"]
    told = json.loads(
        run("match", *new, "--anchors", tmp_path / "new.csv", *model, "--out", tmp_path / "new")
    )
    assert any("the shape space of 7 shapes" in note for note in told["notes"])
    whole = tmp_path / "new_whole.ply"
    told = json.loads(run("complete", *new, "--result", tmp_path / "new", *model, "--out", whole))
    assert 50 < told["measured_percent"] < 90 and told["largest_uncertainty"] > 0


def test_every_command_of_the_tutorial_is_one_that_exists():
    commands = re.findall(r"^nho (\w+) .*$", TUTORIAL.read_text(), re.MULTILINE)
    assert commands == ["batch", "review", "shapes", "match", "complete"]
