"""Anchor files: every dialect a spreadsheet writes, and messages that name file and line."""

import os

import numpy as np
import pytest

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import sphere, torus
from nho.problem.anchors import read_anchors, write_anchors

PARTIAL = Mesh(sphere(1).vertices, sphere(1).faces, "scan.ply")
FULL = Mesh(torus(12, 8).vertices, torus(12, 8).faces, "template.ply")
PAIRS = [[0, 3], [41, 95], [7, 0]]


@pytest.fixture
def read(tmp_path):
    """Read a text (or bytes) as the file pairs.csv."""

    def read_text(content):
        path = tmp_path / "pairs.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_anchors(path, PARTIAL, FULL)

    return read_text


@pytest.fixture
def refused(read):
    """The message with which a text is refused; it must name the file."""

    def message_of(content):
        with pytest.raises(InputError) as caught:
            read(content)
        message = str(caught.value)
        assert "pairs.csv" in message and "\n" not in message
        return message

    return message_of


PLAIN = "0,3\n41,95\n7,0\n"


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        "partial,full\n" + PLAIN,
        "Partial , FULL\n" + PLAIN,  # any case, spaces
        "partial,full\n" + PLAIN.rstrip("\n"),  # no end of line at the end
        b"\xef\xbb\xbfpartial,full\n" + PLAIN.encode(),  # byte order mark
        b"\xef\xbb\xbf" + PLAIN.encode(),
        ("partial,full\n" + PLAIN).replace("\n", "\r\n"),  # Windows
        ("partial,full\n" + PLAIN).replace("\n", "\r"),  # old Mac
        "# my anchors\n\npartial,full\n0,3\n  # checked\n,\n41,95\n\n7,0\n\n",
        "full,partial\n3,0\n95,41\n0,7\n",  # columns by name, not by place
        "note,partial,full,more\nx,0,3,1\n,41,95,\ny,7,0,nan\n",
        "0.0,3.0\n4.1e1,95\n7, 0 \n",  # as floats, as spreadsheets like them
        '"partial","full"\n"0","3"\n"41","95"\n"7","0"\n',
    ],
)
def test_every_dialect_gives_the_same_pairs(read, content):
    anchors = read(content)
    assert anchors.vertices(PARTIAL, FULL).tolist() == PAIRS
    assert anchors.names == ("1", "2", "3")
    assert (anchors.gaps == 0).all()


def test_names_are_read_and_missing_ones_numbered(read):
    anchors = read("name,partial,full\n left eye ,0,3\n,41,95\nNäse,7,0\n")
    assert anchors.names == ("left eye", "2", "Näse")
    anchors = read("partial,full,name\n0,3,a\n41,95\n7,0,\n")
    assert anchors.names == ("a", "2", "3")


def test_six_columns_are_positions_and_the_gap_is_reported(read):
    rows = np.hstack([1.02 * PARTIAL.vertices[[0, 5, 9]], FULL.vertices[[4, 3, 2]]])
    text = "\n".join(",".join(map(repr, row)) for row in rows.tolist())
    header = "partial_x,partial_y,partial_z,full_x,full_y,full_z\n"
    for content in (text, header + text):
        anchors = read(content)
        assert anchors.vertices(PARTIAL, FULL).tolist() == [[0, 4], [5, 3], [9, 2]]
        np.testing.assert_allclose(anchors.gaps, [[0.02, 0]] * 3, atol=1e-12)


def test_positions_in_other_units_are_refused_with_file_anchor_and_hint(refused):
    rows = np.hstack([PARTIAL.vertices[[0, 5, 9]], 1000 * FULL.vertices[[4, 3, 2]]])
    text = "\n".join(",".join(map(repr, row)) for row in rows.tolist())
    message = refused(text)
    assert "anchor " in message and "template.ply" in message
    assert "multiplied by 0.001" in message and "--scale 0.001 --side full" in message


def test_a_not_finite_position_names_its_anchor(refused):
    text = "name,partial_x,partial_y,partial_z,full_x,full_y,full_z\nchin,0,nan,1,0,0,1\n"
    message = refused(text)
    assert "anchor chin" in message and "partial shape" in message and "0, nan, 1" in message


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("partial,full\n0,3\n41,\n7,0\n", ["line 3", "'full'"]),
        ("partial,full\n0,3\n41\n", ["line 3", "'full'"]),
        ("# hello\n\npartial,full\n,3\n", ["line 4", "'partial'"]),
        ("0,3\n41,x5\n", ["line 2", "full", "'x5'"]),
        ("partial,full\n\n0,3\n4 1,95\n", ["line 4", "partial", "'4 1'"]),
        ("0,3\n1.5,4\n", ["anchor 2", "1.5"]),
        ("0,3\nnan,4\n", ["anchor 2", "nan"]),
        ("0,3\n4,inf\n", ["anchor 2", "inf"]),
        ("0,3\n-1,4\n", ["anchor 2", "vertex -1 of scan.ply"]),
        ("0,3\n0,96\n", ["anchor 2", "vertex 96 of template.ply", "0 to 95"]),
        ("name,partial,full\ntip,42,0\n", ["anchor tip", "vertex 42 of scan.ply"]),
        ("1,2,3\n", ["line 1", "3 columns"]),
        ("a,b\n1,2\n", ["a, b", "partial,full"]),
        ("partial,fill\n1,2\n", ["fill", "partial,full"]),
        ("partial|full\n1|2\n", ["partial,full"]),
        ("partial_x,partial_y,partial_z,full_x,full_y\n1,2,3,4,5\n", ["partial,full"]),
        ("", ["no anchors"]),
        ("\n\n# nothing\n", ["no anchors"]),
        ("partial,full\n0,3\n".encode("utf-16")[2:], ["partial,full"]),
        (b"\x00\xff\xfe\x80", ["text"]),
    ],
)
def test_what_is_wrong_is_named_with_its_place(refused, content, parts):
    message = refused(content)
    assert all(part in message for part in parts), message


def test_a_fraction_is_refused_by_the_name_of_its_anchor(refused):
    assert "tip" in refused("name,partial,full\ntip,1.5,0\n")


def test_a_header_without_anchors_is_refused(refused):
    assert "no anchors" in refused("partial,full\n")


def test_lines_are_counted_as_an_editor_does(refused):
    # A quoted cell may hold a line break; the number must still be that of the file's line.
    message = refused('name,partial,full\n"two\nlines",0,3\nx,,4\n')
    assert "line 4" in message


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"absent\.csv.*no such file"):
        read_anchors(tmp_path / "absent.csv", PARTIAL, FULL)
    with pytest.raises(InputError, match=str(tmp_path)):
        read_anchors(tmp_path, PARTIAL, FULL)


def test_written_anchors_are_read_back(tmp_path):
    path = tmp_path / "out.csv"
    pairs = np.array(PAIRS)
    write_anchors(path, pairs)
    assert path.read_bytes() == b"partial,full\n0,3\n41,95\n7,0\n"
    assert read_anchors(path, PARTIAL, FULL).vertices(PARTIAL, FULL).tolist() == PAIRS
    assert pairs.tolist() == PAIRS
    write_anchors(path, pairs[:1])  # replaces
    assert path.read_bytes() == b"partial,full\n0,3\n"


def test_a_partner_to_be_filled_in_is_an_empty_cell(tmp_path):
    path = tmp_path / "out.csv"
    write_anchors(path, np.array([[5, 2], [6, -1]]))
    assert path.read_text() == "partial,full\n5,2\n6,\n"
    with pytest.raises(InputError, match=r"out\.csv: line 3 has no 'full'"):
        read_anchors(path, PARTIAL, FULL)


def test_a_failed_write_is_refused_and_leaves_nothing(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="out.csv"):
        write_anchors(tmp_path / "absent" / "out.csv", np.array(PAIRS))
    assert list(tmp_path.iterdir()) == []

    path = tmp_path / "out.csv"
    path.write_text("earlier")

    def fail(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match=r"out\.csv.*Permission denied"):
        write_anchors(path, np.array(PAIRS))
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.csv"]
    assert path.read_text() == "earlier"
