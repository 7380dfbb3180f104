"""A full disk: one sentence, nothing half-written, earlier results as they were."""

from __future__ import annotations

import pytest

from nho.errors import CannotWrite
from nho.lab.bench.rowfile import append_row, read_rows
from tests.faults.given import QUICK, changes, match_words, names, result_in
from tests.faults.running import files_up_to, one_sentence, run, run_here

BENCH = ["bench", "--study", "units", "--methods", "nearest", "--families", "synthetic", "--quick"]


def test_a_match_keeps_the_earlier_result_and_leaves_nothing_half_written(disk, pairs):
    out = disk.place / "out"
    assert run_here(*match_words(pairs, 0, out))[0] == 0
    earlier = result_in(out)
    disk.fill(4096)
    code, _, err = run_here(*match_words(pairs, 1, out, "--quiet"), limit=disk.limit)
    one_sentence(code, err, str(out), "cannot be written", "make room")
    assert result_in(out) == earlier
    assert set(names(disk.place)) <= {"out", "filler"}
    disk.free()
    assert run_here(*match_words(pairs, 1, out))[0] == 0
    assert result_in(out) not in (None, earlier)


@pytest.mark.slow
def test_a_batch_stops_keeps_what_is_done_and_goes_on_when_there_is_room(disk, pairs):
    out, table = disk.place / "out", disk.place / "few.csv"
    lines = (pairs / "pairs.csv").read_text().replace("scan", f"{pairs}/scan")
    lines = lines.replace(",full", f",{pairs}/full").replace(",anchors", f",{pairs}/anchors")
    header, *rows = lines.replace(f"{pairs}/full,{pairs}/anchors\n", "full,anchors\n").splitlines()
    command = ["batch", table, "--out", out, "--jobs", 1, "--quiet", *changes(*QUICK)]
    table.write_text("\n".join([header, rows[0]]) + "\n")
    assert run_here(*command)[0] == 0
    earlier = result_in(out / "p000")
    table.write_text("\n".join([header, *rows]) + "\n")
    disk.fill(4096)
    code, _, err = run_here(*command, limit=disk.limit)
    one_sentence(code, err, "cannot be written", "make room", "finished pairs are kept")
    assert result_in(out / "p000") == earlier
    assert not list(out.rglob(".nho-*")) and not (out / "p002").exists()
    disk.free()
    code, _, err = run_here(*command)  # nothing is noted as failed for good
    assert code == 0, err
    assert result_in(out / "p000") == earlier
    assert None not in (result_in(out / "p001"), result_in(out / "p002"))


@pytest.mark.slow
def test_a_benchmark_keeps_its_rows_and_goes_on_when_there_is_room(disk):
    out = disk.place / "out"
    command = [*BENCH, "--jobs", 1, "--quiet", "--out", out]
    assert run_here(*command)[0] == 0
    rows, report = read_rows(out / "matches.csv"), (out / "report.html").read_bytes()
    (out / "units" / "rows.csv").unlink()
    disk.fill(4096)
    code, _, err = run_here(*command, limit=disk.limit)
    one_sentence(code, err, "cannot be written", "make room", "what was measured is kept")
    assert read_rows(out / "matches.csv") == rows and (out / "report.html").read_bytes() == report
    assert not list(out.rglob(".nho-*"))
    disk.free()
    assert run_here(*command)[0] == 0 and (out / "units" / "rows.csv").exists()


def test_a_row_that_does_not_fit_leaves_those_before_it_whole(tmp_path):
    path = tmp_path / "matches.csv"
    append_row(path, {"pair": "a"}, {"error": 1.5})
    before = path.read_bytes()
    for room in range(8):  # at every byte of the next row
        with files_up_to(len(before) + room), pytest.raises(CannotWrite, match="make room"):
            append_row(path, {"pair": "b"}, {"error": 1234.5})
        assert path.read_bytes() == before
    append_row(path, {"pair": "b"}, {"error": 1234.5})
    assert [row["pair"] for row in read_rows(path)] == ["a", "b"]


def test_sampled_anchors_are_whole_or_not_there(disk, pairs):
    out = disk.place / "anchors.csv"
    command = ["anchors", "sample", pairs / "scan0.ply", "--out", out, "--count"]
    assert run_here(*command, 5)[0] == 0
    earlier = out.read_bytes()
    disk.fill(100)
    code, _, err = run_here(*command, 90, limit=disk.limit)
    one_sentence(code, err, str(out), "cannot be written", "make room")
    assert out.read_bytes() == earlier and set(names(disk.place)) <= {"anchors.csv", "filler"}


@pytest.mark.slow
def test_a_full_cache_costs_a_sentence_but_not_the_match(small_disk, pairs, finished_match):
    cache = small_disk.place / "cache"
    cache.mkdir()
    small_disk.fill(4096)
    assert_goes_on_without(cache, pairs, finished_match)
    assert names(cache) == []


def test_a_file_in_place_of_the_cache_costs_a_sentence_but_not_the_match(
    pairs, finished_match, tmp_path
):
    (tmp_path / "cache").write_text("mine")
    assert_goes_on_without(tmp_path / "cache", pairs, finished_match)
    assert (tmp_path / "cache").read_text() == "mine"


def assert_goes_on_without(cache, pairs, finished_match):
    """The result is the usual one, and one line says so."""
    undisturbed, out = finished_match
    code, _, err = run(*match_words(pairs, 0, out), variables={"NHO_CACHE": str(cache)})
    assert code == 0 and "Traceback" not in err, err
    assert err.count("going on without") == 1, err
    assert result_in(out) == result_in(undisturbed)
