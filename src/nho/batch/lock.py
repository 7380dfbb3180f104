"""One batch at a time in a folder.

The lock is the operating system's, on an open file: it ends with the process, however that ends,
so a lock left by a dead process needs no special care.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from nho.batch.records import STATE
from nho.errors import InputError

if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[str]) -> None:
        file.seek(1 << 30)  # a byte nobody reads: Windows keeps others from reading what is locked
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def folder_lock(out: Path, state: str = STATE) -> Iterator[str]:
    """Hold the folder; an `InputError` if another process holds it.

    The lock is a file in its folder ``state``.

    Yields
    ------
    str
        A warning if the file system knows no locks, else empty.
    """
    path = out / state / "lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+", encoding="utf-8")
    except OSError as problem:
        raise InputError(f"{out}: cannot be written ({problem.strerror})") from problem
    with file:
        try:
            _try_lock(file)
        except OSError as problem:
            if problem.errno in (errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK, errno.EDEADLK):
                file.seek(0)
                holder = file.read().strip() or "a process"
                raise InputError(
                    f"{out}: another run ({holder}) works in this folder; wait for it or give "
                    "another --out"
                ) from None
            yield (
                f"{out} is on a file system without locks ({problem.strerror}); see to it that no "
                "other run works in it"
            )
            return
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        yield ""
