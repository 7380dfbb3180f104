"""Marks on disk after every change, found again when the same two meshes are opened."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nho.errors import CannotWrite
from nho.runtime.atomic_file import write_whole
from nho.studio.marks import Mark, MarkedPair, Marks
from nho.studio.shape import ShownShape

log = logging.getLogger(__name__)

_FORMAT = 1
_UNREADABLE = (OSError, ValueError, TypeError, KeyError, ArithmeticError, RecursionError)


def state_folder() -> Path:
    """``NHO_STUDIO_STATE``, else the usual place for the state of a user's programs."""
    chosen = os.environ.get("NHO_STUDIO_STATE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".local" / "state") / "nho" / "studio"


class Autosave:
    """The file of one pair of meshes, known by their content.

    Like a cache it never fails: what cannot be written or read is only logged.
    """

    def __init__(self, folder: Path, partial: ShownShape, full: ShownShape) -> None:
        self.path = folder / f"{partial.digest[:24]}-{full.digest[:24]}.json"
        self._faces = {"partial": partial.mesh.n_faces, "full": full.mesh.n_faces}

    def write(self, marks: Marks) -> None:
        """Replace the file as a whole; without marks there is none."""
        try:
            if marks.pairs:
                content = {"format": _FORMAT, **asdict(marks)}
                write_whole(self.path, json.dumps(content, indent=1), parents=True)
            else:
                self.path.unlink(missing_ok=True)
        except (CannotWrite, OSError) as problem:
            log.warning("marks cannot be saved (%s)", problem)

    def read(self) -> Marks:
        """The marks saved last; none if there is no file or it does not fit the meshes."""
        try:
            return _from_json(json.loads(self.path.read_text(encoding="utf-8")), self._faces)
        except FileNotFoundError:
            return Marks()
        except _UNREADABLE as problem:
            log.warning("%s: ignored, not readable (%s)", self.path, problem)
            return Marks()


def _from_json(about: Any, n_faces: dict[str, int]) -> Marks:
    if about["format"] != _FORMAT:
        raise ValueError("written by another version")

    def side(entry: Any, name: str) -> Mark | None:
        if entry[name] is None:
            return None
        face = int(entry[name]["face"])
        a, b, c = (float(weight) for weight in entry[name]["barycentric"])
        inside = min(a, b, c) >= -1e-6 and abs(a + b + c - 1) < 1e-6
        if not (0 <= face < n_faces[name] and inside):
            raise ValueError("a mark lies outside of its mesh")
        return Mark(face, (a, b, c))

    pairs = tuple(
        MarkedPair(int(e["key"]), str(e["name"]), side(e, "partial"), side(e, "full"))
        for e in about["pairs"]
    )
    if len({pair.key for pair in pairs}) < len(pairs):
        raise ValueError("two pairs have one key")
    return Marks(pairs)
