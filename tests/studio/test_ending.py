"""The command `nho studio`: how it ends, and what it leaves."""

from __future__ import annotations

import os
import signal
import webbrowser
from pathlib import Path

import pytest

from nho.geometry.mesh import Mesh
from nho.runtime.interrupts import Stopped
from tests.faults.running import Process, run_here, start


def begun(*words: object, temporary: Path, state: Path) -> Process:
    variables = {"TMPDIR": str(temporary), "NHO_STUDIO_STATE": str(state)}
    process = start("studio", "--no-browser", *words, variables=variables)
    assert process.stdout is not None and "studio at http://" in process.stdout.readline()
    return process


def test_a_kill_leaves_nothing_beyond_the_next_start(tmp_path: Path) -> None:
    temporary, state = tmp_path / "t", tmp_path / "state"
    temporary.mkdir()
    with begun(temporary=temporary, state=state) as process:
        process.kill_all()
    (left,) = temporary.iterdir()
    with begun(temporary=temporary, state=state) as process:
        assert not left.exists() and len(list(temporary.iterdir())) == 1
        process.send_signal(signal.SIGTERM)
        code, out, err = process.ended()
    assert code in (0, 143) and "Traceback" not in err
    assert "anchors are saved" in out and list(temporary.iterdir()) == []


def test_the_last_line_is_true_when_nothing_could_be_saved(tmp_path: Path, whole: Mesh) -> None:
    whole.write(tmp_path / "m.ply")
    (tmp_path / "a.csv").write_text("partial,full\n0,0\n5,5\n")
    (tmp_path / "file").touch()
    words = [tmp_path / "m.ply", tmp_path / "m.ply", "--anchors", tmp_path / "a.csv"]
    with begun(*words, temporary=tmp_path, state=tmp_path / "file") as process:
        os.killpg(process.pid, signal.SIGINT)
        _, out, err = process.ended()
    assert "anchors are not saved" in out and "Traceback" not in err


def test_the_browser_is_started_without_the_token_and_an_early_interrupt_is_heard(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened = []

    def interrupt(address: str) -> None:
        opened.append(address)
        raise Stopped

    monkeypatch.setenv("NHO_STUDIO_STATE", str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", interrupt)
    code, out, err = run_here("studio")
    printed = out.partition("studio at ")[2].split()[0]
    assert code == 0 and "anchors are saved" in out and err == ""
    assert opened[0].startswith("http://127.0.0.1:") and opened[0] != printed
