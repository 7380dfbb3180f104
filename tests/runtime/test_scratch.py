"""Temporary folders: they end with their process, and only those of this user are touched."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from nho.errors import CannotWrite
from nho.runtime.scratch import ScratchFolder

_LEFT = """
import os
from nho.runtime.scratch import ScratchFolder
made = ScratchFolder("studio")
(made.path / "upload").write_bytes(b"x")
print(made.path, flush=True)
input()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def started(temporary: Path) -> tuple[subprocess.Popen[str], Path]:
    variables = {**os.environ, "TMPDIR": str(temporary), "TEMP": str(temporary)}
    command = [sys.executable, "-c", _LEFT]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen(command, text=True, env=variables, **pipes)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_what_a_killed_process_left_is_removed_at_the_next_start_and_not_before(
    temporary: Path,
) -> None:
    process, left = started(temporary)
    with process:
        ScratchFolder("studio").remove()
        assert (left / "upload").exists()
        process.kill()
        process.wait()
        assert (left / "upload").exists()
        ScratchFolder("studio").remove()
    assert list(temporary.iterdir()) == []


def test_two_in_one_process_leave_each_other_alone(temporary: Path) -> None:
    first, second = ScratchFolder("studio"), ScratchFolder("studio")
    assert first.path.is_dir() and second.path.is_dir() and first.path != second.path
    first.remove()
    assert second.path.is_dir()
    second.remove()
    assert list(temporary.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files")
def test_folders_of_others_links_and_other_names_stay(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = temporary / "nho-studio-abcdefgh"
    precious = temporary / "precious"
    for folder in (
        others,
        precious,
        temporary / "nho-studio-notours!",
        temporary / "my-nho-studio",
    ):
        folder.mkdir()
        (folder / "lock").touch()
        (folder / "file").touch()
    (temporary / "nho-studio-12345678").symlink_to(precious)
    with monkeypatch.context() as patch:
        owner = os.getuid()
        patch.setattr(os, "getuid", lambda: owner + 1)
        ScratchFolder("studio").remove()
    assert (others / "file").exists()
    ScratchFolder("studio").remove()
    assert not others.exists()  # so it was the owner that had kept it
    left = {path.name for path in temporary.iterdir()}
    assert left == {"precious", "nho-studio-notours!", "my-nho-studio", "nho-studio-12345678"}
    assert (precious / "file").exists()


def test_a_folder_without_a_lock_is_left_for_an_hour(temporary: Path) -> None:
    young, aged = temporary / "nho-studio-aaaaaaaa", temporary / "nho-studio-bbbbbbbb"
    young.mkdir()
    aged.mkdir()
    os.utime(aged, (0, 0))
    ScratchFolder("studio").remove()
    assert list(temporary.iterdir()) == [young]


def test_a_removed_folder_comes_back(temporary: Path) -> None:
    made = ScratchFolder("studio")
    made.path.rmdir()
    assert made.path.is_dir() and len(list(temporary.iterdir())) == 1
    made.remove()
    assert list(temporary.iterdir()) == []


def test_no_place_for_it_is_a_sentence(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "missing"))
    with pytest.raises(CannotWrite, match="TMPDIR"):
        ScratchFolder("studio")
