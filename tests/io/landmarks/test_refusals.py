"""Landmark files that cannot be used: file, point and remedy are named."""

import pytest

from nho.errors import InputError
from nho.io.landmarks import read_landmarks
from tests.io.landmarks.shapes import PARTIAL


@pytest.mark.parametrize(
    ("content", "name", "parts"),
    [
        ({"markups": []}, "f.mrk.json", ["no points"]),
        ({}, "f.mrk.json", ["markups"]),
        ("not json", "f.mrk.json", ["not valid JSON"]),
        ({"markups": [{"controlPoints": [{"position": [1, 2]}]}]}, "f.mrk.json", ["2 numbers"]),
        (
            {"markups": [{"controlPoints": [{"label": "a", "position": [1, 2, "x"]}]}]},
            "f.mrk.json",
            ["control point a", "'x'"],
        ),
        (
            {"markups": [{"coordinateSystem": "IJK", "controlPoints": [{}]}]},
            "f.mrk.json",
            ["'IJK'", "LPS"],
        ),
        (
            {
                "markups": [
                    {"controlPoints": [{"position": [1, 2, 3]}]},
                    {"coordinateSystem": "RAS", "controlPoints": [{"position": [1, 2, 3]}]},
                ]
            },
            "f.mrk.json",
            ["LPS and in RAS"],
        ),
        ("# CoordinateSystem = 2\na,1,2,3\n", "f.fcsv", ["'2'", "LPS"]),
        ("# x\nnose,1,b,3\n", "f.fcsv", ["line 2"]),
        (b"\xff\xfe\x00", "f.fcsv", ["UTF-8"]),
        ("", "f.fcsv", ["no points"]),
        ("<PickedPoints>", "p.pp", ["not valid XML"]),
        ("<Points/>", "p.pp", ["'Points'", "PickedPoints"]),
        ('<PickedPoints><point x="1" y="2" name="n"/></PickedPoints>', "p.pp", ["point n", "z = "]),
        (
            '<!DOCTYPE a [<!ENTITY b "c">]><PickedPoints><point name="&b;"/></PickedPoints>',
            "p.pp",
            ["entities"],
        ),
        ({"version": 4}, "l.ljson", ["version is 4"]),
        ({"version": 2, "landmarks": {"points": [[1, 2]]}}, "l.ljson", ["two coordinates"]),
        ({"version": 2, "landmarks": {"points": [[1, 2, None]]}}, "l.ljson", ["point 0", "None"]),
        (
            {
                "version": 2,
                "landmarks": {"points": [[1, 2, 3]]},
                "labels": [{"label": "a", "mask": [1]}],
            },
            "l.ljson",
            ["'a'", "point 1 of 1"],
        ),
        ([[1.5, 2.5, 3.5]], "w.txt", ["point 0 is 1.5, 2.5, 3.5", "Point On Triangle"]),
        ([[1, 0.9, 0.9]], "w.txt", ["anchor 1", "weights"]),
        ("partial,full\n0,1\n", "w.txt", ["line 1", ".csv"]),
        ('{"a": [0, 0, 1], "a": [1, 0, 1]}', "w.txt", ["'a' stands twice"]),
        ("a,b\n1,2\n", "t.csv", ["the columns are a, b", "name,x,y,z"]),
        ("partial,full\n1,2\n", "t.csv", ["a file of pairs is given alone"]),
        ("name,x,y,z\na,1,,3\n", "t.csv", ["line 2", "'y'"]),
        ("name,x,y,z\na,1,nan,3\n", "t.csv", ["anchor a", "no finite position"]),
        ("name,vertex\na,1.5\n", "t.csv", ["anchor a", "1.5"]),
        ("1,2\n", "t.csv", ["2 columns", "name,x,y,z"]),
        ("x,y,z\n1,5,2,5,3,5\n", "t.csv", ["line 2 has 6 cells", "3 columns", "semicolons"]),
        ("name;x;y;z\na;1,5;2;3\nb;1.5;2;3\n", "t.csv", ["line 2 has '1,5'", "'1.5'"]),
        ([{"vertex": 1.5}], "j.json", ["point 0", "1.5"]),
        ([{"vertex": 1, "face": 2}], "j.json", ["both vertex and face"]),
        ([{"face": 2}], "j.json", ["barycentric"]),
        ([{"face": 2, "barycentric": [2, -1, 0]}], "j.json", ["weights 2, -1, 0"]),
        ([{"position": [1, 2, 1e400]}], "j.json", ["no finite position"]),
        ({"version": 2, "points": []}, "j.json", ["version is 2", "newer nho"]),
        ({"pairs": []}, "j.json", ["it holds pairs"]),
        ({"points": [], "axes": "XYZ"}, "j.json", ["'XYZ'"]),
        ("[" * 100_000, "j.json", ["not valid JSON"]),
    ],
)
def test_what_is_wrong_is_named_with_its_place(refused, content, name, parts):
    message = refused(content, name)
    assert all(part in message for part in parts), message


def test_a_missing_file_and_an_unknown_suffix_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"absent\.pp: there is no such file"):
        read_landmarks(tmp_path / "absent.pp")
    with pytest.raises(InputError, match=r"a\.xyz: .*\.fcsv, \.pp"):
        read_landmarks(tmp_path / "a.xyz")
    (tmp_path / "folder.pp").mkdir()
    with pytest.raises(InputError, match=r"folder\.pp: this is a folder"):
        read_landmarks(tmp_path / "folder.pp")


def test_vertices_and_faces_outside_the_mesh_are_refused(read):
    for entry, part in (
        ({"vertex": 162}, "vertex 162 of scan.ply, which has vertices 0 to 161"),
        ({"vertex": -1}, "vertex -1 of scan.ply"),
        ({"face": 320, "barycentric": [1, 0, 0]}, "face 320 of scan.ply"),
        ({"face": -1, "barycentric": [1, 0, 0]}, "face -1 of scan.ply"),
    ):
        found = read([{"name": "tip", **entry}], "j.json")
        with pytest.raises(InputError, match=rf"j\.json: anchor tip refers to {part}"):
            found.on(PARTIAL)
