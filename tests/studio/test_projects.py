"""Project files: what is saved is what is opened, and damage is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nho
from nho.batch.summary import SummaryRow, write_summary
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut
from nho.io.attributes import COLOUR, Attributes
from nho.report.result_folder import write_outputs
from nho.studio import Studio
from nho.studio.opening import open_place, opens_alone
from nho.studio.project import read_project
from tests.studio.paired import open_pair, true_marks


def test_meshes_marks_and_states_come_back_from_inside_a_project(
    studio: Studio, whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    colours = np.arange(3 * piece.mesh.n_vertices).reshape(-1, 3).astype(np.uint8)
    open_pair(studio, whole, piece, 4)
    studio.session.open("partial", piece.mesh, Attributes(vertex={COLOUR: colours}))
    parked = true_marks(whole, piece, 5).pairs[4].full
    assert parked is not None
    studio.session.change(lambda marks: marks.with_landmarks("full", [("inion", parked)]))
    (tmp_path / "p.nho").write_bytes(studio.session.project())
    project = read_project(tmp_path / "p.nho")
    assert project.marks == studio.session.marks and project.result is None
    assert project.marks.pairs[-1].state == "parked"
    found = project.meshes["partial"]
    np.testing.assert_array_equal(found.mesh.vertices, piece.mesh.vertices)
    np.testing.assert_array_equal(found.attributes.vertex[COLOUR], colours)


def test_meshes_outside_are_found_by_their_path_and_missed_when_they_changed(
    studio: Studio, whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    for side, mesh in (("partial", piece.mesh), ("full", whole)):
        mesh.write(tmp_path / f"{side}.ply")
        path = tmp_path / f"{side}.ply"
        studio.session.open(side, Mesh.read(path), None, path)  # type: ignore[arg-type]
    small = studio.session.project(inside=False)
    assert len(small) < len(studio.session.project()) / 4
    (tmp_path / "p.nho").write_bytes(small)
    assert read_project(tmp_path / "p.nho").meshes["full"].mesh.n_vertices == whole.n_vertices
    whole.scaled(2.0).write(tmp_path / "full.ply")
    with pytest.raises(InputError, match="has changed since"):
        read_project(tmp_path / "p.nho")
    (tmp_path / "full.ply").unlink()
    with pytest.raises(InputError, match="not there any more"):
        read_project(tmp_path / "p.nho")


@pytest.mark.parametrize("content", [b"", b"PK rubbish", b"ply\n"])
def test_another_file_is_no_project(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p.nho").write_bytes(content)
    with pytest.raises(InputError, match="no project of nho studio"):
        read_project(tmp_path / "p.nho")


def test_the_folder_of_a_result_opens_with_its_anchors_by_name(
    studio: Studio, whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    marks = true_marks(whole, piece, 13).renamed(2, "nasion")
    quick = nho.preset("default").replace(rounds=0, threads=1)
    result = nho.match(piece.mesh, whole, marks.anchors(piece.mesh, whole), quick)
    write_outputs(tmp_path / "result", piece.mesh, whole, result, report=False)
    assert opens_alone(tmp_path / "result") and not opens_alone(tmp_path / "scan.ply")
    open_place(studio.session, tmp_path / "result")
    assert [pair.name for pair in studio.session.marks.pairs[:3]] == ["1", "nasion", "3"]
    assert studio.session.state()["outcome"]["stale"] is False


@pytest.mark.parametrize("name", ["../elsewhere", "/etc", "a/b"])
def test_a_table_leads_to_no_folder_but_its_own(studio: Studio, tmp_path: Path, name: str) -> None:
    write_summary(tmp_path, [SummaryRow(name, "ok")])
    studio.session.open_batch(tmp_path)
    with pytest.raises(InputError, match="no such pair"):
        studio.session.open_row(name)
