"""Other systems: what can be found out about them without having them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nho.runtime import atomic_file
from nho.runtime.file_names import is_device
from nho.runtime.memory import readable_size


@pytest.mark.skipif(sys.platform != "linux", reason="pretends from Linux to be another system")
def test_nothing_needs_what_windows_does_not_have(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.runtime.elsewhere", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".nho-")] == []


def test_a_terminal_that_lacks_signs_of_a_name_shows_them_spelt_out(tmp_path: Path) -> None:
    folder = tmp_path / "\u6587\u2192"
    variables = {**os.environ, "NHO_CACHE": str(folder), "PYTHONIOENCODING": "cp1252"}
    command = [sys.executable, "-m", "nho", "cache", "info"]
    done = subprocess.run(
        command, env=variables, capture_output=True, timeout=120, check=False, encoding="cp1252"
    )
    assert done.returncode == 0, done.stderr
    assert r"\u6587\u2192" in done.stdout


def test_a_file_that_somebody_reads_is_replaced_as_soon_as_that_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, which replaces no file that is open."""
    refusals = [PermissionError(13, "Access is denied")] * 3
    real = os.replace

    def replace(source: Path, target: Path) -> None:
        if refusals:
            raise refusals.pop()
        real(source, target)

    monkeypatch.setattr(atomic_file.os, "replace", replace)
    monkeypatch.setattr(atomic_file.sys, "platform", "win32")
    atomic_file.write_whole(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "new" and refusals == []


@pytest.mark.parametrize("name", ["CON", "con.ply", "Nul.tar.gz", "com1", "LPT9.csv", "aux .ply"])
def test_devices_of_windows_are_known_by_any_suffix(name: str) -> None:
    assert is_device(name) and not is_device(f"x{name}")


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 bytes"),
        (999, "1.0 kB"),
        (65_536, "65.5 kB"),
        (999_999, "1.0 MB"),
        (512 * 2**20, "536.9 MB"),
        (6.4e9, "6.4 GB"),
    ],
)
def test_sizes_are_readable(size: float, words: str) -> None:
    assert readable_size(size) == words
