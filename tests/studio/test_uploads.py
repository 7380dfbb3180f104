"""Files from the page: meshes and landmarks, whole or refused."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

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
