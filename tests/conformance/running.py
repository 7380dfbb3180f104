"""Give a class to `nho.match` and to `nho match`, once each, and keep what came of it."""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import nho
from nho.cli import main
from nho.io.meshes import write_arrays
from tests.conformance.given import REFUSED, Case, Given, Shape

ROLES = {"partial": "scan.ply", "full": "template.ply", "anchors": "pairs.csv"}


@dataclass(frozen=True)
class Told:
    """What one way in made of a class: a result or a refusal, and every message."""

    given: Given
    folder: Path
    result: nho.MatchResult | None
    messages: tuple[str, ...]
    error: BaseException | None = None
    code: int = 0
    stdout: str = ""
    stderr: str = ""
    before: tuple[str, ...] = ()

    @property
    def out(self) -> Path:
        """Output folder of the command."""
        return self.folder / self.given.out


def through_python(case: Case, folder: Path, settings: nho.Settings | None = None) -> Told:
    """`nho.match` with arrays, or with a path where the class is about a file."""
    given = case.make()
    shapes = [
        (shape.vertices, shape.faces) if shape.file is None else _write(shape, folder, role)
        for shape, role in ((given.partial, "partial"), (given.full, "full"))
    ]
    pairs = given.pairs()
    if isinstance(pairs, str | bytes | Path | dict):
        pairs = _write_anchors(pairs, folder)
    try:
        result = nho.match(shapes[0], shapes[1], pairs, settings)
    except nho.InputError as error:
        return Told(given, folder, None, (str(error),), error)
    return Told(given, folder, result, (*result.warnings, *result.notes))


def through_command(case: Case, folder: Path) -> Told:
    """`nho match` with files, in this process."""
    given = case.make()
    partial = _write(given.partial, folder, "partial")
    full = _write(given.full, folder, "full")
    pairs = _write_anchors(given.pairs(), folder)
    before = listing(folder)
    options = [part for path in pairs for part in ("--anchors", path)]
    arguments = ["match", partial, full, *options, "--out", folder / given.out]
    code, stdout, stderr = call(*arguments)
    result = nho.MatchResult.load(folder / given.out) if code == 0 else None
    messages = tuple(stderr.splitlines()) if result is None else (*result.warnings, *result.notes)
    return Told(given, folder, result, messages, None, code, stdout, stderr, before)


def call(*arguments: Any) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command ``nho``."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = None
    with (
        mock.patch.object(sys, "argv", ["nho", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    return code, out.getvalue(), err.getvalue()


def listing(folder: Path) -> tuple[str, ...]:
    """Everything in a folder and below."""
    return tuple(sorted(str(entry.relative_to(folder)) for entry in folder.rglob("*")))


def names(case: Case, told: Told, by_file: bool) -> tuple[str, ...]:
    """What the message must name: files by name, arrays by role."""
    roles = ("partial", "full") if case.culprit == "pair" else (case.culprit,)
    wanted = []
    for role in roles:
        if role == "anchors":
            if isinstance(told.given.anchors, dict):  # the words of the class name the files
                continue
            of_file = by_file or isinstance(told.given.anchors, str | bytes | Path)
            wanted.append(ROLES[role] if of_file and case.outcome == REFUSED else "anchor")
            continue
        shape: Shape = getattr(told.given, role)
        in_file = by_file or shape.file is not None
        wanted.append((shape.name or ROLES[role]) if in_file else f"{role} mesh")
    return tuple(wanted)


def _write(shape: Shape, folder: Path, role: str) -> Path:
    path = folder / (shape.name or ROLES[role])
    if shape.file is not None:
        path.write_bytes(shape.file)
    else:
        faces = np.asarray(shape.faces, dtype=np.int64)
        write_arrays(path, np.asarray(shape.vertices, dtype=np.float64), faces)
    return path


def _write_anchors(anchors: Any, folder: Path) -> tuple[Path, ...]:
    if isinstance(anchors, dict):
        for name, content in anchors.items():
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return tuple(folder / name for name in anchors)
    path = folder / ROLES["anchors"]
    if isinstance(anchors, bytes):
        path.write_bytes(anchors)
    elif isinstance(anchors, str):
        path.write_text(anchors, encoding="utf-8")
    elif not isinstance(anchors, Path):  # a Path stands for a file that is not there
        rows = "".join(f"{p!r},{q!r}\n" for p, q in np.asarray(anchors).tolist())
        path.write_text("partial,full\n" + rows, encoding="utf-8")
    return (path,)
