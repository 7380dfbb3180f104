"""Marks on disk after every change, found again when the same two meshes are opened."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nho.errors import CannotWrite, InputError, MissingFile
from nho.io.landmarks import clean_name
from nho.runtime.atomic_file import replace, write_whole
from nho.runtime.input_file import read_text
from nho.studio.marks import MOST_PAIRS, STATES, Mark, MarkedPair, Marks
from nho.studio.shape import ShownShape

_FORMAT = 1
_LARGEST = 16 * 2**20  # bytes; far more than the most pairs take
_UNREADABLE = (InputError, ValueError, TypeError, KeyError, ArithmeticError, RecursionError)


def state_folder() -> Path:
    """``NHO_STUDIO_STATE``, else the usual place for the state of a user's programs."""
    chosen = os.environ.get("NHO_STUDIO_STATE")
    if chosen:
        return Path(chosen)
    base = Path(os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA") or "")
    try:
        known = base if base.is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError as problem:  # a user without a home, as in some containers
        raise InputError(
            f"no place to save marks in ({problem}); set NHO_STUDIO_STATE to a folder"
        ) from problem
    folder = known / "nho" / "studio"
    with suppress(OSError):  # earlier versions let others in
        folder.chmod(0o700)
    return folder


class Autosave:
    """The file of one pair of meshes, known by their content."""

    def __init__(self, folder: Path, partial: ShownShape, full: ShownShape) -> None:
        self.path = folder / f"{partial.digest[:24]}-{full.digest[:24]}.json"
        self._faces = {"partial": partial.mesh.n_faces, "full": full.mesh.n_faces}

    def write(self, marks: Marks) -> None:
        """Replace the file as a whole, for this user alone; without marks there is none."""
        if marks.pairs:
            content = json.dumps({"format": _FORMAT, **asdict(marks)}, indent=1)
            write_whole(self.path, content, parents=True, private=True)
            return
        try:
            self.path.unlink(missing_ok=True)
        except NotADirectoryError:  # nothing was ever saved there
            return
        except OSError as problem:
            raise CannotWrite.to(self.path, problem) from problem

    def read(self) -> Marks:
        """The marks saved last; none if there is no file.

        Raises
        ------
        InputError
            If the file is damaged, does not fit the meshes or is of another version.
        """
        try:
            return marks_from_json(json.loads(read_text(self.path, _LARGEST)), self._faces)
        except MissingFile:
            return Marks()
        except _UNREADABLE as problem:
            raise InputError(
                f"the marks saved for these meshes are unreadable ({problem})"
            ) from problem

    def set_aside(self) -> Path | None:
        """Keep a file that cannot be read under another name; None if that fails."""
        aside = self.path.with_suffix(".unreadable.json")
        try:
            replace(self.path, aside)
        except OSError:
            return None
        return aside


def marks_from_json(about: Any, n_faces: Mapping[str, int]) -> Marks:
    """Marks from what `Autosave.write` wrote; damage is any exception."""
    if about["format"] != _FORMAT:
        raise ValueError("written by another version of nho")

    def side(entry: Any, name: str) -> Mark | None:
        if entry[name] is None:
            return None
        face = int(entry[name]["face"])
        a, b, c = (float(weight) for weight in entry[name]["barycentric"])
        inside = min(a, b, c) >= -1e-6 and abs(a + b + c - 1) < 1e-6
        if not (0 <= face < n_faces[name] and inside):
            raise ValueError("a mark lies outside of its mesh")
        return Mark(face, (a, b, c))

    def pair(entry: Any) -> MarkedPair:
        key = int(entry["key"])
        name = clean_name(str(entry["name"])) or str(key)
        state = entry.get("state", "parked")  # older files have none
        if state not in STATES:
            raise ValueError(f"a pair is {state!r}")
        return MarkedPair(key, name, side(entry, "partial"), side(entry, "full"), state)

    pairs = tuple(map(pair, about["pairs"]))
    if len(pairs) > MOST_PAIRS:
        raise ValueError(f"more than {MOST_PAIRS} pairs")
    if len({pair.key for pair in pairs}) < len(pairs):
        raise ValueError("two pairs have one key")
    return Marks(pairs)
