"""Folders that may be read but not written: refused at once, or got along without."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.faults.conftest import read_only
from tests.faults.given import QUICK, changes, match_words, names, result_in
from tests.faults.running import environment, one_sentence, run, run_here

BENCH = ["bench", "--study", "units", "--methods", "nearest", "--families", "synthetic", "--quick"]


def test_a_match_is_refused_before_it_computes_and_the_earlier_result_stays(
    pairs, finished_match, monkeypatch
):
    earlier, place = result_in(finished_match[0]), finished_match[0].parent
    monkeypatch.setattr("nho.cli.match.match", lambda *_: pytest.fail("it computed"))
    with read_only(place):
        for out in (finished_match[0], place / "new"):
            code, _, err = run_here(*match_words(pairs, 1, out))
            one_sentence(code, err, str(out), "cannot be written", "give another place")
    assert result_in(finished_match[0]) == earlier and names(place) == ["result0", "result1"]


def test_a_folder_that_becomes_read_only_while_a_match_computes_is_one_sentence(
    pairs, tmp_path, monkeypatch
):
    from nho.cli import match

    (tmp_path / "place").mkdir()
    compute = match.match
    stack = read_only(tmp_path / "place")

    def then_closed(*arguments):
        result = compute(*arguments)
        stack.__enter__()
        return result

    monkeypatch.setattr(match, "match", then_closed)
    try:
        code, _, err = run_here(*match_words(pairs, 0, tmp_path / "place" / "out", "--quiet"))
    finally:
        stack.__exit__(None, None, None)
    one_sentence(code, err, "out: cannot be written")
    assert names(tmp_path / "place") == []


@pytest.mark.parametrize("command", ["batch", "bench", "anchors"])
def test_other_commands_are_refused_in_one_sentence(command, pairs, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    words = {
        "batch": ["batch", pairs / "pairs.csv", *changes(*QUICK), "--out", place / "out"],
        "bench": [*BENCH, "--out", place / "out"],
        "anchors": ["anchors", "sample", pairs / "scan0.ply", "--out", place / "out.csv"],
    }
    with read_only(place):
        code, _, err = run_here(*words[command])
    one_sentence(code, err, str(place), "cannot be written")
    assert names(place) == []


@pytest.mark.slow
def test_a_read_only_cache_is_read_and_else_done_without(pairs, tmp_path):
    cache = tmp_path / "cache"
    assert run(*match_words(pairs, 0, tmp_path / "a"), variables={"NHO_CACHE": str(cache)})[0] == 0
    stored = names(cache)
    assert stored
    with read_only(cache):
        for number, shown in ((0, 0), (1, 1)):  # what is there is found; what is not cannot be kept
            out = tmp_path / f"out{number}"
            words = match_words(pairs, number, out)
            code, _, err = run(*words, variables={"NHO_CACHE": str(cache)})
            assert code == 0 and err.count("going on without") == shown, err
    assert result_in(tmp_path / "out0") == result_in(tmp_path / "a") and names(cache) == stored


WRITES = """
    import os, sys
    from pathlib import Path
    from nho.errors import InputError
    from nho.report.result_folder import check_folder
    from nho.problem.result import MatchResult
    from nho.runtime.atomic_folder import whole_folder
    earlier, out = map(Path, sys.argv[1:])
    result = MatchResult.load(earlier)
    if os.geteuid() == 0:  # to root nothing is read-only
        os.chown(out, 65534, 65534)
        os.setuid(65534)
    for earlier_name in ("result.json", "settings.json", ""):
        # Into an empty folder, and in place of an earlier result, of this or an older version.
        with whole_folder(out, "result.json", check_folder) as staging:
            result.save(staging)
        assert sorted(os.listdir(out)) == ["result.json", "result.npz"]
        if earlier_name:
            os.rename(out / "result.json", out / earlier_name)
    MatchResult.load(out)
"""


def test_a_folder_of_ones_own_in_a_read_only_one_is_written_file_by_file(finished_match):
    with tempfile.TemporaryDirectory() as place:  # `tmp_path` is closed to other users
        out = Path(place) / "out"
        out.mkdir()
        os.chmod(place, 0o555)
        script = "\n".join(line.removeprefix("    ") for line in WRITES.splitlines())
        done = subprocess.run(
            [sys.executable, "-c", script, finished_match[0], out],
            env=environment(),
            capture_output=True,
            text=True,
        )
        os.chmod(place, 0o755)
        assert done.returncode == 0, done.stderr
        assert names(out) == ["result.json", "result.npz"] and names(Path(place)) == ["out"]
