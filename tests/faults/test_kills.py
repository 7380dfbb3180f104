"""kill -9 at random moments of every command that writes; `tools/kill.py` does more of it."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from tests.faults.given import result_in
from tests.faults.kills import kill_again_and_again, look_at_cache
from tests.faults.subjects import SUBJECTS, half_written

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no process groups")


@pytest.mark.slow
def test_a_killed_match_leaves_a_whole_result_and_is_resumed_to_the_same_bits(tmp_path):
    """tests/batch/test_batch.py and tests/lab/bench/test_bench_cli.py kill a batch, a benchmark."""
    subject = SUBJECTS["match"](tmp_path / "match")
    report = kill_again_and_again(subject, tmp_path / "cache", kills=1, seed=3)
    assert report.problems == []
    assert report.kills == 1 and report.finished >= 1


@pytest.mark.slow
def test_two_hundred_kills_do_no_harm(tmp_path):
    for name, kills in (("match", 90), ("batch", 70), ("bench", 40)):
        subject = SUBJECTS[name](tmp_path / name)
        report = kill_again_and_again(subject, tmp_path / "cache", kills, seed=0)
        assert report.problems == [] and report.kills == kills


class Careless:
    """A command that writes its file in place, and whose killer comes in the middle."""

    name = "careless"
    words = ("cache", "info")  # any command that ends well

    def __init__(self, folder):
        self._file = folder / "file"

    def moment(self, process, draw):
        self._file.write_text("half")
        return "while writing"

    def look(self):
        assert self._file.read_text() == "whole", "half a file"
        return "whole"

    def look_finished(self):
        self.look()

    def renew(self):
        pass


def test_the_killer_notices_what_is_half_written(tmp_path):
    report = kill_again_and_again(Careless(tmp_path), tmp_path / "cache", 1, seed=0)
    assert report.kills == 1
    shown = [problem.split(": ")[1].splitlines()[0] for problem in report.problems]
    assert shown == ["half a file"] * 2


def test_half_written_files_are_found_while_others_vanish(tmp_path, monkeypatch):
    (tmp_path / "vanishing" / ".nho-deep").mkdir(parents=True)
    left = tmp_path / "whole" / ".nho-left"
    left.mkdir(parents=True)
    real = os.scandir

    def vanish_first(path):
        if str(path).endswith("vanishing"):
            shutil.rmtree(path)
        return real(path)

    monkeypatch.setattr(os, "scandir", vanish_first)
    assert half_written(tmp_path) == [left]
    assert half_written(tmp_path / "nowhere") == []


@pytest.mark.parametrize("damage", ["missing", "cut off", "half of another"])
def test_the_look_at_a_result_notices_what_is_not_whole(damage, finished_match):
    folder, other = finished_match
    whole = result_in(folder)
    assert whole is not None and whole != result_in(other)
    if damage == "missing":
        (folder / "full.ply").unlink()
        with pytest.raises(AssertionError, match="holds"):
            result_in(folder)
    elif damage == "cut off":
        content = (folder / "report.html").read_text()
        (folder / "report.html").write_text(content[: len(content) // 2])
        with pytest.raises(AssertionError):
            result_in(folder)
    else:
        (folder / "result.npz").write_bytes((other / "result.npz").read_bytes())
        assert result_in(folder) not in (whole, result_in(other))


def test_the_look_at_the_cache_notices_damage_and_strangers(tmp_path):
    look_at_cache(tmp_path)
    entry = tmp_path / ("nho-basis-" + "0" * 40 + ".npz")
    entry.write_bytes(b"half an entry")
    with pytest.raises(AssertionError, match="damaged"):
        look_at_cache(tmp_path)
    entry.rename(tmp_path / "left over")
    with pytest.raises(AssertionError, match="left over"):
        look_at_cache(tmp_path)
