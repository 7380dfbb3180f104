"""Marks on disk after every change, found again when the same two meshes are opened."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

from nho.errors import CannotWrite
from nho.geometry.mesh import Mesh
from nho.runtime.atomic_file import write_whole
from nho.studio.marks import Mark, MarkedPair, Marks

log = logging.getLogger(__name__)

_FORMAT = 1


def state_folder() -> Path:
    """``NHO_STUDIO_STATE``, else where the user's programs keep what they remember."""
    chosen = os.environ.get("NHO_STUDIO_STATE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".local" / "state") / "nho" / "studio"


class Autosave:
    """The file of one pair of meshes, known by their content.

    Like a cache it never stands in the way: what cannot be written or read is told to the log.
    """

    def __init__(self, folder: Path, partial_digest: str, full_digest: str) -> None:
        self.path = folder / f"{partial_digest[:24]}-{full_digest[:24]}.json"

    def write(self, marks: Marks) -> None:
        """Replace the file as a whole; without marks there is none."""
        try:
            if marks.pairs:
                write_whole(self.path, json.dumps(_as_json(marks), indent=1), parents=True)
            else:
                self.path.unlink(missing_ok=True)
        except (CannotWrite, OSError) as problem:
            log.warning("marks cannot be saved (%s)", problem)

    def read(self, partial: Mesh, full: Mesh) -> Marks:
        """The marks saved last; none if there is no file or it does not fit the meshes."""
        try:
            about = json.loads(self.path.read_text(encoding="utf-8"))
            return _from_json(about, {"partial": partial, "full": full})
        except FileNotFoundError:
            return Marks()
        except (
            OSError,
            ValueError,
            TypeError,
            KeyError,
            ArithmeticError,
            RecursionError,
        ) as problem:
            log.warning("%s: ignored, not readable (%s)", self.path, problem)
            return Marks()


def _as_json(marks: Marks) -> dict[str, Any]:
    def side(mark: Mark | None) -> dict[str, Any] | None:
        if mark is None:
            return None
        return {"face": mark.face, "barycentric": list(mark.barycentric)}

    return {
        "format": _FORMAT,
        "pairs": [
            {"key": p.key, "name": p.name, "partial": side(p.partial), "full": side(p.full)}
            for p in marks.pairs
        ],
    }


def _from_json(about: Any, meshes: dict[str, Mesh]) -> Marks:
    if about["format"] != _FORMAT:
        raise ValueError("written by another version")

    def side(entry: Any, name: str) -> Mark | None:
        if entry[name] is None:
            return None
        face = int(entry[name]["face"])
        a, b, c = (float(weight) for weight in entry[name]["barycentric"])
        inside = min(a, b, c) >= -1e-6 and abs(a + b + c - 1) < 1e-6
        if not (0 <= face < len(meshes[name].faces) and inside):
            raise ValueError("a mark lies outside of its mesh")
        return Mark(face, (a, b, c))

    pairs = tuple(
        MarkedPair(int(e["key"]), str(e["name"]), side(e, "partial"), side(e, "full"))
        for e in about["pairs"]
    )
    if len({pair.key for pair in pairs}) < len(pairs):
        raise ValueError("two pairs have one key")
    return Marks(pairs)
