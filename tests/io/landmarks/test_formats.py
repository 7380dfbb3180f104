"""Every format as the program itself writes it: what is read, what counts as missing."""

import json

import numpy as np
import pytest

from nho.io.landmarks import write_landmarks
from tests.io.landmarks.shapes import FULL, PARTIAL, marks, points

# As 3D Slicer 5 writes it: one point set, one crossed out, one never placed.
MARKUPS = {
    "@schema": "https://raw.githubusercontent.com/slicer/slicer/master/Modules/Loadable/Markups/"
    "Resources/Schema/markups-schema-v1.0.3.json#",
    "markups": [
        {
            "type": "Fiducial",
            "coordinateSystem": "LPS",
            "coordinateUnits": "mm",
            "controlPoints": [
                {"id": "1", "label": "crossed", "position": "", "positionStatus": "missing"},
                {
                    "id": "2",
                    "label": "locked",
                    "position": [-517.4872665534805, -5.684341886080802e-14, 122.92020373514431],
                    "orientation": [-1.0, -0.0, -0.0, -0.0, -1.0, -0.0, 0.0, 0.0, 1.0],
                    "positionStatus": "defined",
                },
                {"id": "3", "label": "editing", "position": "", "positionStatus": "undefined"},
            ],
            "display": {"visibility": True, "color": [0.4, 1.0, 1.0]},
        }
    ],
}
FCSV = """# Markups fiducial file version = 5.4
# CoordinateSystem = LPS
# columns = id,x,y,z,ow,ox,oy,oz,vis,sel,lock,label,desc,associatedNodeID
1,-322.5806451612903,-5.684341886080802e-14,-35.993208828522924,0,0,0,1,1,1,0,crossed,,,3,0
2,-517.4872665534805,-5.684341886080802e-14,122.92020373514431,0,0,0,1,1,1,1,locked,,,2,0
3,-361.6298811544991,5.684341886080802e-14,44.82173174872663,0,0,0,1,1,1,0,editing,,,0,0
"""
PLACE = [-517.4872665534805, -5.684341886080802e-14, 122.92020373514431]
PICKED = """<!DOCTYPE PickedPoints>
<PickedPoints>
 <DocumentData>
  <DateTime time="11:33:32" date="2011-04-12"/>
  <User name="somebody"/>
  <DataFileName name="skull.ply"/>
  <templateName name="new Template"/>
 </DocumentData>
 <point x="1.5" y="-2.25" z="3" active="1" name="nasion"/>
 <point x="0" y="0" z="0" active="0" name="bregma"/>
 <point x="1e-3" y="2" z="4" name="0"/>
</PickedPoints>
"""


@pytest.mark.parametrize(
    ("content", "name"), [(MARKUPS, "f.mrk.json"), (MARKUPS, "f.json"), (FCSV, "f.fcsv")]
)
def test_slicer_points_that_are_not_set_are_missing(read, content, name):
    found = read(content, name)
    assert found.names == ("crossed", "locked", "editing") and found.axes == "LPS"
    assert found.defined.tolist() == [False, True, False]
    assert found.position[1].tolist() == PLACE and np.isnan(found.position[[0, 2]]).all()


@pytest.mark.parametrize(
    ("header", "axes"),
    [
        ("# CoordinateSystem = RAS\n", "RAS"),
        ("# CoordinateSystem = 0\n", "RAS"),
        ("# CoordinateSystem = 1\n", "LPS"),
        ("#CoordinateSystem=lps\n", "LPS"),
        ("", ""),
    ],
)
def test_fcsv_names_its_axes_in_words_or_numbers(read, header, axes):
    text = "# Markups fiducial file version = 4.10\n" + header
    text += 'vtkMRMLMarkupsFiducialNode_0,1,2,3,0,0,0,1,1,1,0,"left, upper",,\r\n'
    found = read(text, "f.fcsv")
    assert found.axes == axes and found.names == ("left, upper",)
    assert found.position.tolist() == [[1, 2, 3]]


def test_an_fcsv_of_slicer_3_begins_with_the_label(read):
    found = read("# name = L\nnose,1,2,3,1,1\nchin,4,5,6,1,1\n", "f.fcsv")
    assert found.names == ("nose", "chin") and found.axes == "RAS"
    assert found.position.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_markups_without_axes_are_lps_and_several_lists_are_one(read):
    part = {"type": "Fiducial", "controlPoints": [{"label": "a", "position": [1, 2, 3]}]}
    other = {**part, "type": "Curve", "coordinateSystem": "LPS"}
    found = read({"markups": [part, other, {"type": "ROI"}]}, "f.mrk.json")
    assert found.names == ("a", "a") and found.axes == "LPS"
    assert "2 markups are taken as one list" in found.notes[0]


@pytest.mark.parametrize("status", ["undefined", "preview", "missing"])
def test_a_markup_with_a_status_is_missing_wherever_it_stands(read, status):
    point = {"label": "a", "position": [1, 2, 3], "positionStatus": status}
    assert not read({"markups": [{"controlPoints": [point]}]}, "f.mrk.json").defined.any()


def test_meshlab_points_that_are_not_active_are_missing(read):
    found = read(PICKED, "p.pp")
    assert found.names == ("nasion", "bregma", "0") and found.axes == ""
    assert found.defined.tolist() == [True, False, True]
    assert found.position[[0, 2]].tolist() == [[1.5, -2.25, 3], [0.001, 2, 4]]


POINTS = [[1, 2, 3], [None, None, None], [4, 5, 6], [7, 8, 9]]
LABELS = [{"label": "eye", "mask": [0, 1]}, {"label": "nose", "mask": [2]}]
GROUP = {"labels": LABELS, "landmarks": {"points": POINTS, "connectivity": [[0, 1]]}}
VERSION_1 = {
    "version": 1,
    "groups": [
        {"label": "eye", "landmarks": [{"point": POINTS[0]}, {"point": POINTS[1]}]},
        {"label": "nose", "connectivity": [], "landmarks": [{"point": POINTS[2]}]},
        {"label": "", "landmarks": [{"point": POINTS[3]}]},
    ],
}


@pytest.mark.parametrize(
    "content",
    [VERSION_1, {"version": 2, **GROUP}, {"version": 3, "groups": {"all": GROUP}}],
    ids=["v1", "v2", "v3"],
)
def test_all_versions_of_ljson_say_the_same(read, content):
    found = read(content, "l.ljson")
    assert found.names == ("eye 0", "eye 1", "nose", "4")
    assert found.defined.tolist() == [True, False, True, True]
    assert found.position[[0, 2, 3]].tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_several_groups_of_ljson_are_told_and_told_apart(read):
    group = {"labels": [{"label": "tip", "mask": [0]}], "landmarks": {"points": [[1, 2, 3]]}}
    found = read({"version": 3, "groups": {"left": group, "right": group}}, "l.ljson")
    assert found.names == ("left: tip", "right: tip")
    assert "2 groups are taken as one list" in found.notes[0]


@pytest.mark.parametrize("step", [1, -1])
def test_a_label_of_its_own_names_a_point_before_one_it_shares(read, step):
    labels = [{"label": "tip", "mask": [1]}, {"label": "all", "mask": [0, 1]}][::step]
    found = read({"version": 2, "labels": labels, "landmarks": {"points": POINTS[:2]}}, "l.ljson")
    assert found.names == ("all 0", "tip")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ([[42, 0.3, 0.5], [0, 0.0, 1.0]], "w.txt"),
        ([[42, 0.3, 0.5], [0, 0.0, 1.0]], "w.json"),
        ("[[42,0.3,0.5],\n[0,0.0,1.0]]", "w.txt"),
        ("42 0.3 0.5\n0 0 1\n", "w.txt"),
        ("42, 0.3, 0.5\r\n0, 0, 1", "w.txt"),
    ],
)
def test_a_point_of_wrap_is_u_of_the_first_corner_and_v_of_the_second(read, content, name):
    found = read(content, name)
    assert found.face.tolist() == [42, 0] and not found.named
    np.testing.assert_allclose(found.barycentric, [[0.3, 0.5, 0.2], [0, 1, 0]], atol=1e-15)
    a, b, c = FULL.vertices[FULL.faces[42]]
    place = found.on(FULL)[0].positions(FULL)[0]
    np.testing.assert_allclose(place, 0.3 * a + 0.5 * b + 0.2 * c, rtol=1e-14)


def test_named_points_of_wrap_have_their_names(read):
    found = read({"Point01": [7, 0.25, 0.25], "\u00e4u\u00dfere Ecke": [8, 1, 0]}, "w.txt")
    assert found.names == ("Point01", "\u00e4u\u00dfere Ecke") and found.named


@pytest.mark.parametrize(
    ("header", "axes"),
    [("name,x,y,z", ""), ("label,x,y,z", ""), ("label,l,p,s", "LPS"), ("label,r,a,s", "RAS")],
)
def test_a_table_of_one_shape_has_names_and_coordinates(read, header, axes):
    found = read(f'{header}\n"nose, tip",1,2,3\nchin,4.5,5,-6e0\n', "t.csv")
    assert found.names == ("nose, tip", "chin") and found.axes == axes
    assert found.position.tolist() == [[1, 2, 3], [4.5, 5, -6]]


def test_a_table_as_slicer_exports_it(read):
    text = "label,l,p,s,defined,selected,visible,locked,description\n"
    text += "F-1,1,2,3,1,1,1,0,\nF-2,0,0,0,0,1,1,0,not there\n"
    found = read(text, "t.csv")
    assert found.names == ("F-1", "F-2") and found.defined.tolist() == [True, False]


def test_tables_without_a_header_hold_coordinates_with_or_without_a_name(read):
    assert read("1,2,3\n4,5,6\n", "t.csv").position.tolist() == [[1, 2, 3], [4, 5, 6]]
    found = read("nose,1,2,3\nchin,4,5,6\n", "t.csv")
    assert found.names == ("nose", "chin") and found.position[1].tolist() == [4, 5, 6]


def test_a_table_of_vertices(read):
    found = read("name,vertex\nnose,7\nchin,\n", "t.csv")
    assert found.kind.tolist() == ["vertex", ""] and found.vertex[0] == 7


@pytest.mark.parametrize("value", ["nan", "NaN", "-999", "-9999", "-9999.0"])
def test_sentinels_in_all_coordinates_mean_that_a_point_is_missing(read, value):
    found = read(f"name,x,y,z\na,1,2,3\nb,{value},{value},{value}\n", "t.csv")
    assert found.defined.tolist() == [True, False]
    pp = f'<PickedPoints><point x="{value}" y="{value}" z="{value}" name="b"/></PickedPoints>'
    assert not read(pp, "p.pp").defined.any()


def test_a_sentinel_in_one_coordinate_is_a_number(read):
    assert read("name,x,y,z\na,-999,2,3\n", "t.csv").position.tolist() == [[-999, 2, 3]]


def test_the_list_alone_is_json_too(read):
    entries = [{"name": "a", "vertex": 3}, {"face": 1, "barycentric": [0.5, 0.5, 0]}, {"name": "b"}]
    found = read(entries, "j.json")
    assert found.names == ("a", "2", "b") and found.kind.tolist() == ["vertex", "face", ""]


def test_names_become_one_printable_line(read):
    found = read([{"name": " two\nlines\t\u0007 ", "vertex": 0}, {"name": "x" * 999}], "j.json")
    assert found.names[0] == "two lines" and len(found.names[1]) == 200


def test_slicer_and_landmarker_files_have_what_their_programs_ask_for(tmp_path):
    write_landmarks(tmp_path / "m.mrk.json", marks(), PARTIAL)
    markup = json.loads((tmp_path / "m.mrk.json").read_text(encoding="utf-8"))
    assert markup["@schema"].endswith("markups-schema-v1.0.3.json#")
    assert markup["markups"][0]["type"] == "Fiducial"
    write_landmarks(tmp_path / "m.ljson", marks(), PARTIAL)
    group = json.loads((tmp_path / "m.ljson").read_text(encoding="utf-8"))
    assert group["version"] == 2 and group["landmarks"]["connectivity"] == []
    assert [label["mask"] for label in group["labels"]] == [[row] for row in range(5)]
    write_landmarks(tmp_path / "m.pp", marks(), PARTIAL)
    assert (tmp_path / "m.pp").read_bytes().startswith(b"<!DOCTYPE PickedPoints>\n<PickedPoints>")
    write_landmarks(tmp_path / "m.txt", marks(), PARTIAL)
    named = json.loads((tmp_path / "m.txt").read_text(encoding="utf-8"))
    face, u, v = named["left eye"]
    assert face == 3 and [u, v] == points().barycentric[0, :2].tolist()
