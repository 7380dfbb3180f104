"""What the studio reads: its autosaved marks, and the messages of its page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np

from nho.errors import InputError
from nho.io.attributes import Attributes, Texture
from nho.report.textures import MOST_PIXELS, page_image
from nho.report.thumbnail import png
from nho.studio import routes
from nho.studio.autosave import Autosave
from nho.studio.chosen_look import checked_look
from nho.studio.handler import decoded
from nho.studio.marks import Mark, Marks
from nho.studio.project import read_project
from nho.studio.session import Session
from nho.studio.shape import ShownShape
from tests.fuzz import seeds
from tests.fuzz.target import Scratch, Target, serving

_SHAPES = (ShownShape(seeds.PARTIAL, 1), ShownShape(seeds.FULL, 2))
_FACES = (seeds.PARTIAL.n_faces, seeds.FULL.n_faces)
_VERBS = ("place", "move", "rename", "remove", "measure", "clear", "undo", "redo")


def _check(marks: Marks) -> None:
    assert len({pair.key for pair in marks.pairs}) == len(marks.pairs)
    for pair in marks.pairs:
        for mark, n_faces in zip((pair.partial, pair.full), _FACES, strict=True):
            if mark is not None:
                assert 0 <= mark.face < n_faces
                assert np.isfinite(mark.barycentric).all()
                assert abs(sum(mark.barycentric) - 1) < 1e-5


def _autosave() -> Callable[[bytes], object]:
    scratch = Scratch()
    saved = Autosave(scratch.path, *_SHAPES)
    scratch.file(saved.path.name)

    def read() -> None:
        marks = saved.read()
        _check(marks)
        if not marks.pairs:
            raise InputError("no marks")  # ignored, as it should be

    return serving(saved.path, read)


def _messages() -> Callable[[bytes], object]:
    """A message of the page to every verb; marks stay valid whatever it says."""
    session = Session(Scratch().path, lambda event: None)
    session.open("partial", seeds.PARTIAL)
    session.open("full", seeds.FULL)
    studio = SimpleNamespace(session=session)
    first = Marks().added(Mark(0, (0.2, 0.3, 0.5)), Mark(1, (1.0, 0.0, 0.0)))

    def read(data: bytes) -> None:
        about = decoded(data)
        refusal: InputError | None = None
        with mock.patch.object(Autosave, "write"):
            for verb in _VERBS:
                session.change(lambda _: first)
                try:
                    assert routes.post(studio, verb, about) is not None  # type: ignore[arg-type]
                except InputError as problem:
                    refusal = problem
                _check(session.marks)
                json.dumps(session.state(), allow_nan=False)
        if refusal is not None:
            raise refusal

    return read


def _projects() -> Callable[[bytes], object]:
    """A project file: its marks are valid, and its meshes can be shown."""
    scratch = Scratch()
    path = scratch.file("project.nho")

    def read() -> None:
        project = read_project(path)
        _check(project.marks)
        for found in project.meshes.values():
            ShownShape(found.mesh, 1, found.attributes).described()

    return serving(path, read)


def _look(data: bytes) -> None:
    """How a page, or a project, says that it shows the shapes."""
    json.dumps(checked_look(decoded(data)), allow_nan=False)


def _image(data: bytes) -> None:
    """An image of a texture; it is never decoded here if a browser can do that."""
    shown = page_image(Texture("skin.png", data))
    assert 0 < shown.width * shown.height <= MOST_PIXELS


def studio_targets() -> dict[str, Target]:
    """By name."""
    scratch = Scratch()
    saved = Autosave(scratch.path, *_SHAPES)
    marks = Marks().added(Mark(0, (0.2, 0.3, 0.5)), Mark(1, (1.0, 0.0, 0.0)), "nose")
    saved.write(marks.placed("partial", Mark(2, (0.5, 0.5, 0.0))))
    message = {"side": "partial", "key": 1, "name": "chin"}
    ray = {"origin": [0.0, 0.0, 4.0], "direction": [0.0, 0.0, -1.0]}
    ends = {"start": ray, "end": ray}
    session = Session(scratch.path, lambda event: None)
    session.open("partial", seeds.PARTIAL)
    skin = png(np.full((3, 5, 4), 200, dtype=np.uint8))
    uv = np.linspace(0, 1, 6 * seeds.FULL.n_faces).reshape(-1, 3, 2)
    labels = {"part": np.arange(seeds.FULL.n_vertices)}
    textured = Attributes(vertex=labels, uv=uv, textures=(Texture("skin.png", skin),))
    session.open("full", seeds.FULL, textured)
    camera = {"rotation": [1, 0, 0, 0, 1, 0, 0, 0, 1], "pan": [0, 0], "zoom": 2.5}
    look = {"view": "shape", "own": True, "cut": {"full": 40}, "cameras": {"partial": camera}}
    session.show_as(look)
    jpeg = b"\xff\xd8\xff\xe0\0\4ab\xff\xc0\0\x11\x08\0\5\0\7\3" + bytes(20)
    return {
        "studio-look": Target(".json", _look, (json.dumps(look).encode(),)),
        "studio-image": Target(".png", _image, (skin, jpeg)),
        "studio-project": Target(".nho", _projects(), (session.project(),)),
        "studio-marks": Target(".json", _autosave(), (Path(saved.path).read_bytes(),)),
        "studio-message": Target(
            ".json", _messages(), (json.dumps(message | ray | ends).encode(),)
        ),
    }
