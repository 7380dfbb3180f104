"""Files that come from the page: meshes and landmarks, by what they are called."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from nho.errors import CannotWrite, InputError, NhoError
from nho.evaluation.sample import load_sample
from nho.geometry.mesh import Mesh
from nho.io.landmarks import READABLE as LANDMARK_FILES
from nho.io.landmarks import holds_pairs, read_landmarks, read_pairs
from nho.io.meshes import READABLE as MESH_FILES
from nho.runtime.file_names import is_device
from nho.runtime.input_file import read_bytes
from nho.studio.marks import Marks, Side, mark_at
from nho.studio.session import Session

_LONGEST = 100  # characters of a file name, and twice as many bytes; file systems end at 255


def take(session: Session, received: Path, name: str, side: Side | None) -> None:
    """Open what was received.

    Parameters
    ----------
    name : str
        What the user calls the file; decides what it is, never where it is put.
    side : {"partial", "full"} or None
        Where the user dropped it.
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
        if name.lower().endswith(MESH_FILES) and not _landmarks_in_pts(path):
            if side is None:
                raise InputError(f"{name}: drop a mesh on the scan (left) or template (right)")
            session.open(side, Mesh.read(path))
        elif name.lower().endswith(LANDMARK_FILES):
            if side is None and not holds_pairs(path):
                raise InputError(f"{name}: it holds the points of one shape; drop it on that shape")
            take_landmarks(session, [path], side)
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


def take_landmarks(session: Session, files: list[Path], side: Side | None = None) -> None:
    """Landmarks of one shape, or pairs from one file or two; pairs replace all marks."""
    if side is not None and len(files) == 1 and not holds_pairs(files[0]):
        _take_side(session, files[0], side)
        return
    partial, full = session.both()
    pairs = read_pairs(files).complete()
    of_partial, _ = pairs.partial.on(partial.mesh, "partial")
    of_full, _ = pairs.full.on(full.mesh, "full")
    marks = Marks()
    for row, name in enumerate(pairs.names):
        marks = marks.added(mark_at(of_partial, row), mark_at(of_full, row), name)
    session.change(lambda _: marks, "; ".join(pairs.notes))


def _take_side(session: Session, file: Path, side: Side) -> None:
    """Landmarks of one shape, which may be the only one so far."""
    landmarks = read_landmarks(file)
    points, _ = landmarks.on(session.shape(side).mesh, side)
    named = [
        (name, mark_at(points, row))
        for row, name in enumerate(landmarks.names)
        if points.face[row] >= 0
    ]
    session.change(lambda marks: marks.with_landmarks(side, named), "; ".join(landmarks.notes))


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
