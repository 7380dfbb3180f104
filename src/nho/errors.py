"""The errors a user can meet. Their text is the message: what, where, and the remedy."""

from __future__ import annotations

import errno
import os
from pathlib import Path

_LONGEST = 1000  # characters of a message


class NhoError(Exception):
    """Base of every error that `nho` raises on purpose."""


class SolverError(NhoError):
    """A linear or eigen-solver gave up, after every retry; the text names the surface."""


class InputError(NhoError):
    """Something the user gave cannot be used; the text names the file, the index and a remedy.

    Messages quote what they complain about, and a damaged file may hold anything: the text is
    made one printable line, shortened in the middle, so that it can go to a terminal or a table.
    """

    def __init__(self, message: str) -> None:
        super().__init__(_one_readable_line(message))


class MissingFile(InputError):
    """A file that was to be read is not there."""

    path = Path()

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> MissingFile:
        """The error for a path."""
        error = cls(f"{path}: there is no such file; check the path")
        error.path = Path(path)
        return error


class CannotWrite(InputError):
    """A file or folder cannot be written: a matter of the place, not of what was to be written."""

    @classmethod
    def to(cls, place: str | Path, problem: OSError) -> CannotWrite:
        """The error for a place, from what the system said about it."""
        remedy = _REMEDIES.get(problem.errno or 0, "give another place")
        return cls(f"{place}: cannot be written ({problem.strerror or problem}); {remedy}")


_FORBIDDEN = "give a place you may write to"
_NO_ROOM = "make room there or give another place"
_REMEDIES = {
    errno.ENOSPC: _NO_ROOM,
    errno.EDQUOT: _NO_ROOM,
    errno.EFBIG: _NO_ROOM,
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.EROFS: _FORBIDDEN,
    errno.ENOENT: "make its folder first",
    errno.ENAMETOOLONG: "give a shorter name",
}


def _one_readable_line(text: str) -> str:
    if not text.isprintable():
        escaped = (repr(character)[1:-1] for character in text.replace("\n", " "))
        text = "".join(escaped)
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[: half - 3]} ... {text[2 - half :]}"
