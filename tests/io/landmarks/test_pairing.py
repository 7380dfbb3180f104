"""How two lists of landmarks pair: by name first, by order second, and never silently wrong."""

import numpy as np
import pytest

import nho
from nho.errors import InputError
from nho.io.landmarks import LandmarkPairs, Landmarks, pair_up, read_pairs
from nho.problem.anchors import Anchors
from tests.io.landmarks.shapes import FULL, PARTIAL


def listed(vertices, names=(), source="scan.pp"):
    return Landmarks.at_vertices(np.array(vertices), names, source)


def paired(pairs):
    return [*zip(pairs.partial.vertex.tolist(), pairs.full.vertex.tolist(), strict=True)]


def test_equal_names_pair_whatever_their_order():
    pairs = pair_up(listed([1, 2, 3], "abc"), listed([30, 10, 20], "cab", "template.pp"))
    assert paired(pairs) == [(1, 10), (2, 20), (3, 30)]
    assert pairs.names == ("a", "b", "c") and pairs.notes == ()


def test_points_without_a_partner_are_left_out_and_told():
    names = ("a", "left out", "b", "c")
    pairs = pair_up(listed([1, 9, 2, 3], names), listed([10, 20, 30, 40], "abcz", "template.pp"))
    assert paired(pairs) == [(1, 10), (2, 20), (3, 30)]
    first, second = pairs.notes
    assert "scan.pp" in first and "1 point" in first and "(left out)" in first
    assert "template.pp" in second and "(z)" in second


def test_many_left_over_names_are_cut_short():
    names = tuple(f"n{i}" for i in range(30))
    pairs = pair_up(listed(range(30), names), listed([1, 2, 3], ("n0", "n1", "n2"), "t.pp"))
    assert "27 points" in pairs.notes[0] and "and 21 more" in pairs.notes[0]


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ((), (), "scan.pp has no names"),
        ((), "abc", "scan.pp has no names"),
        ("abc", (), "template.pp has no names"),
        ("abc", "xyz", "no names in both files"),
        ("abc", "axy", "1 name in both files"),
        ("aab", "aab", "scan.pp has the name 'a' twice"),
    ],
)
def test_without_enough_names_the_order_pairs_and_that_is_told(first, second, why):
    pairs = pair_up(listed([1, 2, 3], first), listed([10, 20, 30], second, "template.pp"))
    assert paired(pairs) == [(1, 10), (2, 20), (3, 30)]
    assert pairs.names == tuple(first or second or "123")
    assert len(pairs.notes) == 1 and f"paired by order, since {why}" in pairs.notes[0]


@pytest.mark.parametrize(
    ("first", "second", "parts"),
    [
        (listed([1, 2, 3]), listed([1, 2], (), "t.pp"), ["3 points", "2 points", "no names"]),
        (listed([1, 2], "ab"), listed([1, 2, 3], "axy", "t.pp"), ["1 name in both"]),
        (listed([1, 2, 3], "aab"), listed([1, 2], "ab", "t.pp"), ["'a' twice"]),
        (listed([1, 2, 3], "abc"), listed([1, 2, 3], "xya", "t.pp"), ["'a' is point 0", "point 2"]),
        (listed([1, 2, 3], "aab"), listed([1, 2, 3], "aba", "t.pp"), ["'a' twice", "does not fit"]),
    ],
)
def test_lists_that_cannot_be_paired_for_sure_are_refused(first, second, parts):
    with pytest.raises(InputError) as caught:
        pair_up(first, second)
    message = str(caught.value)
    assert all(part in message for part in (*parts, "scan.pp", "t.pp", "name")), message


def test_missing_points_hold_their_place_in_the_order():
    pairs = pair_up(listed([1, -1, 3]), listed([10, 20, -1], (), "template.pp")).complete()
    assert paired(pairs) == [(1, 10)] and pairs.names == ("1",)
    assert "scan.pp: 1 of 3 points on the partial shape not set, left out (2)" in pairs.notes
    assert "template.pp: 1 of 3 points on the full shape not set, left out (3)" in pairs.notes


def write(folder, name, rows):
    (folder / name).write_text("name,x,y,z\n" + "".join(f"{row}\n" for row in rows))
    return folder / name


def rows_of(mesh, vertices, names="abcdefgh"):
    places = mesh.vertices[vertices].tolist()
    return [f"{n},{x!r},{y!r},{z!r}" for n, (x, y, z) in zip(names, places, strict=False)]


def test_notes_reach_the_anchors_and_the_warnings_of_a_match(tmp_path):
    whole = nho.Mesh(
        nho.geometry.synthetic.bumpy_sphere(2, seed=1).vertices, PARTIAL.faces, "whole.ply"
    )
    chosen = nho.sample_vertices(whole, 6)
    scan = write(
        tmp_path, "scan.csv", [*rows_of(whole, chosen), "extra,0,0,1", "gone,-999,-999,-999"]
    )
    full = write(tmp_path, "full.csv", [*rows_of(whole, chosen)[::-1], "gone,0,0,1"])
    anchors = Anchors.read((scan, full), whole, whole)
    assert anchors.names == tuple("abcdef")
    np.testing.assert_array_equal(anchors.vertices(whole, whole), np.stack([chosen, chosen], 1))
    told = " | ".join(anchors.notes)
    assert "(extra)" in told and "not set, left out (gone)" in told
    quick = nho.preset("default").replace(fit_steps=2, rounds=0, bend=False)
    result = nho.match(whole, whole, (str(scan), str(full)), quick)
    assert set(anchors.notes) <= set(result.notes)
    np.testing.assert_array_equal(result.anchors, np.stack([chosen, chosen], axis=1))


def test_points_inside_faces_become_anchors_where_they_are(tmp_path):
    (tmp_path / "scan.txt").write_text("[[5, 0.2, 0.3], [9, 0.1, 0.1], [70, 0.5, 0.5]]")
    (tmp_path / "full.txt").write_text("[[50, 0.3, 0.3], [90, 0.2, 0.1], [7, 0.25, 0.5]]")
    anchors = Anchors.read([tmp_path / "scan.txt", tmp_path / "full.txt"], PARTIAL, FULL)
    assert anchors.partial.face.tolist() == [5, 9, 70] and anchors.full.face.tolist() == [50, 90, 7]
    np.testing.assert_allclose(anchors.partial.barycentric[0], [0.2, 0.3, 0.5])
    assert (anchors.gaps == 0).all()


def test_one_file_of_one_shape_and_three_files_are_refused(tmp_path):
    scan = write(tmp_path, "scan.csv", rows_of(PARTIAL, [1, 2, 3]))
    for files, part in (
        (scan, "points of one shape"),
        ((tmp_path / "scan.pp",), "points of one shape"),
        ([scan] * 3, "3 files"),
        ([], "0 files"),
    ):
        with pytest.raises(InputError, match=part):
            read_pairs(files)


def test_no_pair_at_all_is_refused_as_too_few(tmp_path):
    empty = LandmarkPairs(listed([-1, -1]), listed([1, 2], (), "t.pp"), ("0", "1"), source="s, t")
    anchors = Anchors.from_landmarks(empty, PARTIAL, FULL)
    with pytest.raises(InputError, match="0 distinct anchors given, at least 3"):
        nho.match(PARTIAL, FULL, anchors)
