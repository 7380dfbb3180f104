"""The last projects, kept after every match, so that a result survives a restart."""

from __future__ import annotations

import contextlib
import re
import time
from dataclasses import dataclass
from pathlib import Path

from nho.errors import CannotWrite, InputError, NhoError
from nho.runtime.atomic_file import write_whole
from nho.studio.project import SUFFIX, Project, read_project

_KEPT = 8
_LARGEST = 200 * 2**20  # bytes; larger ones are for the user to save


@dataclass(frozen=True)
class Entry:
    """One of the last projects: its file, the names of its meshes, and when it was kept."""

    key: str
    names: str
    seconds: float  # since 1970


class Recent:
    """A folder of projects, named by the content and the names of their meshes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, digests: tuple[str, str], names: tuple[str, str], content: bytes) -> None:
        """Keep a project, and forget the oldest; a full disk stops nobody."""
        if len(content) > _LARGEST:
            return
        clean = "+".join(re.sub(r"[^\w .()-]", "_", name)[:60] for name in names)
        path = self._folder / f"{digests[0][:12]}-{digests[1][:12]} {clean}{SUFFIX}"
        with contextlib.suppress(CannotWrite, OSError):
            for old in self._folder.glob(f"{path.name[:25]} *{SUFFIX}"):
                old.unlink(missing_ok=True)
            write_whole(path, content, parents=True, private=True)
            for old in self._files()[_KEPT:]:
                old.unlink(missing_ok=True)

    def listed(self) -> list[Entry]:
        """The projects that are kept, the newest first."""
        entries = []
        for path in self._files():
            names = path.stem[26:].replace("+", " and ")
            with contextlib.suppress(OSError):
                entries.append(Entry(path.name[:25], names, path.stat().st_mtime))
        return entries

    def read(self, key: str) -> Project:
        """One of them, by its key."""
        for path in self._files():
            if path.name[:25] == key:
                return read_project(path)
        raise InputError("this project is not kept any more; open its meshes again")

    def of(self, digests: tuple[str, str]) -> Project | None:
        """The last project of two meshes, if it is kept and can be read."""
        try:
            return self.read(f"{digests[0][:12]}-{digests[1][:12]}")
        except NhoError:
            return None

    def _files(self) -> list[Path]:
        def age(path: Path) -> float:
            try:
                return time.time() - path.stat().st_mtime
            except OSError:
                return float("inf")

        try:
            return sorted(self._folder.glob(f"*{SUFFIX}"), key=age)
        except OSError:
            return []
