"""Folders and files appear whole; what dead processes left goes, what living ones write stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import nho.runtime.atomic_folder
import nho.runtime.locks
from nho.errors import CannotWrite, InputError
from nho.runtime.atomic_file import sweep_parts, write_whole
from nho.runtime.atomic_folder import MOVING, sweep, whole_folder
from nho.runtime.locks import if_abandoned, locked
from tests.faults.given import names
from tests.faults.running import environment


def anything(folder):
    """A check that refuses nothing."""


def put(folder, text):
    """Write a folder of two files."""
    with whole_folder(folder, "last", anything) as staging:
        (staging / "first").write_text(text)
        (staging / "last").write_text(text)


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


HOLDS = """
import sys, time
from pathlib import Path
from nho.runtime.atomic_folder import whole_folder
with whole_folder(Path(sys.argv[1]), "last", lambda folder: None) as staging:
    (staging / "first").write_text("half")
    print(staging.name, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def writer(tmp_path):
    """A process in the middle of writing the folder ``out``, and the name it writes it under."""
    words = [sys.executable, "-c", HOLDS, str(tmp_path / "out")]
    process = subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process, process.stdout.readline().strip()
    process.kill()
    process.communicate()


def test_what_a_living_process_writes_is_left_alone_and_a_dead_ones_is_swept(tmp_path, writer):
    process, name = writer
    put(tmp_path / "out", "mine")
    assert names(tmp_path) == sorted([name, "out"])
    process.kill()
    process.wait()
    put(tmp_path / "other", "mine")  # the leavings of another folder are none of its business
    assert name in names(tmp_path)
    put(tmp_path / "out", "mine again")
    assert names(tmp_path) == ["other", "out"]
    assert content(tmp_path / "out") == {"first": "mine again", "last": "mine again"}


def test_a_stopped_process_is_a_living_one(tmp_path, writer):
    process, name = writer
    os.kill(process.pid, signal.SIGSTOP)
    sweep(tmp_path, ["out"])
    assert names(tmp_path) == [name]


def test_an_earlier_folder_that_a_killed_process_moved_away_comes_back(tmp_path):
    put(tmp_path / "out", "earlier")
    moved, half = tmp_path / ".nho-out.abcdefgh.old", tmp_path / ".nho-out.abcdefgh"
    (tmp_path / "out").rename(moved)
    half.mkdir()
    sweep(tmp_path, ["out"])
    assert names(tmp_path) == ["out"] and content(tmp_path / "out")["last"] == "earlier"
    (tmp_path / "out").rename(moved)
    put(tmp_path / "out", "new")
    assert names(tmp_path) == ["out"] and content(tmp_path / "out")["last"] == "new"


def test_only_age_tells_where_there_are_no_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(nho.runtime.locks, "try_lock", lambda handle: None)
    left = tmp_path / ".nho-out.abcdefgh"
    left.mkdir()
    sweep(tmp_path, ["out"])
    assert left.exists()
    os.utime(left, (time.time() - 4000,) * 2)
    sweep(tmp_path, ["out"])
    assert not left.exists()


@pytest.mark.parametrize("name", ["out", ".nho-out", ".nho-out.short", ".nho-other.abcdefgh"])
def test_nothing_else_is_ever_swept(name, tmp_path):
    (tmp_path / name).mkdir()
    sweep(tmp_path, ["out"])
    assert names(tmp_path) == [name]


def test_a_link_with_such_a_name_is_not_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis").write_text("years of work")
    link = tmp_path / ".nho-out.abcdefgh"
    link.symlink_to(tmp_path / "precious", target_is_directory=True)
    os.utime(link, (0, 0), follow_symlinks=False)
    sweep(tmp_path, ["out"])
    assert names(tmp_path / "precious") == ["thesis"]


def test_a_folder_swept_before_it_was_locked_is_made_again(tmp_path, monkeypatch):
    real, swept = nho.runtime.atomic_folder.locked, []

    def late(path):
        if not swept:
            swept.append(path)
            sweep(tmp_path, ["out"])
        return real(path)

    monkeypatch.setattr(nho.runtime.atomic_folder, "locked", late)
    put(tmp_path / "out", "whole")
    assert swept and not swept[0].exists()
    assert names(tmp_path) == ["out"] and content(tmp_path / "out")["first"] == "whole"


def test_a_folder_is_locked_by_one_only(tmp_path):
    with locked(tmp_path) as mine:
        assert mine
        with locked(tmp_path) as yours, if_abandoned(tmp_path) as abandoned:
            assert not yours and not abandoned
    with if_abandoned(tmp_path) as abandoned, locked(tmp_path) as mine:
        assert abandoned and not mine
    with locked(tmp_path / "gone") as mine, if_abandoned(tmp_path / "gone") as abandoned:
        assert not mine and not abandoned


@pytest.mark.parametrize("exchange", [True, False])
def test_what_others_put_there_meanwhile_is_not_lost(exchange, tmp_path, monkeypatch):
    if not exchange:
        monkeypatch.setattr(nho.runtime.atomic_folder, "_exchanged", lambda *_: False)

    def check(folder):
        if (folder / "thesis").exists():
            raise InputError("holds other files")

    with pytest.raises(InputError, match="other files"):
        with whole_folder(tmp_path / "out", "last", check) as staging:
            (staging / "last").write_text("new")
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "thesis").write_text("years of work")
    assert names(tmp_path) == ["out"] and content(tmp_path / "out") == {"thesis": "years of work"}


def test_others_that_write_all_the_time_are_an_error_and_no_endless_loop(tmp_path, monkeypatch):
    put(tmp_path / "out", "theirs")
    real = os.rename

    def contested(source, target):
        if os.fspath(target).endswith("out"):
            raise FileExistsError(17, "File exists")
        put_back = os.fspath(target).endswith(".old")
        real(source, target)
        if put_back:
            real(target, source)

    monkeypatch.setattr(nho.runtime.atomic_folder, "_exchanged", lambda *_: False)
    monkeypatch.setattr(os, "rename", contested)
    with pytest.raises(CannotWrite, match="other processes write it"):
        put(tmp_path / "out", "mine")
    assert content(tmp_path / "out")["last"] == "theirs" and names(tmp_path) == ["out"]


def test_at_a_mount_point_a_second_writer_waits_and_then_says_so(tmp_path, monkeypatch):
    put(tmp_path / "out", "earlier")
    monkeypatch.setattr(nho.runtime.atomic_folder, "_cannot_be_renamed", lambda place: True)
    monkeypatch.setattr(nho.runtime.atomic_folder, "_PATIENCE", 0.1)
    with locked(tmp_path / "out"), pytest.raises(CannotWrite, match="another process writes it"):
        put(tmp_path / "out", "new")
    assert content(tmp_path / "out") == {"first": "earlier", "last": "earlier"}
    put(tmp_path / "out", "new")
    assert content(tmp_path / "out") == {"first": "new", "last": "new"}


def test_killed_between_two_files_at_a_mount_point_nothing_reads_as_complete(tmp_path, monkeypatch):
    put(tmp_path / "out", "earlier")
    monkeypatch.setattr(nho.runtime.atomic_folder, "_cannot_be_renamed", lambda place: True)
    real = os.replace

    def killed(source, target):
        real(source, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        put(tmp_path / "out", "new")
    # The mark says that these files are ours, so that the same command may go on.
    assert content(tmp_path / "out") == {"first": "new", MOVING: ""}
    monkeypatch.undo()
    put(tmp_path / "out", "next")
    assert content(tmp_path / "out") == {"first": "next", "last": "next"}


def test_an_error_names_the_folder_that_the_user_knows(tmp_path):
    with pytest.raises(CannotWrite) as raised:
        with whole_folder(tmp_path / "out", "last", anything) as staging:
            write_whole(staging / "absent" / "file", "x")
    assert str(raised.value).startswith(f"{tmp_path / 'out'}: cannot be written")
    assert ".nho-" not in str(raised.value) and names(tmp_path) == []


# Single files


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_file_that_cannot_be_finished_leaves_the_earlier_one_and_nothing_else(
    error, tmp_path, monkeypatch
):
    path = tmp_path / "file"
    write_whole(path, "earlier")

    def fail(*_):
        raise error

    monkeypatch.setattr(os, "replace", fail)
    expected = CannotWrite if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        write_whole(path, b"new")
    assert names(tmp_path) == ["file"] and path.read_text() == "earlier"


def test_unfinished_files_are_swept_and_no_others(tmp_path):
    mine = [".nho-0123456789ab.part", ".nho-ffffffffffff.part"]
    others = [".nho-0123456789ab", "nho-0123456789ab.part", ".part", ".nho-out.abcdefgh"]
    for name in (*mine, *others):
        (tmp_path / name).write_text("x")
    sweep_parts([tmp_path, tmp_path / "absent"])
    assert names(tmp_path) == sorted(others)


@pytest.mark.parametrize(
    ("number", "remedy"), [(28, "make room"), (27, "make room"), (30, "may write"), (2, "folder")]
)
def test_what_the_system_says_comes_with_a_remedy(number, remedy):
    shown = str(CannotWrite.to("out", OSError(number, os.strerror(number))))
    assert shown.startswith(f"out: cannot be written ({os.strerror(number)}); ") and remedy in shown
