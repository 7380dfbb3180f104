"""What the studio makes from a match is what the command line makes from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from nho.cli.app import app
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import Cut
from nho.io.attributes import read_with_attributes
from nho.io.landmarks import Landmarks, read_landmarks, write_landmarks
from nho.report.result_folder import write_outputs
from nho.studio import Studio
from nho.studio.marks import mark_at
from nho.studio.outcome import MatchOutcome
from nho.studio.products import PRODUCTS
from tests.studio.paired import open_pair
from tests.transfer.made import match_of_cut


@pytest.fixture
def matched(tmp_path: Path, studio: Studio, whole: Mesh, piece: Cut) -> Path:
    """A folder with a match, its meshes and landmarks of the template; the studio has the same."""
    open_pair(studio, whole, piece)
    partial, full = studio.session.both()
    result = match_of_cut(piece, whole)
    studio.session.outcome = MatchOutcome(partial, full, (), result, 1)
    rows = [*piece.vertex_of_parent[[3, 40]], *(~piece.kept_vertices).nonzero()[0][[5, 60]]]
    points = SurfacePoints.at_vertices(whole, rows)
    named = [(name, mark_at(points, row)) for row, name in enumerate("abcd")]
    studio.session.change(lambda marks: type(marks)().with_landmarks("full", named))
    partial.mesh.write(tmp_path / "scan.ply")
    full.mesh.write(tmp_path / "template.ply")
    write_outputs(tmp_path / "result", partial.mesh, full.mesh, result, report=False)
    write_landmarks(tmp_path / "template.csv", Landmarks.at(whole, points, "abcd"), whole)
    return tmp_path


def run(*arguments: object) -> None:
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert outcome.exit_code == 0, outcome.output


def test_landmarks_are_those_of_the_command(studio: Studio, matched: Path) -> None:
    PRODUCTS["scan-landmarks.csv"](studio.session, matched / "by_studio.csv")
    files = matched / "result", matched / "scan.ply", matched / "template.ply"
    told = "--landmarks", matched / "template.csv", matched / "by_command.csv"
    run("transfer", *files, "--from", "full", "--predict", *told)
    ours, theirs = (read_landmarks(matched / f"by_{maker}.csv") for maker in ("studio", "command"))
    assert ours.names == theirs.names == ("a", "b", "c", "d")
    lines = (matched / "by_command.csv").read_text().splitlines()
    assert [line.split(",")[4] for line in lines[1:]] == ["measured"] * 2 + ["predicted"] * 2
    assert (matched / "by_studio.csv").read_text() == "\n".join(lines) + "\n"


def test_a_completed_scan_is_that_of_the_command(studio: Studio, matched: Path) -> None:
    PRODUCTS["complete.ply"](studio.session, matched / "by_studio.ply")
    files = matched / "scan.ply", matched / "template.ply"
    out = matched / "by_command.ply"
    run("complete", *files, "--result", matched / "result", "--out", out, "--quiet")
    assert set(read_with_attributes(out)[1].vertex) == {"measured", "mirrored", "uncertainty"}
    assert (matched / "by_studio.ply").read_bytes() == out.read_bytes()
