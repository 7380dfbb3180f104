"""The command `nho studio`: how it ends, and what it leaves."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from nho.geometry.mesh import Mesh
from tests.faults.running import Process, start


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
