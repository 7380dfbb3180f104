"""Tables of pairs with landmarks in two files."""

import pytest

from nho.batch import read_pairs, run_batch
from nho.errors import InputError
from nho.io.landmarks import LandmarkPairs, write_landmarks, write_pairs
from nho.settings import preset
from tests.io.landmarks.shapes import PARTIAL, marks

SETTINGS = preset("default").replace(fit_steps=2, rounds=0, bend=False, threads=1)


@pytest.fixture
def table(tmp_path):
    """Write a table beside two meshes and their landmarks; returns its path."""
    for name in ("s.ply", "t.ply", "a.csv", "s.pp", "t.pp"):
        (tmp_path / name).write_text("x")

    def write(text):
        (tmp_path / "pairs.csv").write_text(text)
        return tmp_path / "pairs.csv"

    return write


def test_a_row_has_one_file_of_anchors_or_two(table, tmp_path):
    rows = "s.ply,t.ply,a.csv,,,\ns.ply,t.ply,,s.pp,t.pp,Both\n"
    pairs = read_pairs(
        table("partial,full,anchors,anchors_partial,anchors_full,flip_anchors\n" + rows)
    )
    assert [pair.anchors for pair in pairs] == [
        (tmp_path / "a.csv",),
        (tmp_path / "s.pp", tmp_path / "t.pp"),
    ]
    assert [pair.flip for pair in pairs] == ["none", "both"]


def test_the_column_anchors_may_be_absent(table, tmp_path):
    (pair,) = read_pairs(
        table("partial,full,anchors_partial,anchors_full\ns.ply,t.ply,s.pp,t.pp\n")
    )
    assert pair.anchors == (tmp_path / "s.pp", tmp_path / "t.pp")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("partial,full\ns.ply,t.ply\n", ["'anchors'", "anchors_partial,anchors_full"]),
        ("partial,full,anchors_partial\ns.ply,t.ply,s.pp\n", ["'anchors'"]),
        (
            "partial,full,anchors,anchors_partial,anchors_full\ns.ply,t.ply,a.csv,s.pp,t.pp\n",
            ["line 2", "both 'anchors' and 'anchors_partial'"],
        ),
        (
            "partial,full,anchors,anchors_partial,anchors_full\ns.ply,t.ply,,s.pp,\n",
            ["line 2", "'anchors_full'"],
        ),
        ("partial,full,anchors,flip_anchors\ns.ply,t.ply,a.csv,x\n", ["line 2", "'x'", "both"]),
    ],
)
def test_what_is_wrong_with_a_row_is_named(table, text, parts):
    with pytest.raises(InputError) as caught:
        read_pairs(table(text))
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_what_the_anchors_depend_on_is_hashed(table, tmp_path):
    head = "partial,full,anchors_partial,anchors_full,flip_anchors\n"

    def content(row):
        return read_pairs(table(head + row))[0].anchors_content()

    (tmp_path / "s.pp").write_text("ab")
    (tmp_path / "t.pp").write_text("c")
    plain = content("s.ply,t.ply,s.pp,t.pp,\n")
    assert plain == content("s.ply,t.ply,s.pp,t.pp,none\n")
    different = {
        plain,
        content("s.ply,t.ply,s.pp,t.pp,full\n"),
        content("s.ply,t.ply,t.pp,s.pp,\n"),
    }
    (tmp_path / "s.pp").write_text("a")
    (tmp_path / "t.pp").write_text("bc")
    assert len({*different, content("s.ply,t.ply,s.pp,t.pp,\n")}) == 4


def test_a_batch_matches_from_landmarks_and_again_when_they_change(tmp_path):
    PARTIAL.write(tmp_path / "scan.ply")
    names = tuple(f"n{i}" for i in range(5))
    both = LandmarkPairs(marks(PARTIAL, names), marks(PARTIAL, names), names)
    write_pairs((tmp_path / "a.mrk.json", tmp_path / "b.pp"), both, PARTIAL, PARTIAL)
    (tmp_path / "pairs.csv").write_text(
        "name,partial,full,anchors_partial,anchors_full\np,scan.ply,scan.ply,a.mrk.json,b.pp\n"
    )
    pairs, out = read_pairs(tmp_path / "pairs.csv"), tmp_path / "out"
    (row,) = run_batch(pairs, out, SETTINGS, jobs=1, report=False)
    assert row.status == "ok" and row.warnings == 0  # the axes are a note
    stamp = (out / "p" / "result.npz").stat().st_mtime_ns
    (row,) = run_batch(pairs, out, SETTINGS, jobs=1, report=False)
    assert row.status == "ok" and (out / "p" / "result.npz").stat().st_mtime_ns == stamp
    fewer = marks(PARTIAL, names)[[0, 1, 2, 3]]
    write_landmarks(tmp_path / "b.pp", fewer, PARTIAL)
    (row,) = run_batch(pairs, out, SETTINGS, jobs=1, report=False)
    assert row.status == "ok" and (out / "p" / "result.npz").stat().st_mtime_ns != stamp
