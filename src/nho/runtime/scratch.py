"""A folder for temporary files that goes even after a kill: the next start removes it.

A lock in it, which ends with its process, says that it is in use. On a machine with several users
only folders of the same user are looked at.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from nho.errors import CannotWrite
from nho.runtime.locks import old, try_lock

_LOCK = "lock"


class ScratchFolder:
    """A private folder for temporary files; those that killed processes left are removed first.

    Parameters
    ----------
    name : str
        What it is for; part of its name.
    """

    def __init__(self, name: str) -> None:
        self._prefix = f"nho-{name}-"
        self._making = threading.Lock()
        _sweep(self._prefix)
        self._base, self._handle = _locked_folder(self._prefix)

    @property
    def path(self) -> Path:
        """The folder to write into; another one if somebody has removed it."""
        with self._making:
            path = self._base / "files"
            if not path.is_dir():
                self._remove()
                self._base, self._handle = _locked_folder(self._prefix)
                path = self._base / "files"
            return path

    def remove(self) -> None:
        """Remove it with all that is in it."""
        with self._making:
            self._remove()

    def _remove(self) -> None:
        if self._handle >= 0:  # Windows removes no file that is open
            os.close(self._handle)
            self._handle = -1
        shutil.rmtree(self._base, ignore_errors=True)


def _locked_folder(prefix: str) -> tuple[Path, int]:
    """A new folder, and the handle that keeps its lock."""
    base, handle = None, -1
    try:
        while True:
            base = Path(tempfile.mkdtemp(prefix=prefix))
            handle = os.open(base / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            if try_lock(handle) is not False:
                with suppress(FileNotFoundError):  # swept before it was locked
                    (base / "files").mkdir()
                    return base, handle
            os.close(handle)
    except OSError as problem:
        if base is not None:
            shutil.rmtree(base, ignore_errors=True)
        raise CannotWrite(
            f"no folder for temporary files can be made ({problem.strerror or problem}); set "
            "TMPDIR (on Windows TEMP) to a folder you may write to that has room"
        ) from problem


def _sweep(prefix: str) -> None:
    """Remove the folders of this user whose processes are dead."""
    ours = re.compile(re.escape(prefix) + "[a-z0-9_]{8}")  # as mkdtemp ends names
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as listing:
        for entry in listing:
            if ours.fullmatch(entry.name) and _is_own(entry) and _is_abandoned(Path(entry)):
                shutil.rmtree(entry, ignore_errors=True)


def _is_own(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder, not a link to one, and this user's."""
    try:
        owner = entry.stat(follow_symlinks=False).st_uid
        return entry.is_dir(follow_symlinks=False) and (
            not hasattr(os, "getuid") or owner == os.getuid()
        )
    except OSError:
        return False


def _is_abandoned(folder: Path) -> bool:
    try:
        handle = os.open(folder / _LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return old(folder)  # a process that begins has no lock yet
    except OSError:
        return False
    try:
        return try_lock(handle) is True
    finally:
        os.close(handle)
