"""Files that come from the page: meshes and landmarks, by what they are called."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from nho.errors import CannotWrite, InputError, NhoError
from nho.evaluation.sample import load_sample
from nho.io.attributes import DATA_FILES, read_data, read_with_attributes
from nho.io.landmarks import READABLE as LANDMARK_FILES
from nho.io.landmarks import Landmarks, holds_pairs, read_landmarks, read_pairs
from nho.io.meshes import READABLE as MESH_FILES
from nho.runtime.file_names import is_device
from nho.runtime.input_file import read_bytes
from nho.studio.marks import SIDES, Mark, Marks, Side, mark_at
from nho.studio.project import SUFFIX, read_project
from nho.studio.session import Session

_FITS = 0.01  # radii off the surface: points of another shape are farther
_NO_FIT, _EXACT = 1.0, 1e-6  # radii: farther than any that fits; nearer than files are exact
_CLEARLY = 5.0  # times: a shape that fits so much better is the one
# A page sends what the user chose, not what lies beside it.
_NOT_SENT = "is not beside the mesh file and was left out", "is missing; open both files together"
_MOST_FILES = 64  # of one drop
_LONGEST = 100  # characters of a file name, and twice as many bytes; file systems end at 255


def keep(received: Path, scratch: Path, name: str, drop: str = "") -> Path:
    """Put a received file under the user's name for it into the folder of its drop.

    Parameters
    ----------
    drop : str
        16 hexadecimal digits that all files of one drop share; empty = it comes alone.
    """
    if drop and not re.fullmatch("[0-9a-f]{16}", drop):
        raise InputError("the drop is no number of 16 hexadecimal digits")
    folder = scratch / f"{drop or received.name}.d"
    path = folder / safe_name(name)
    try:
        folder.mkdir(exist_ok=True)
        if len(list(folder.iterdir())) >= _MOST_FILES:
            raise InputError(f"{path.name}: more than {_MOST_FILES} files at once are too many")
        shutil.move(received, path)
    except OSError as problem:
        raise CannotWrite.to(folder.parent, problem) from problem
    return path


def take(session: Session, path: Path, side: Side | None) -> str:
    """Open a kept file; returns the side that it went to, empty if only a person can tell.

    Parameters
    ----------
    path : Path
        Its name decides what it is. What was dropped with it lies beside it: materials and images
        of a mesh, or landmarks of the other shape. All of it is removed.
    side : {"partial", "full"} or None
        Where the user dropped it; None = landmarks go where they fit.
    """
    name = path.name
    try:
        if name.lower().endswith(SUFFIX):
            session.open_project(read_project(path))
            return "both"
        if name.lower().endswith(MESH_FILES) and not _landmarks_in_pts(path):
            if side is None:
                raise InputError(f"{name}: drop a mesh on the scan (left) or template (right)")
            mesh, attributes = read_with_attributes(path)
            notes = (note.replace(*_NOT_SENT) for note in attributes.notes)
            session.open(side, mesh, attributes.replace(notes=tuple(notes)))
            return side
        elif name.lower().endswith((*LANDMARK_FILES, *DATA_FILES)):
            beside = [other for other in sorted(path.parent.iterdir()) if other != path]
            if beside:
                return _take_two(session, beside[0], path)
            return _take_points_or_data(session, path, side)
        else:
            known = ", ".join((*MESH_FILES, *LANDMARK_FILES))
            raise InputError(f"{name}: neither a mesh nor landmarks; their names end in {known}")
    except NhoError as problem:
        # Where the file lay meanwhile is nothing the user knows.
        raise InputError(str(problem).replace(f"{path.parent}{os.sep}", "")) from problem
    finally:
        shutil.rmtree(path.parent, ignore_errors=True)


def _landmarks_in_pts(path: Path) -> bool:
    """Points of Landmark Editor have the suffix of a point cloud, and begin with a version."""
    return path.suffix.lower() == ".pts" and read_bytes(path)[:7].lower() == b"version"


def _take_points_or_data(session: Session, path: Path, side: Side | None) -> str:
    """Landmarks, or else values at the vertices or faces of the shape that they were dropped on."""
    try:
        if holds_pairs(path):
            take_landmarks(session, [path])
            return "both"
        landmarks = read_landmarks(path)
        chosen = side or side_of(landmarks, session)
        if chosen is not None:
            _take_side(session, landmarks, chosen)
        return chosen or ""
    except InputError as problem:
        if side is None or path.suffix.lower() not in DATA_FILES:
            raise
        try:
            session.add_data(side, read_data(path, session.shape(side).mesh))
        except InputError:
            raise problem from None  # most people mean landmarks
        return side


def _take_two(session: Session, first: Path, second: Path) -> str:
    """Landmarks of both shapes, one file each: the better fit of both together decides."""
    for path in (first, second):
        if holds_pairs(path):
            raise InputError(
                f"{path.name}: it holds both shapes, so it is loaded alone; choose only this file"
            )
    both = read_landmarks(first), read_landmarks(second)
    session.both()
    one, other = (_misfits(landmarks, session) for landmarks in both)
    straight, crossed = one["partial"] * other["full"], one["full"] * other["partial"]
    if max(straight, crossed) < _CLEARLY * min(straight, crossed):
        return ""
    sides = SIDES if straight < crossed else SIDES[::-1]
    named = [
        _named_marks(session, landmarks, side) for side, landmarks in zip(sides, both, strict=True)
    ]
    notes = "; ".join((*both[0].notes, *both[1].notes))
    session.change(
        lambda marks: marks.with_landmarks(sides[0], named[0]).with_landmarks(sides[1], named[1]),
        notes,
    )
    return "both"


def take_landmarks(session: Session, files: list[Path]) -> None:
    """Pairs from one file or two, which replace all marks; points without a partner are parked."""
    session.both()
    pairs = read_pairs(files)
    marks = Marks()
    for side, landmarks in zip(SIDES, (pairs.partial, pairs.full), strict=True):
        marks = marks.with_landmarks(
            side, _named_marks(session, replace(landmarks, names=pairs.names), side)
        )
    for side, file in zip(SIDES, files if len(files) == 2 else (), strict=False):
        landmarks = read_landmarks(file)
        if len(landmarks) > len(pairs):  # paired by name, and some names have no partner
            named = _named_marks(session, landmarks, side)
            parked = [entry for entry in named if entry[0] not in pairs.names]
            marks = marks.with_landmarks(side, parked)
    session.change(lambda _: marks, "; ".join(pairs.notes).replace("left out", "parked"))


def side_of(landmarks: Landmarks, session: Session) -> Side | None:
    """The shape that the points of a file lie on; None if they fit both or neither."""
    misfit = _misfits(landmarks, session)
    best, other = sorted(SIDES, key=lambda side: misfit[side])
    if misfit[best] >= _NO_FIT or misfit[other] < max(_FITS, _CLEARLY * misfit[best]):
        return None
    return best


def _misfits(landmarks: Landmarks, session: Session) -> dict[Side, float]:
    """How far the points of a file are from each shape, in its radii."""
    misfit: dict[Side, float] = dict.fromkeys(SIDES, _NO_FIT)
    for side, shape in session.shapes.items():
        if shape is None:
            continue
        try:
            _, gaps = landmarks.on(shape.mesh, side)
        except InputError:  # beyond its vertices, or far away from it
            continue
        misfit[side] = max(float(np.median(gaps)) / shape.frame[1], _EXACT)
    return misfit


def _take_side(session: Session, landmarks: Landmarks, side: Side) -> None:
    """Landmarks of one shape, which may be the only one so far."""
    named = _named_marks(session, landmarks, side)
    session.change(lambda marks: marks.with_landmarks(side, named), "; ".join(landmarks.notes))


def _named_marks(session: Session, landmarks: Landmarks, side: Side) -> list[tuple[str, Mark]]:
    points, _ = landmarks.on(session.shape(side).mesh, side)
    return [
        (name, mark_at(points, row))
        for row, name in enumerate(landmarks.names)
        if points.face[row] >= 0
    ]


def open_sample(session: Session) -> None:
    """The shipped pair."""
    sample = load_sample("plane")
    session.open("partial", sample.partial)
    session.open("full", sample.full)


def safe_name(name: str) -> str:
    """A file name without any way out of its folder."""
    last = re.split(r"[/\\]", name)[-1]
    kept = re.sub(r"[^\w .()+-]", "_", last).strip(" .")[-_LONGEST:]
    kept = kept.encode("utf-8")[-2 * _LONGEST :].decode("utf-8", "ignore").lstrip(" .")
    return f"_{kept}" if is_device(kept) else kept or "file"
