"""The output folder: one run at a time in it, one kind of run, and no way out of it.

The lock is the operating system's, on an open file: it ends with the process, however that ends,
so a lock left by a dead process needs no special care.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nho.batch.records import STATE
from nho.errors import CannotWrite, InputError
from nho.runtime.locks import try_lock

BENCH_STATE = ".bench"
_is_junction = getattr(os.path, "isjunction", lambda path: False)  # Windows, Python 3.12
_OWNERS = {STATE: "nho batch", BENCH_STATE: "nho bench", "result.npz": "nho match"}


@contextmanager
def folder_lock(out: Path, state: str = STATE) -> Iterator[str]:
    """Lock the folder; an `InputError` if another process has it, or if another command wrote it.

    The lock is a file in its folder ``state``.

    Yields
    ------
    str
        A warning if the file system knows no locks, else empty.
    """
    for mark, owner in _OWNERS.items():
        if mark != state and (out / mark).exists():
            raise InputError(f"{out}: holds what {owner} wrote ({mark}); give another --out")
    path = out / state / "lock"
    refuse_links([path.parent, path])
    if path.exists() and not path.is_file():  # a pipe might never end
        raise InputError(f"{path}: this is no file of ours; remove it or give another --out")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as problem:
        raise CannotWrite.to(out, problem) from problem
    try:
        locked = try_lock(handle)
        if locked is False:
            owner = os.read(handle, 1000).decode("utf-8", "replace").strip() or "a process"
            raise InputError(
                f"{out}: another run ({owner}) works in this folder; wait for it or give "
                "another --out"
            )
        if locked:
            with suppress(OSError):  # a full disk: the lock counts, its text does not
                os.ftruncate(handle, 0)
                os.write(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
            yield ""
        else:
            yield (f"{out} is on a file system without locks; make sure that no other run uses it")
    finally:
        os.close(handle)


def refuse_links(places: Iterable[Path]) -> None:
    """Raise an `InputError` if one of these places inside of an output folder is a link.

    The folder may come from a stranger, in an archive of meshes say, with a link in it under a
    name that is going to be written. Links that the user names are followed.
    """
    for place in places:
        if place.is_symlink() or _is_junction(place):
            raise InputError(
                f"{place}: this is a link, which may lead out of the folder; remove it or give "
                "another --out"
            )
