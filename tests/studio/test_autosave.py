"""Saved marks: for their user alone, and never lost without a word."""

from __future__ import annotations

import errno
import os
import sys
import threading
from pathlib import Path

import pytest

from nho.errors import CannotWrite, InputError
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut
from nho.studio import Studio, autosave
from nho.studio.autosave import state_folder
from nho.studio.shape import ShownShape
from tests.studio.test_server import opened

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="no permission bits")


@POSIX
def test_nobody_else_can_read_what_is_saved(
    studio: Studio, whole: Mesh, piece: Cut, tmp_path: Path
) -> None:
    mask = os.umask(0)
    try:
        opened(studio, whole, piece, 2)
    finally:
        os.umask(mask)
    (saved,) = (tmp_path / "state").iterdir()
    assert saved.stat().st_mode & 0o777 == 0o600
    assert saved.parent.stat().st_mode & 0o777 == 0o700


@POSIX
def test_the_usual_folder_is_closed_to_others_and_a_chosen_one_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "nho" / "studio"
    folder.mkdir(parents=True)
    for place in (tmp_path, folder):
        place.chmod(0o755)
    monkeypatch.delenv("NHO_STUDIO_STATE", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == folder and folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("NHO_STUDIO_STATE", str(tmp_path))
    assert state_folder() == tmp_path and tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("NHO_STUDIO_STATE", "XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(autosave.Path, "home", homeless)
    with pytest.raises(InputError, match="NHO_STUDIO_STATE"):
        state_folder()


@pytest.mark.parametrize(
    "text",
    [
        '{"format": 2, "pairs": []}',
        '{"format": 0}',
        "{",
        "[" * 100_000,
        '{"format": 1, "pairs": 5}',
    ],
)
def test_marks_of_another_version_are_kept_aside_and_named(
    studio: Studio, whole: Mesh, piece: Cut, tmp_path: Path, text: str
) -> None:
    opened(studio, whole, piece, 2)
    (saved,) = (tmp_path / "state").iterdir()
    saved.write_text(text)
    studio.session.open("full", whole)
    notice = studio.session.state()["notice"]
    opened(studio, whole, piece, 1)  # saves over it
    aside = saved.with_suffix(".unreadable.json")
    assert aside.read_text() == text
    assert notice["kind"] == "error" and str(aside) in notice["text"]


def test_a_disk_without_room_stops_nobody_and_everybody_learns_of_it(
    studio: Studio, whole: Mesh, piece: Cut, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened(studio, whole, piece, 2)
    (saved,) = (tmp_path / "state").iterdir()
    before = saved.read_bytes()

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise CannotWrite.to(path, OSError(errno.ENOSPC, "No space left on device"))

    with monkeypatch.context() as patch:
        patch.setattr(autosave, "write_whole", refuse)
        studio.session.change(lambda marks: marks.renamed(1, "nose"))
    notice = studio.session.state()["notice"]
    assert notice["kind"] == "error" and "not saved" in notice["text"]
    assert "No space left" in studio.session.unsaved and saved.read_bytes() == before
    studio.session.change(lambda marks: marks.renamed(1, "chin"))
    assert studio.session.unsaved == "" and b"chin" in saved.read_bytes()


def test_the_mesh_that_was_chosen_last_stays_however_long_the_other_takes(
    studio: Studio, whole: Mesh, piece: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    prepare = ShownShape.prepare

    def slowly(shape: ShownShape) -> None:
        if shape.mesh is whole:
            begun.set()
            go_on.wait(60)
        prepare(shape)

    monkeypatch.setattr(ShownShape, "prepare", slowly)
    opening = threading.Thread(target=studio.session.open, args=("full", whole))
    opening.start()
    assert begun.wait(60)
    studio.session.open("full", piece.mesh)
    go_on.set()
    opening.join(60)
    assert studio.session.shape("full").mesh is piece.mesh
