"""Files from the page: meshes and landmarks, whole or refused."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut
from nho.io.landmarks import FORMATS, PAIR_FILES
from nho.studio import Studio
from nho.studio.marks import Marks
from nho.studio.uploads import safe_name
from tests.studio.test_server import ask, opened, upload


def test_meshes_can_be_uploaded_by_any_name(studio: Studio, whole: Mesh, tmp_path: Path) -> None:
    whole.write(tmp_path / "m.ply")
    body = (tmp_path / "m.ply").read_bytes()
    assert upload(studio, "../../a \u00e9<b>.PLY", body, "full")[0] == 200
    shape = studio.session.shapes["full"]
    assert shape is not None and shape.mesh.name == "a \u00e9_b_.PLY"
    np.testing.assert_allclose(shape.mesh.vertices, whole.vertices, rtol=1e-6)
    assert list(studio.scratch.path.iterdir()) == []
    _, faces, _ = ask(studio, "mesh/full/faces")
    np.testing.assert_array_equal(np.frombuffer(faces, "<u4").reshape(-1, 3), whole.faces)


@pytest.mark.parametrize(
    ("name", "body", "side", "words"),
    [
        ("scan.ply", b"ply\nrubbish", "partial", "scan.ply"),
        ("scan.ply", b"", "partial", "scan.ply"),
        ("scan.exe", b"MZ", "partial", "neither a mesh nor landmarks"),
        ("", b"x", "full", "neither"),
        ("scan.ply", b"ply", "", "left"),
        ("pairs.csv", b"partial,full\n1,2\n", "", "open the scan"),
    ],
)
def test_a_bad_file_is_named_and_changes_nothing(
    studio: Studio, name: str, body: bytes, side: str, words: str
) -> None:
    status, answer = upload(studio, name, body, side)
    assert status == 422 and words in answer["error"]
    assert str(studio.scratch.path) not in answer["error"]
    assert studio.session.shapes == {"partial": None, "full": None}
    assert list(studio.scratch.path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\scans\\a.ply", "a.ply"),
        ("..", "file"),
        ("a\0b\n.ply", "a_b_.ply"),
        ("x" * 300 + ".ply", "x" * 96 + ".ply"),
    ],
)
def test_names_lead_nowhere(given: str, kept: str) -> None:
    assert safe_name(given) == kept


@pytest.mark.parametrize("suffix", FORMATS)
def test_marks_go_out_and_come_back_in_every_format(
    studio: Studio, whole: Mesh, piece: Cut, suffix: str
) -> None:
    opened(studio, whole, piece, 5)
    before = studio.session.state()["pairs"]
    status, body, headers = ask(studio, f"download/anchors{suffix}")
    assert status == 200 and suffix in headers["Content-Disposition"]
    studio.session.change(lambda _: Marks())
    if suffix in PAIR_FILES:
        assert upload(studio, f"a{suffix}", body)[0] == 200
    else:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            assert archive.namelist() == [f"partial{suffix}", f"full{suffix}"]
            for side in ("partial", "full"):
                name = f"{side}{suffix}"
                assert upload(studio, name, archive.read(name), side)[0] == 200
    after = studio.session.state()["pairs"]
    assert len(after) == 5 and studio.session.marks.open is None
    for side in ("partial", "full"):
        assert [p[side]["vertex"] for p in after] == [p[side]["vertex"] for p in before]
        np.testing.assert_allclose(
            [p[side]["position"] for p in after], [p[side]["position"] for p in before], atol=1e-5
        )
    if suffix == ".pts":
        assert [p["name"] for p in after] == [p["name"].replace(" ", "_") for p in before]
    elif suffix != ".txt" and FORMATS[suffix].named:  # Wrap's lists have no names
        assert [p["name"] for p in after] == [p["name"] for p in before]


def test_what_is_wrong_with_a_file_of_pairs_is_reported_wherever_it_falls(
    studio: Studio, whole: Mesh, piece: Cut
) -> None:
    opened(studio, whole, piece)
    shown = {
        upload(studio, "p.csv", b"partial,full\n0,99999\n", s)[1]["error"] for s in ("", "full")
    }
    assert len(shown) == 1 and "99999" in shown.pop()


def table(mesh: Mesh, rows: list[int]) -> bytes:
    lines = [f"{row},{x},{y},{z}" for row, (x, y, z) in enumerate(mesh.vertices[rows].tolist())]
    return "\n".join(["name,x,y,z", *lines, ""]).encode()


def two_files(studio: Studio, bodies: dict[str, bytes]) -> tuple[int, dict[str, Any]]:
    (first, before), (second, after) = bodies.items()
    drop = {"drop": "0123456789abcdef"}
    assert upload(studio, first, before, more="yes", **drop)[1]["side"] == ""
    answer = upload(studio, second, after, **drop)
    assert list(studio.scratch.path.iterdir()) == []
    return answer


def test_of_two_files_each_goes_to_its_own_shape_in_either_order(
    studio: Studio, whole: Mesh, piece: Cut
) -> None:
    """Specimens that were aligned: points of one are near the other, too."""
    moved = Mesh(piece.mesh.vertices + 0.02, piece.mesh.faces, "scan.ply")
    studio.session.open("partial", moved)
    studio.session.open("full", whole)
    rows = [3, 40, 200, 300]
    own = {
        "scan.csv": table(moved, rows),
        "template.csv": table(whole, piece.vertex_of_parent[rows].tolist()),
    }
    for bodies in (own, dict(reversed(own.items()))):
        studio.session.change(lambda _: Marks())
        assert two_files(studio, bodies)[1]["side"] == "both"
        pairs = studio.session.state()["pairs"]
        assert [pair["partial"]["vertex"] for pair in pairs] == rows
        assert [pair["full"]["vertex"] for pair in pairs] == [*piece.vertex_of_parent[rows]]


def test_of_two_files_that_fit_one_shape_none_replaces_the_other(
    studio: Studio, whole: Mesh, piece: Cut
) -> None:
    """Landmarks of the unbroken scan: what broke off lies on the template alone."""
    opened(studio, whole, piece)
    lost = np.setdiff1d(np.arange(whole.n_vertices), piece.vertex_of_parent)
    far = lost[np.argsort(whole.vertices[lost] @ [0.2, 0.5, 1.0])[:4]].tolist()
    unbroken = Mesh(whole.vertices + 0.02, whole.faces, "")
    status, answer = two_files(
        studio, {"template.csv": table(whole, far), "scan.csv": table(unbroken, far)}
    )
    assert status == 422 and "scan.csv" in answer["error"]
    assert studio.session.marks.pairs == ()


def test_two_files_that_lie_on_both_shapes_alike_are_for_a_person_to_tell(
    studio: Studio, whole: Mesh, piece: Cut
) -> None:
    opened(studio, whole, piece)
    body = b"name,vertex\na,1\nb,2\nc,3\n"
    assert two_files(studio, {"one.csv": body, "two.csv": body})[1]["side"] == ""
    assert studio.session.marks.pairs == ()


@pytest.mark.parametrize("drop", ["../../x", "0123", "0123456789ABCDEF", "0" * 17])
def test_a_drop_leads_nowhere(studio: Studio, drop: str) -> None:
    status, answer = upload(studio, "a.ply", b"ply", "full", drop=drop)
    assert status == 422 and "drop" in answer["error"]
    assert list(studio.scratch.path.iterdir()) == []


def test_an_image_that_was_not_sent_is_asked_for(studio: Studio) -> None:
    text = "mtllib skin.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\n"
    assert upload(studio, "a.obj", text.encode(), "full")[0] == 200
    told = studio.session.state()["notice"]["text"]
    assert "skin.mtl' is missing; open both files together" in told
