"""A folder that appears whole or not at all, whoever is killed and whoever else writes it.

It is written under another name beside its place and then takes the place of what was there. Of
several processes that write the same folder the last one wins, whole. What killed processes left
is recognised (`nho.runtime.locks`) and removed by the next one that writes the folder.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from nho.errors import CannotWrite, InputError
from nho.runtime.atomic_file import replace
from nho.runtime.interrupts import deferred
from nho.runtime.locks import if_abandoned, locked

PREFIX = ".nho-"  # of everything unfinished
MOVING = f"{PREFIX}moving"  # a file in a folder while its files are replaced one by one
_UNFINISHED = re.compile(r"\.nho-(.*)\.[a-z0-9_]{8}(\.old)?", re.DOTALL)  # as mkdtemp ends names
_TRIES = 100  # each failed one means that another process has put its folder in place
_PATIENCE = 30.0  # seconds to wait for another process that moves its files
_OCCUPIED = (errno.ENOTEMPTY, errno.EEXIST)


@contextmanager
def whole_folder(folder: Path, last: str, check: Callable[[Path], None]) -> Iterator[Path]:
    """An empty folder to write into, which becomes ``folder`` if the block ends well.

    Parameters
    ----------
    last : str
        The file that makes a folder complete: it comes last where files are moved one by one.
    check : callable
        Raises an `InputError` if what is in ``folder`` must not be replaced.
    """
    check(folder)
    place = folder.resolve()  # a link, or ".", stands for the folder it leads to
    made = _first_missing(place.parent)
    with ExitStack() as stack:
        try:
            with deferred():
                stack.callback(lambda: _remove_empty(made, place.parent))
                place.parent.mkdir(parents=True, exist_ok=True)
                inside = _cannot_be_renamed(place)
                beside = place if inside else place.parent
                sweep(beside, [place.name])
                staging = stack.enter_context(_staging(beside, place.name))
            yield staging
            with deferred():
                if inside:
                    _move_files(staging, place, last, lambda: check(folder))
                else:
                    _put_in_place(staging, place, lambda: check(folder))
                made = None
        except OSError as problem:
            raise CannotWrite.to(folder, problem) from problem
        except InputError as problem:
            cause = problem.__cause__
            if isinstance(cause, OSError):  # a writer of single files knows the other name only
                raise CannotWrite.to(folder, cause) from cause
            raise


def sweep(parent: Path, names: Collection[str]) -> None:
    """Remove what killed processes left of folders with these names; bring back what they moved."""
    with suppress(OSError):  # a parent that cannot be listed
        for entry in list(parent.iterdir()):
            parts = _UNFINISHED.fullmatch(entry.name)
            if parts is None or parts[1] not in names:
                continue
            with if_abandoned(entry) as abandoned:
                if not abandoned:
                    continue
                if parts[2] and not (parent / parts[1]).exists():
                    with suppress(OSError):
                        os.rename(entry, parent / parts[1])
                else:
                    shutil.rmtree(entry, ignore_errors=True)


@contextmanager
def _staging(parent: Path, name: str) -> Iterator[Path]:
    """A new folder, locked while it is being written."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{name}.", dir=parent))
        with ExitStack() as stack:
            stack.callback(_removed, path)
            if not stack.enter_context(locked(path)):  # swept before it was locked
                continue
            os.chmod(path, 0o777 & ~_umask())
            yield path
            return


def _removed(path: Path) -> None:
    with deferred():
        shutil.rmtree(path, ignore_errors=True)


def _put_in_place(staging: Path, place: Path, check: Callable[[], None]) -> None:
    """Rename the finished folder; an earlier one goes only once the new one is there."""
    for _ in range(_TRIES):
        try:
            os.rename(staging, place)  # if there is none yet, or it is empty
            return
        except OSError as problem:
            occupied = problem.errno in _OCCUPIED
            if not occupied and not isinstance(problem, PermissionError):
                raise
            if not place.exists():
                if occupied:
                    continue  # another process has just moved it
                raise
        check()  # others may have put something else there since
        if _exchanged(staging, place):
            return
        old = staging.with_name(staging.name + ".old")
        try:
            os.rename(place, old)
        except FileNotFoundError:
            continue  # another process has just moved it
        with locked(old):
            try:
                os.rename(staging, place)
                return
            except OSError as problem:
                if problem.errno not in _OCCUPIED:
                    os.rename(old, place)
                    raise
            finally:
                shutil.rmtree(old, ignore_errors=True)
    raise CannotWrite(f"{place}: other processes write it all the time; give another place")


def _exchanged(staging: Path, place: Path) -> bool:
    """Let two folders swap their names in one step; False where the system cannot."""
    paths = os.fsencode(staging), os.fsencode(place)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "linux":
            here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
            failed = library.renameat2(here, paths[0], here, paths[1], exchange)
        elif sys.platform == "darwin":
            failed = library.renamex_np(*paths, 2)  # RENAME_SWAP
        else:
            return False
    except (AttributeError, OSError, TypeError):  # an old C library, or none
        return False
    return not failed


def _cannot_be_renamed(place: Path) -> bool:
    """A mount point, or a folder in one that we may not write to: files are moved in one by one."""
    return os.path.ismount(place) or (place.is_dir() and not os.access(place.parent, os.W_OK))


def _move_files(staging: Path, place: Path, last: str, check: Callable[[], None]) -> None:
    """Replace file by file; the one that makes a folder complete is removed first, written last."""
    end = time.monotonic() + _PATIENCE
    while True:
        with locked(place) as free:
            if free:
                check()  # others may have put something else there since
                (place / MOVING).touch()  # after a kill, it says that what is here is ours
                (place / last).unlink(missing_ok=True)
                new = sorted(path.name for path in staging.iterdir())
                for old in place.iterdir():  # of another result, and of no use to this one
                    if old.name not in new and not old.name.startswith(PREFIX):
                        old.unlink(missing_ok=True)
                for name in sorted(new, key=lambda name: name == last):
                    replace(staging / name, place / name)
                (place / MOVING).unlink(missing_ok=True)
                return
        if time.monotonic() > end:
            raise CannotWrite(f"{place}: another process writes it; wait for it")
        time.sleep(0.05)


def _first_missing(folder: Path) -> Path | None:
    """The topmost ancestor (or the folder itself) that does not exist yet."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    return missing[-1] if missing else None


def _remove_empty(top: Path | None, bottom: Path) -> None:
    """Remove the empty folders that were made from ``top`` down to ``bottom``."""
    if top is None:
        return
    for place in (bottom, *bottom.parents):
        try:
            place.rmdir()
        except OSError:
            return
        if place == top:
            return


def _umask() -> int:
    """The process's umask; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
