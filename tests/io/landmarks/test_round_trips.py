"""Every format to every format: names and places survive, in every digit where the format can."""

import itertools

import numpy as np
import pytest

from nho.errors import InputError
from nho.io.landmarks import (
    FORMATS,
    LandmarkPairs,
    Landmarks,
    pair_up,
    read_landmarks,
    read_pairs,
    write_landmarks,
    write_pairs,
)
from tests.io.landmarks.shapes import FULL, NAMES, PARTIAL, marks, points

EVERY = tuple(FORMATS)
# Names survive as they are; in `.pts` blanks become underscores.
NAMED = tuple(suffix for suffix in EVERY if FORMATS[suffix].named and suffix != ".pts")
BY_POSITION = tuple(suffix for suffix in EVERY if FORMATS[suffix].kinds == "positions")
PLACES = points().positions(PARTIAL)


@pytest.mark.parametrize(("first", "second"), [*itertools.product(NAMED, NAMED)])
def test_names_and_places_survive_any_two_formats(tmp_path, first, second):
    one, two = tmp_path / f"one{first}", tmp_path / f"two{second}"
    write_landmarks(one, marks(), PARTIAL)
    write_landmarks(two, read_landmarks(one), PARTIAL)
    found = read_landmarks(two)
    assert found.names == NAMES and found.named and found.defined.all()
    places = found.on(PARTIAL)[0].positions(PARTIAL)
    np.testing.assert_allclose(places, PLACES, rtol=1e-12)


@pytest.mark.parametrize(("first", "second"), [*itertools.product(BY_POSITION, BY_POSITION)])
def test_coordinates_survive_in_every_digit(tmp_path, first, second):
    one, two = tmp_path / f"one{first}", tmp_path / f"two{second}"
    write_landmarks(one, marks(), PARTIAL)
    write_landmarks(two, read_landmarks(one))
    np.testing.assert_array_equal(read_landmarks(two).position, PLACES)


def test_json_keeps_vertices_faces_and_coordinates_as_they_are(tmp_path):
    path = tmp_path / "marks.json"
    write_landmarks(path, marks())
    found = read_landmarks(path)
    assert found.kind.tolist() == ["face", "face", "face", "vertex", "face"]
    assert found.vertex[3] == PARTIAL.faces[99, 0]
    np.testing.assert_array_equal(found.face[[0, 1, 2, 4]], [3, 17, 40, 250])
    rows = [0, 1, 2, 4]
    np.testing.assert_array_equal(found.barycentric[rows], points().barycentric[rows])
    # Coordinates stay coordinates beside them.
    write_landmarks(path, marks().by_position(PARTIAL))
    np.testing.assert_array_equal(read_landmarks(path).position, PLACES)


@pytest.mark.parametrize("suffix", [suffix for suffix in NAMED if suffix != ".txt"])
def test_missing_points_stay_missing_and_keep_their_names(tmp_path, suffix):
    some = points()
    some.face[[1, 3]] = -1
    some.barycentric[[1, 3]] = np.nan
    path = tmp_path / f"marks{suffix}"
    assert write_landmarks(path, Landmarks.at(PARTIAL, some, NAMES), PARTIAL) == ()
    found = read_landmarks(path)
    assert found.names == NAMES
    assert found.defined.tolist() == [True, False, True, False, True]
    np.testing.assert_array_equal(found.on(PARTIAL)[0].face < 0, ~found.defined)


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_missing_points_without_names_hold_their_place(tmp_path, suffix):
    path = tmp_path / f"marks{suffix}"
    write_landmarks(path, Landmarks.at_vertices(np.array([4, -1, 6])))
    assert read_landmarks(path).defined.tolist() == [True, False, True]


def test_what_wrap_cannot_hold_is_told(tmp_path):
    some = points()
    some.face[1] = -1
    some.barycentric[1] = np.nan
    marked = Landmarks.at(PARTIAL, some, NAMES).by_position(PARTIAL).scaled(1 + 1e-4)
    first, second = write_landmarks(tmp_path / "marks.txt", marked, PARTIAL)
    assert "projected to scan.ply: largest distance" in first
    assert "not set are left out" in second and NAMES[1] in second
    assert len(read_landmarks(tmp_path / "marks.txt")) == 4


@pytest.mark.parametrize("axes", ["LPS", "RAS"])
@pytest.mark.parametrize("suffix", [".mrk.json", ".fcsv", ".csv", ".json"])
def test_the_axes_are_kept(tmp_path, suffix, axes):
    given = marks().by_position(PARTIAL)
    given = given.flipped() if axes == "RAS" else given
    write_landmarks(tmp_path / "lps.mrk.json", marks(), PARTIAL)
    lps = read_landmarks(tmp_path / "lps.mrk.json")
    assert lps.axes == "LPS"
    path = tmp_path / f"marks{suffix}"
    write_landmarks(path, lps.flipped() if axes == "RAS" else lps)
    found = read_landmarks(path)
    assert found.axes == axes and found.names == NAMES
    np.testing.assert_array_equal(found.position, given.position)


@pytest.mark.parametrize("suffix", [suffix for suffix in EVERY if suffix not in (".csv", ".json")])
def test_points_of_another_kind_need_the_mesh(tmp_path, suffix):
    path = tmp_path / f"marks{suffix}"
    given = marks().by_position(PARTIAL) if suffix == ".txt" else marks()
    with pytest.raises(InputError, match="marks: .*give the mesh"):
        write_landmarks(path, given)
    assert not path.exists()


@pytest.mark.parametrize("first", NAMED)
@pytest.mark.parametrize("second", [".csv", ".json"])
def test_pairs_go_to_two_files_and_back_to_one(tmp_path, first, second):
    pairs = LandmarkPairs(marks(PARTIAL), marks(FULL), NAMES)
    files = tmp_path / f"scan{first}", tmp_path / f"template{first}"
    write_pairs(files, pairs, PARTIAL, FULL)
    both = read_pairs(files)
    assert both.notes == () and both.names == NAMES
    one = tmp_path / f"pairs{second}"
    write_pairs(one, both, PARTIAL, FULL)
    found = read_pairs(one)
    assert found.names == NAMES and found.source == str(one)
    for side, mesh in ((found.partial, PARTIAL), (found.full, FULL)):
        places = side.on(mesh)[0].positions(mesh)
        np.testing.assert_allclose(places, points().positions(mesh), rtol=1e-12)


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_an_unfinished_pair_is_kept_for_editors_only(tmp_path, suffix):
    some = points()
    some.face[1] = -1
    some.barycentric[1] = np.nan
    pairs = LandmarkPairs(marks(PARTIAL), Landmarks.at(FULL, some, NAMES), NAMES)
    path = tmp_path / f"pairs{suffix}"
    write_pairs(path, pairs, PARTIAL, FULL)
    found = read_pairs(path, unfinished=True)
    assert found.names == NAMES and found.partial.defined.all()
    assert found.full.defined.tolist() == [True, False, True, True, True]
    complete = found.complete()
    assert len(complete) == 4 and NAMES[1] not in complete.names
    assert "1 of 5 points on the full shape not set" in complete.notes[0]
    assert NAMES[1] in complete.notes[0]


def test_a_refused_pair_of_files_leaves_neither(tmp_path):
    pairs = LandmarkPairs(marks(PARTIAL), marks(FULL), NAMES)
    with pytest.raises(InputError, match="give the mesh"):
        write_pairs((tmp_path / "scan.pp", tmp_path / "template.pp"), pairs, PARTIAL)
    with pytest.raises(InputError, match="both shapes would go to this file"):
        write_pairs((tmp_path / "a.pp", tmp_path / "." / "a.pp"), pairs, PARTIAL, FULL)
    with pytest.raises(InputError, match=r"a\.pp: a MeshLab file holds the points of one shape"):
        write_pairs(tmp_path / "a.pp", pairs, PARTIAL, FULL)
    with pytest.raises(InputError, match=r"a\.xyz: .*\.mrk\.json.*give one of these"):
        write_landmarks(tmp_path / "a.xyz", marks(), PARTIAL)
    assert list(tmp_path.iterdir()) == []


def test_inputs_are_not_changed():
    given = marks()
    before = given.position.copy(), given.barycentric.copy(), given.kind.copy()
    given.by_position(PARTIAL).flipped().scaled(2.0)
    given.by_face(PARTIAL).on(PARTIAL)
    pair_up(given, marks(FULL)).complete()
    for array, same in zip((given.position, given.barycentric, given.kind), before, strict=True):
        np.testing.assert_array_equal(array, same)
