"""Files of morphometric programs: places in order, missing points, many specimens in one file."""

import numpy as np
import pytest

from nho.errors import InputError
from nho.io.landmarks import (
    Landmarks,
    Specimens,
    read_landmarks,
    read_specimens,
    write_landmarks,
    write_specimens,
)
from tests.io.landmarks.shapes import NAMES, PARTIAL, marks, points

MANY = (".tps", ".morphologika.txt", ".csv")
PLACES = np.random.default_rng(0).normal(size=(3, 5, 3)) * 100


def with_gaps():
    some = points()
    some.face[[1, 3]] = -1
    some.barycentric[[1, 3]] = np.nan
    return Landmarks.at(PARTIAL, some, NAMES)


@pytest.mark.parametrize("suffix", [".tps", ".morphologika.txt", ".pts", ".landmarkAscii"])
def test_every_point_keeps_its_row_and_missing_ones_stay_missing(tmp_path, suffix):
    path = tmp_path / f"marks{suffix}"
    notes = write_landmarks(path, with_gaps(), PARTIAL)
    found = read_landmarks(path)
    assert found.defined.tolist() == [True, False, True, False, True]
    rows = found.defined
    np.testing.assert_array_equal(found.position[rows], points().positions(PARTIAL)[rows])
    if suffix == ".pts":
        assert found.names[0] == "left_eye" and notes == ()
    else:
        assert not found.named and "hold no names" in notes[0]


@pytest.mark.parametrize("suffix", MANY)
def test_many_specimens_survive_in_every_digit(tmp_path, suffix):
    places = PLACES.copy()
    places[1, 2] = np.nan
    path = tmp_path / f"all{suffix}"
    write_specimens(path, Specimens(("a", "b b", "c"), places, NAMES))
    found = read_specimens(path)
    assert found.names == ("a", "b b", "c")
    np.testing.assert_array_equal(found.positions, places)
    assert (found.landmarks == NAMES) == (suffix == ".csv")


@pytest.mark.parametrize("suffix", [".tps", ".morphologika.txt"])
def test_a_file_of_many_specimens_is_no_list_of_anchors(tmp_path, suffix):
    path = tmp_path / f"all{suffix}"
    write_specimens(path, Specimens(("a", "b", "c"), PLACES))
    with pytest.raises(InputError, match=r"holds 3 specimens, one is needed"):
        read_landmarks(path)


def test_the_scale_of_a_tps_file_counts(tmp_path):
    path = tmp_path / "one.tps"
    path.write_text("LM3=2\n1 2 3\nNA NA NA\nID=x\nSCALE=0.5\n")
    found = read_specimens(path)
    assert found.names == ("x",)
    np.testing.assert_array_equal(found.positions[0], [[0.5, 1, 1.5], [np.nan] * 3])


def test_a_table_has_na_for_missing_values_and_r_columns(tmp_path):
    path = tmp_path / "all.csv"
    places = PLACES[:1, :2].copy()
    places[0, 1] = np.nan
    write_specimens(path, Specimens(("skull",), places, ("nasion", "tip")))
    header, row = path.read_text().splitlines()
    assert header == "specimen,nasion.X,nasion.Y,nasion.Z,tip.X,tip.Y,tip.Z"
    assert row.endswith(",NA,NA,NA")


def test_missing_points_of_one_shape_are_na_in_a_table(tmp_path):
    path = tmp_path / "marks.csv"
    write_landmarks(path, with_gaps(), PARTIAL)
    assert path.read_text().splitlines()[2].endswith('links",NA,NA,NA')
    assert read_landmarks(path).defined.tolist() == [True, False, True, False, True]


def test_facts_stand_in_columns_and_descriptions(tmp_path):
    facts = {"status": np.array(["a", "b", "c", "d", "e"]), "error": np.array([1, 2, np.nan, 4, 5])}
    known = Landmarks(**{**vars(marks()), "facts": facts})
    write_landmarks(tmp_path / "m.csv", known, PARTIAL)
    lines = (tmp_path / "m.csv").read_text().splitlines()
    assert lines[0] == "name,x,y,z,status,error" and lines[3].endswith(",c,NA")
    for suffix in (".mrk.json", ".fcsv"):
        write_landmarks(tmp_path / f"m{suffix}", known, PARTIAL)
        text = (tmp_path / f"m{suffix}").read_text()
        assert "status b, error 2" in text and "nan" not in text
    write_landmarks(tmp_path / "m.json", known, PARTIAL)
    assert '"status": "c", "error": null' in (tmp_path / "m.json").read_text()
    for name in ("m.csv", "m.json", "m.mrk.json", "m.fcsv"):
        assert read_landmarks(tmp_path / name).names == NAMES


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.tps", "LM=2\n1 2\n3 4\n", "points of an image"),
        ("a.tps", "LM3=3\n1 2 3\n", "no 3 lines of three numbers"),
        ("a.tps", "nothing\n", "no line LM3="),
        ("a.tps", "LM3=1\n1 2 3\nSCALE=-1\n", "no valid SCALE"),
        ("a.morphologika.txt", "[individuals]\n1\n[landmarks]\nx\n", r"below \[landmarks\]"),
        (
            "a.morphologika.txt",
            "[individuals]\n1\n[landmarks]\n1\n[dimensions]\n2\n[rawpoints]\n1 2\n",
            "have 2 dimensions",
        ),
        ("a.pts", "1\nx 1 2 3\n", "does not begin with"),
        ("a.pts", "Version 1.0\n2\nx 1 2 3\n", "says 2 points and holds 1"),
        ("a.pts", "Version 1.0\n1\nx 1 2\n", "no name and three numbers"),
        ("a.landmarkAscii", "define Markers 2\n@1\n1 2 3\n", "says 2 points and holds 1"),
        ("a.landmarkAscii", "define Markers 1\n", "no `define Markers` with data"),
    ],
)
def test_damaged_files_are_refused_with_a_reason(tmp_path, name, text, said):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=said) as problem:
        read_landmarks(path)
    assert str(path) in str(problem.value)
