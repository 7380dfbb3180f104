"""Project files: what is saved is what is opened, and damage is named."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nho
from nho.batch.summary import SummaryRow, write_summary
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut
from nho.io.attributes import COLOUR, Attributes, Texture
from nho.report.result_folder import write_outputs
from nho.report.thumbnail import thumbnail
from nho.studio import Studio
from nho.studio.chosen_look import checked_look
from nho.studio.opening import open_place, opens_alone
from nho.studio.project import read_project
from tests.studio.paired import open_pair, true_marks
from tests.studio.test_placements import found

__all__ = ["found"]  # the fixture


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


def test_textures_labels_tables_and_the_look_come_back_from_inside_a_project(
    studio: Studio, whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    given = Attributes(
        vertex={"a/b": np.arange(whole.n_vertices), "word": np.array(["é"] * whole.n_vertices)},
        face={"part": np.arange(whole.n_faces) % 3 == 0},
        uv=np.random.default_rng(0).random((whole.n_faces, 3, 2)),
        textures=(Texture("skin.png", b"\x89PNG whatever"), Texture("b.jpg", b"")),
        texture_of_face=np.arange(whole.n_faces) % 3 - 1,
    )
    table = Attributes(vertex={"thickness": np.linspace(0, 1, piece.mesh.n_vertices)})
    look = {"view": "shape", "preset": "paper", "own": True, "cut": {"full": 40}}
    session = studio.session
    session.open("partial", piece.mesh)
    session.open("full", whole, given)
    session.add_data("partial", table)
    session.show_as(look)
    (tmp_path / "p.nho").write_bytes(session.project())
    project = read_project(tmp_path / "p.nho")
    found = project.meshes["full"].attributes
    assert found.names() == given.names() and found.textures == given.textures
    for name, array in {**given.vertex, **given.face}.items():
        np.testing.assert_array_equal({**found.vertex, **found.face}[name], array)
    np.testing.assert_array_equal(found.uv, given.uv)
    np.testing.assert_array_equal(found.texture_of_face, given.texture_of_face)
    session.show_as({})
    session.open_project(project)
    state = session.state()["look"]
    assert state.pop("version") == 1 and state == look
    np.testing.assert_array_equal(
        session.data["partial"].vertex["thickness"], table.vertex["thickness"]
    )
    session.show_as({"view": "misfit", "version": 0})  # of a page that has not got the project yet
    assert session.look == look
    session.show_as({"view": "misfit", "version": 1})
    assert session.look == {"view": "misfit"}
    camera = {"rotation": [1, 0, 0, 0, 1, 0, 0, 0, 1], "pan": [0, 0], "zoom": 2}
    session.show_as({"view": "shape", "cameras": {"full": camera}})
    session.open("full", whole)  # another shape is not looked at from there
    assert session.look == {"view": "shape"}


@pytest.mark.parametrize(
    "look",
    [
        {"view": "x"},
        {"view": ["shape"]},
        {"preset": []},
        {"unknown": 1},
        {"own": 1},
        {"cut": {"full": 101}},
        {"fade": {"both": 1}},
        {"cut": {"full": float("nan")}},
        {"cameras": {"full": {"rotation": [1] * 9, "pan": [0, 0], "zoom": 0}}},
        {"cameras": {"full": {"rotation": [10**400] * 9, "pan": [0, 0], "zoom": 1}}},
        [],
    ],
)
def test_a_look_that_no_page_has_is_refused(look: Any) -> None:
    with pytest.raises(InputError, match="look"):
        checked_look(look)


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
    named = (
        Mesh(piece.mesh.vertices, piece.mesh.faces, "skull 7.ply"),
        Mesh(whole.vertices, whole.faces, ""),
    )
    write_outputs(tmp_path / "result", *named, result, report=False)
    assert opens_alone(tmp_path / "result") and not opens_alone(tmp_path / "scan.ply")
    open_place(studio.session, tmp_path / "result")
    assert [pair.name for pair in studio.session.marks.pairs[:3]] == ["1", "nasion", "3"]
    assert studio.session.state()["outcome"]["stale"] is False
    # The meshes keep the names that they were matched under.
    names = [shape["name"] for shape in studio.session.state()["shapes"].values()]
    assert names == ["skull 7.ply", "full.ply"]


@pytest.mark.parametrize("name", ["../elsewhere", "/etc", "a/b"])
def test_a_table_leads_to_no_folder_but_its_own(studio: Studio, tmp_path: Path, name: str) -> None:
    write_summary(tmp_path, [SummaryRow(name, "ok")])
    studio.session.open_batch(tmp_path)
    with pytest.raises(InputError, match="no such pair"):
        studio.session.open_row(name)


def test_a_result_in_doubt_is_worse_than_any_that_is_not_and_says_why(
    studio: Studio, tmp_path: Path
) -> None:
    rows = [SummaryRow("good", "ok", mean_confidence=0.2), SummaryRow("lost", "failed", "gone")]
    rows += [SummaryRow("bad", "ok", mean_confidence=0.9), SummaryRow("odd", "ok")]
    write_summary(tmp_path, rows)
    for name, status in (("good", "ok"), ("bad", "doubtful: a wrong place")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_text(json.dumps({"status": status}))
    studio.session.open_batch(tmp_path)
    batch = studio.session.state()["batch"]
    told = [(row["name"], row["verdict"]) for row in batch["rows"]]
    assert told == [
        ("lost", "failed"),
        ("bad", "doubtful: a wrong place"),
        ("odd", "ok"),  # its folder is gone: opening it tells
        ("good", "ok"),
    ]


def test_small_pictures_tell_no_partner_from_no_confidence(
    whole: Mesh, piece: Cut, found: nho.MatchResult, tmp_path: Path
) -> None:
    half = np.arange(piece.mesh.n_vertices) % 2 == 0
    unsure = dataclasses.replace(found, confidence=np.where(half, 0.0, found.confidence))
    alone = dataclasses.replace(unsure, overlap=np.where(half, 0.0, found.overlap))
    pictures = []
    for number, result in enumerate((unsure, alone)):
        write_outputs(tmp_path / str(number), piece.mesh, whole, result, report=False)
        pictures.append(thumbnail(tmp_path / str(number)))
    assert pictures[0] != pictures[1]
