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
_CLEARLY = 5.0  # times: a shape that fits so much better is the one
_LONGEST = 100  # characters of a file name, and twice as many bytes; file systems end at 255


def take(session: Session, received: Path, name: str, side: Side | None) -> str:
    """Open what was received; returns the side that it went to, empty if only a person can tell.

    Parameters
    ----------
    name : str
        What the user calls the file; decides what it is, never where it is put.
    side : {"partial", "full"} or None
        Where the user dropped it; None = landmarks go where they fit.
    """
    name = safe_name(name)
    folder = received.with_name(received.name + ".d")
    try:
        path = folder / name
        try:
            folder.mkdir()
            shutil.move(received, path)
        except OSError as problem:
            raise CannotWrite.to(folder.parent, problem) from problem
        if name.lower().endswith(SUFFIX):
            session.open_project(read_project(path))
            return "both"
        if name.lower().endswith(MESH_FILES) and not _landmarks_in_pts(path):
            if side is None:
                raise InputError(f"{name}: drop a mesh on the scan (left) or template (right)")
            session.open(side, *read_with_attributes(path))
            return side
        elif name.lower().endswith((*LANDMARK_FILES, *DATA_FILES)):
            return _take_points_or_data(session, path, side)
        else:
            known = ", ".join((*MESH_FILES, *LANDMARK_FILES))
            raise InputError(f"{name}: neither a mesh nor landmarks; their names end in {known}")
    except NhoError as problem:
        # Where the file lay meanwhile is nothing the user knows.
        raise InputError(str(problem).replace(f"{folder}{os.sep}", "")) from problem
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
    misfit = dict[Side, float]()
    for side, shape in session.shapes.items():
        if shape is None:
            continue
        try:
            _, gaps = landmarks.on(shape.mesh, side)
        except InputError:  # beyond its vertices, or far away from it
            continue
        misfit[side] = float(np.median(gaps)) / shape.frame[1]
    fitting = sorted(misfit, key=lambda side: misfit[side])
    if len(fitting) == 2 and misfit[fitting[1]] < max(_FITS, _CLEARLY * misfit[fitting[0]]):
        return None
    return fitting[0] if fitting else None


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
