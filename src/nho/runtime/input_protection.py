"""Inputs are never overwritten: outputs are compared with them by what they are, not by name."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from nho.errors import InputError

PathLike = str | os.PathLike[str]
_Identity = tuple[int, int]  # device and number: one for all links and spellings of a name


class InputFiles:
    """The files and folders that a command reads; those that are not there are left out."""

    def __init__(self, paths: Iterable[PathLike] = ()) -> None:
        self._files: dict[_Identity, str] = {}
        self._folders: dict[_Identity, str] = {}
        self._above: dict[_Identity, str] = {}  # the folders that hold any of them, at any depth
        known: set[Path] = set()
        for path in (os.fspath(path) for path in paths):
            identity = _identity(path)
            if identity is None:
                continue
            (self._folders if os.path.isdir(path) else self._files)[identity] = path
            # Of a link that is an input, both its own place and what it leads to must stay.
            for place in (os.path.abspath(path), os.path.realpath(path)):
                for parent in Path(place).parents:
                    if parent in known:
                        break
                    known.add(parent)
                    if (above := _identity(parent)) is not None:
                        self._above.setdefault(above, path)

    def refuse_file(self, out: PathLike) -> None:
        """Raise an `InputError` if writing this file would overwrite an input."""
        identity = _identity(out)
        if identity is None:
            return
        found = self._files.get(identity)
        if found is not None:
            raise InputError(f"{out}: this is an input{_also(found, out)}; give another --out")
        self.refuse_inside(out)

    def refuse_folder(self, folder: PathLike) -> None:
        """Raise an `InputError` if replacing this folder would take an input with it."""
        identity = _identity(folder)
        if identity is None:
            return
        found = self._folders.get(identity) or self._above.get(identity)
        if found is None and self._files:
            inside = (_identity(os.path.join(folder, name)) for name in _names(folder))
            found = next((self._files[each] for each in inside if each in self._files), None)
        if found is not None:
            raise InputError(
                f"{folder}: holds an input{_also(found, folder)}, which would be overwritten; give "
                "another --out"
            )

    def refuse_inside(self, out: PathLike) -> None:
        """Raise an `InputError` for a place in a folder that is an input, or for the folder."""
        for place in (Path(os.path.realpath(out)), *Path(os.path.realpath(out)).parents):
            found = self._folders.get(_identity(place) or (-1, -1))
            if found is not None:
                raise InputError(f"{out}: lies in the input {found}; give another --out")


NO_INPUTS = InputFiles()


def listed_files(text: str) -> list[Path]:
    """Files of a list with commas, as the setting ``checkpoints`` has them."""
    return [Path(word.strip()).expanduser() for word in text.split(",") if word.strip()]


def _identity(path: PathLike) -> _Identity | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _names(folder: PathLike) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # a file, or a folder that another process exchanges this moment
        return []


def _also(found: str, out: PathLike) -> str:
    """The name of the input, unless it is the one just named."""
    return "" if os.path.abspath(found) == os.path.abspath(out) else f" ({found})"
