"""Locks of folders that end with their process, however it ends.

They distinguish a folder that a living process is writing from one that a killed process left. The
lock is the operating system's, on the open folder itself, so there is no lock file. Where a file
system has no such locks (folders on NFS, for one), age decides.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STALE_AFTER = 3600.0  # seconds; nothing is written for so long, so its process is dead
_BUSY = (errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK, errno.EDEADLK)

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        # A byte nobody reads: Windows keeps others from reading what is locked.
        os.lseek(handle, 1 << 30, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(handle, 0, os.SEEK_SET)  # where the caller reads and writes
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def try_lock(handle: int) -> bool | None:
    """Lock an open file or folder until it is closed: True; False if another process has it.

    None if the file system has no locks.
    """
    try:
        _lock(handle)
    except OSError as problem:
        return False if problem.errno in _BUSY else None
    return True


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Lock a folder during the block; False if another process has it or has removed it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders
        yield True
        return
    except FileNotFoundError:
        yield False
        return
    try:
        yield try_lock(handle) is not False and _still_there(folder, handle)
    finally:
        os.close(handle)


@contextmanager
def if_abandoned(folder: Path) -> Iterator[bool]:
    """Whether no living process has locked the folder; none can during the block."""
    try:
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        yield False
        return
    except OSError:
        yield old(folder)
        return
    try:
        free = try_lock(handle)
        yield old(folder) if free is None else free
    finally:
        os.close(handle)


def _still_there(folder: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(folder), os.fstat(handle))
    except FileNotFoundError:
        return False


def old(folder: Path) -> bool:
    """Whether nothing in the folder has changed for an hour."""
    try:
        return time.time() - folder.lstat().st_mtime > _STALE_AFTER
    except OSError:
        return False
