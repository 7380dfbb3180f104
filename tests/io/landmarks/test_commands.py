"""`nho anchors` and `nho match` with landmark files."""

import json
import sys

import numpy as np
import pytest

from nho.cli import main
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.io.landmarks import FORMATS, LandmarkPairs, read_landmarks, read_pairs, write_pairs
from nho.problem.result import MatchResult
from tests.io.landmarks.shapes import FULL, NAMES, PARTIAL, marks

QUICK = ("--set", "fit_steps=2", "--set", "rounds=0", "--set", "bend=false", "--quiet")


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """The command in this process and a folder of its own: exit code, stdout, stderr."""
    PARTIAL.write(tmp_path / "scan.ply")
    FULL.write(tmp_path / "template.ply")
    monkeypatch.chdir(tmp_path)

    def main_with(*arguments):
        monkeypatch.setattr(sys, "argv", ["nho", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        return ended.value.code or 0, told.out, told.err

    return main_with


NAMED = [suffix for suffix in FORMATS if FORMATS[suffix].named and suffix != ".pts"]
MESHES = ("--partial", "scan.ply", "--full", "template.ply")


def given(suffix):
    files = f"scan{suffix}", f"template{suffix}"
    write_pairs(files, LandmarkPairs(marks(PARTIAL), marks(FULL), NAMES), PARTIAL, FULL)
    return files


@pytest.mark.parametrize("suffix", NAMED)
def test_two_files_become_one_and_two_again(call, suffix):
    files = given(suffix)
    code, told, err = call("anchors", "convert", *files, "--out", "pairs.json", *MESHES)
    assert (code, err) == (0, "") and "5 points to pairs.json" in told
    again = "--out", f"a{suffix}", "--out", f"b{suffix}"
    code, told, err = call("anchors", "convert", "pairs.json", *again, *MESHES)
    assert (code, err) == (0, "")
    for before, after, mesh in zip(
        files, (f"a{suffix}", f"b{suffix}"), (PARTIAL, FULL), strict=True
    ):
        first, second = read_landmarks(before), read_landmarks(after)
        assert first.names == second.names == NAMES
        places = [found.on(mesh)[0].positions(mesh) for found in (first, second)]
        np.testing.assert_allclose(places[0], places[1], rtol=1e-12)


def test_one_shape_is_converted_flipped_and_scaled(call):
    given(".mrk.json")
    before = read_landmarks("scan.mrk.json").position
    arguments = ["anchors", "convert", "scan.mrk.json", "--out", "m.fcsv", "--flip"]
    code, _, err = call(*arguments, "--scale", "0.001")
    assert (code, err) == (0, "")
    found = read_landmarks("m.fcsv")
    assert found.axes == "RAS"
    np.testing.assert_allclose(found.position, before * [-0.001, -0.001, 0.001], rtol=1e-15)


def test_one_side_of_a_file_of_pairs_is_flipped(call):
    given(".pp")
    call("anchors", "convert", "scan.pp", "template.pp", "--out", "pairs.csv")
    call("anchors", "convert", "pairs.csv", "--out", "turned.csv", "--flip", "--side", "full")
    before, after = read_pairs("pairs.csv"), read_pairs("turned.csv")
    np.testing.assert_array_equal(after.partial.position, before.partial.position)
    np.testing.assert_array_equal(after.full.position, before.full.position * [-1, -1, 1])


def test_what_is_left_out_is_told(call, tmp_path):
    (tmp_path / "a.csv").write_text("name,x,y,z\na,1,2,3\nb,1,2,3\nc,1,2,3\nd,1,2,3\n")
    (tmp_path / "b.csv").write_text("name,x,y,z\na,1,2,3\nb,1,2,3\nc,1,2,3\n")
    code, _, err = call("anchors", "convert", "a.csv", "b.csv", "--out", "pairs.csv")
    assert code == 0 and err.startswith("note: a.csv: 1 point without a partner") and "(d)" in err
    assert len(read_pairs("pairs.csv")) == 3


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["scan.pp", "--out", "a.txt"], ["scan.pp", "give the mesh"]),
        (["scan.pp", "--out", "a.pp", "--out", "b.pp"], ["scan.pp", "--out once"]),
        (["scan.pp", "--out", "a.pp", *MESHES], ["scan.pp", "not both"]),
        (["scan.pp", "template.pp", "--out", "a.pp"], ["a.pp", "one shape"]),
        (["absent.pp", "--out", "a.pp"], ["absent.pp", "no such file"]),
        (["scan.pp", "--out", "a.xyz"], ["a.xyz", ".ljson"]),
        (["scan.pp", "--out", "absent/a.pp"], ["absent", "no folder"]),
        (["scan.pp", "--out", "a.pp", "--scale", "0"], ["--scale", "positive"]),
        (["scan.pp", "--out", "a.pp", "--side", "left"], ["'left'", "partial, full, both"]),
        (["scan.ply", "--out", "a.pp"], ["scan.ply", ".pp"]),
    ],
)
def test_bad_input_of_convert_is_one_sentence_and_writes_nothing(call, tmp_path, arguments, parts):
    given(".pp")
    before = sorted(tmp_path.iterdir())
    code, told, err = call("anchors", "convert", *arguments)
    assert code == 1 and told == "" and err.startswith("nho: ") and err.count("\n") == 1
    assert all(part in err for part in parts), err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("suffix", FORMATS)
def test_sampled_anchors_are_written_in_every_format(call, suffix):
    out = f"sampled{suffix}"
    code, told, err = call("anchors", "sample", "scan.ply", "--count", 7, "--out", out)
    assert (code, err) == (0, "") and "7 anchors" in told
    if suffix in (".csv", ".json"):
        found = read_pairs(out, unfinished=True)
        assert found.partial.defined.all() and not found.full.defined.any()
        points = found.partial
    else:
        points = read_landmarks(out)
    vertices = points.on(PARTIAL)[0].nearest_vertex(PARTIAL)
    assert len(set(vertices.tolist())) == 7


def test_two_sampled_files_need_the_truth(call):
    code, _, err = call("anchors", "sample", "scan.ply", "--out", "a.pp", "--out", "b.pp")
    assert code == 1 and "--ground-truth" in err


def test_match_takes_two_files_and_the_flip(call, tmp_path):
    whole = bumpy_sphere(2, seed=3)
    whole = type(whole)(50 * whole.vertices + [90.0, 60, 10], whole.faces, "whole.ply")
    cut = cut_by_plane(whole, np.array([0.2, 0.5, 1.0]), keep_area=0.7)
    whole.write("whole.ply")
    cut.mesh.write("part.ply")
    np.savetxt("truth.map", cut.vertex_of_parent, fmt="%d")
    files = "--out", "part.mrk.json", "--out", "whole.pp"
    truth = "--full", "whole.ply", "--ground-truth", "truth.map"
    assert call("anchors", "sample", "part.ply", "--count", 9, *files, *truth)[0] == 0
    assert call("anchors", "convert", "part.mrk.json", "--out", "ras.mrk.json", "--flip")[0] == 0

    anchors = "--anchors", "ras.mrk.json", "--anchors", "whole.pp"
    command = ["match", "part.ply", "whole.ply", *anchors, "--out", "result", *QUICK]
    code, told, err = call(*command)
    assert code == 1 and told == "" and "(nho match --flip-anchors partial, or" in err
    assert not (tmp_path / "result").exists()
    code, _, err = call(*command, "--flip-anchors", "partial")
    assert code == 0, err
    result = MatchResult.load(tmp_path / "result")
    np.testing.assert_array_equal(cut.vertex_of_parent[result.anchors[:, 0]], result.anchors[:, 1])
    assert any("converted from RAS to LPS" in note for note in result.notes)
    stored = json.loads((tmp_path / "result" / "result.json").read_text(encoding="utf-8"))
    assert any("converted from RAS to LPS" in note for note in stored["notes"])
    code, _, err = call(*command, "--flip-anchors", "left")
    assert code == 1 and "'left'" in err


@pytest.mark.parametrize("command", ["sample", "convert"])
def test_every_help_has_an_example(call, command):
    code, out, _ = call("anchors", command, "--help")
    assert code == 0 and f"Example: nho anchors {command}" in out.replace("`", "")
