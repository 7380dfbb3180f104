"""A kill at every single step of everything that writes, one after the other.

Python tells an audit hook of every file it opens, renames or removes. A forked process writes and
kills itself at the first such step, another one at the second, and so on until one gets through.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable

import numpy as np
import pytest

import nho.runtime.atomic_folder
from nho.lab.bench.rowfile import append_row, read_rows
from nho.problem.result import MatchResult
from nho.report.result_folder import check_folder
from nho.runtime.atomic_file import sweep_parts, write_whole
from nho.runtime.atomic_folder import MOVING, whole_folder
from nho.runtime.cache import Cache
from tests.faults.given import names
from tests.fuzz import seeds

STEPS = ("open", "os.", "shutil.", "ctypes.dlsym", "fcntl.")


def killed_at_every_step(work: Callable[[], object], look: Callable[[], None]) -> int:
    """Run the work in processes that die at step 0, 1, ... and look after each; how many steps."""
    for step in range(1000):
        child = os.fork()
        if child == 0:
            _work_until(work, step)
        _, status = os.waitpid(child, 0)
        look()
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0
            return step
        assert os.WTERMSIG(status) == signal.SIGKILL
    raise AssertionError("it never gets through")


def _work_until(work: Callable[[], object], step: int) -> None:
    """In the child: it must never return to the tests."""
    count = 0

    def hook(event: str, _: object) -> None:
        nonlocal count
        if event.startswith(STEPS):
            count += 1
            if count == step + 1:
                os.kill(os.getpid(), signal.SIGKILL)

    try:
        sys.addaudithook(hook)
        work()
        os._exit(0)
    finally:
        os._exit(1)


def put(folder, text):
    """Write a folder of three files."""
    with whole_folder(folder, "last", lambda folder: None) as staging:
        for name in ("first", "middle", "last"):
            (staging / name).write_text(text)


def whole(text):
    return {name: text for name in ("first", "middle", "last")}


def content(folder):
    files = (path for path in folder.iterdir() if path.is_file() and path.name != MOVING)
    return {path.name: path.read_text() for path in files}


@pytest.mark.parametrize("way", ["exchange", "two renames", "file by file"])
@pytest.mark.parametrize("earlier", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_folder_is_the_earlier_or_the_new_one_and_the_next_run_tidies_up(
    way, earlier, tmp_path, monkeypatch
):
    if way == "two renames":
        monkeypatch.setattr(nho.runtime.atomic_folder, "_exchanged", lambda *_: False)
    if way == "file by file":
        monkeypatch.setattr(nho.runtime.atomic_folder, "_cannot_be_renamed", lambda place: True)
    place, seen = tmp_path / "place", []
    out = place / "out"

    def begin():
        shutil.rmtree(place, ignore_errors=True)
        out.mkdir(parents=True)
        if earlier:
            put(out, "earlier")

    def look():
        # One by one, files without the last one are no result; moved away, it is brought back.
        nothing = way != "exchange" and (not out.exists() or "last" not in content(out))
        found = {} if nothing else content(out)
        assert found in ({}, whole("earlier"), whole("new")), found
        assert found or not earlier or nothing
        seen.append(found.get("last"))
        put(out, "next")
        assert content(out) == whole("next")
        assert names(place) == ["out"] and names(out) == ["first", "last", "middle"]
        begin()

    begin()
    steps = killed_at_every_step(lambda: put(out, "new"), look)
    assert steps > 9 and "new" in seen
    assert ("earlier" in seen) == earlier
    if way == "two renames" and earlier:
        assert None in seen  # the moment between them


@pytest.mark.parametrize("earlier", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_result_that_is_exchanged_file_by_file_can_be_written_again_after_any_kill(
    earlier, tmp_path, monkeypatch
):
    monkeypatch.setattr(nho.runtime.atomic_folder, "_cannot_be_renamed", lambda place: True)
    out, parts = tmp_path / "out", []

    def put_result():
        with whole_folder(out, "result.json", check_folder) as staging:
            seeds.result().save(staging)
            seeds.PARTIAL.write(staging / "partial.ply")

    def begin():
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        if earlier:
            put_result()

    def look():
        there = [name for name in names(out) if not name.startswith(".nho-")]
        parts.append(bool(there) and "result.json" not in there)
        put_result()
        MatchResult.load(out)
        assert names(out) == ["partial.ply", "result.json", "result.npz"]
        begin()

    begin()
    killed_at_every_step(put_result, look)
    assert any(parts)  # the moments that would be refused without the mark


def test_a_moved_folder_is_brought_back_by_the_next_run_even_if_that_one_fails(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(nho.runtime.atomic_folder, "_exchanged", lambda *_: False)
    out, lost = tmp_path / "out", []
    put(out, "earlier")

    def look():
        lost.append(not out.exists())
        with pytest.raises(ZeroDivisionError):
            with whole_folder(out, "last", lambda folder: None):
                raise ZeroDivisionError
        assert content(out) in (whole("earlier"), whole("new")) and names(tmp_path) == ["out"]
        put(out, "earlier")

    killed_at_every_step(lambda: put(out, "new"), look)
    assert any(lost)


def test_a_file_is_the_earlier_or_the_new_one(tmp_path):
    path, seen = tmp_path / "file", []

    def look():
        seen.append(path.read_text())
        sweep_parts([tmp_path])
        assert names(tmp_path) == ["file"]

    path.write_text("earlier")
    assert killed_at_every_step(lambda: write_whole(path, "new"), look) >= 3
    assert list(dict.fromkeys(seen)) == ["earlier", "new"]


def test_rows_are_whole_and_none_is_lost(tmp_path):
    path, seen = tmp_path / "matches.csv", []
    append_row(path, {"pair": "a"}, {"error": 1.5})
    first = read_rows(path)

    def look():
        rows = read_rows(path)
        assert rows[:1] == first and [row["pair"] for row in rows] in (["a"], ["a", "b"])
        seen.append(len(rows))
        append_row(path, {"pair": "c"}, {"error": 3.5})
        assert [row["error"] for row in read_rows(path)][-1] == "3.5"
        path.unlink()
        append_row(path, {"pair": "a"}, {"error": 1.5})

    killed_at_every_step(lambda: append_row(path, {"pair": "b"}, {"error": 2.5}), look)
    assert set(seen) == {1, 2}


def test_a_cache_is_readable_and_never_wrong(tmp_path, caplog):
    cache, right = Cache(tmp_path / "cache"), np.arange(999.0)
    unfinished = []

    def ask(of=cache):
        found = of.get_or_compute("kind", {}, {"number": 1}, lambda: {"values": right})
        assert np.array_equal(found["values"], right)

    def look():
        unfinished.append(len(list(cache.folder.glob("*.tmp"))) if cache.folder.exists() else 0)
        ask()
        assert cache.info()["entries"] == 1 and caplog.text == ""
        cache.clear()
        assert names(cache.folder) == []

    assert killed_at_every_step(ask, look) > 5
    assert set(unfinished) == {0, 1}
