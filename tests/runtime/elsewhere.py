"""This system made to look like Windows, as far as `nho` can tell; for a process of its own.

Nothing here replaces a run on Windows. It finds modules that cannot be imported there, calls that
do not exist, and renames and removals that Windows refuses.
"""

from __future__ import annotations

import errno
import importlib
import os
import pkgutil
import shutil
import signal
import sys
import types
from pathlib import Path
from typing import Any

_MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "pty", "tty")
_OF_OS = (
    *("fork", "killpg", "getuid", "geteuid", "sched_getaffinity", "sched_setaffinity", "sysconf"),
    *("getloadavg", "mkfifo", "setsid", "getpgid", "statvfs", "O_NOFOLLOW", "O_DIRECTORY"),
)
_OF_SIGNAL = ("SIGKILL", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGUSR1", "SIGSTOP", "pthread_sigmask")
_locked: set[tuple[int, int]] = set()  # files
_open: dict[int, tuple[int, int]] = {}


def pretend() -> None:
    """From now on this is Windows; other packages must have been imported before."""
    for name in _MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for module, names in ((os, _OF_OS), (signal, _OF_SIGNAL)):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    signal.SIGBREAK = signal.Signals(signal.SIGURG)  # type: ignore[attr-defined]
    shutil._use_fd_functions = False  # type: ignore[attr-defined]  # they would open folders
    sys.platform = "win32"
    sys.modules["msvcrt"] = _msvcrt()
    real_open, real_rename, real_close = os.open, os.rename, os.close

    def no_folders(path: Any, flags: int, *args: Any, **more: Any) -> int:
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real_open(path, flags, *args, **more)

    def only_to_free_names(source: Any, target: Any) -> None:
        if os.path.exists(target):
            raise FileExistsError(errno.EEXIST, "File exists", str(target))
        real_rename(source, target)

    def unlocks(handle: int) -> None:
        _locked.discard(_open.pop(handle, (0, 0)))
        real_close(handle)

    os.open, os.rename, os.close = no_folders, only_to_free_names, unlocks  # type: ignore[assignment]


def _msvcrt() -> types.ModuleType:
    """A lock is one byte of a file, of a handle, until that is closed."""
    module = types.ModuleType("msvcrt")

    def locking(handle: int, mode: int, count: int) -> None:
        about = os.fstat(handle)
        place = (about.st_dev, about.st_ino)
        if place in _locked:
            raise PermissionError(errno.EACCES, "Permission denied")
        _locked.add(place)
        _open[handle] = place

    module.locking, module.LK_NBLCK = locking, 2  # type: ignore[attr-defined]
    return module


OPTIONAL = ("anywidget", "pyvista")  # packages of extras that the tests do without


def import_everything() -> int:
    """Import every module of `nho`; returns how many there are."""
    import nho

    names = [found.name for found in pkgutil.walk_packages(nho.__path__, "nho.")]
    names = [name for name in names if not name.endswith("__main__")]
    for name in names:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as missing:  # of an extra that is not installed
            if missing.name not in OPTIONAL:
                raise
    return len(names)


def use_what_depends_on_the_system(folder: Path) -> None:
    """Locks, folders and files that appear whole, memory, threads, the batch's lock, the studio."""
    from nho.batch.lock import folder_lock
    from nho.errors import InputError
    from nho.lab.machine import machine
    from nho.runtime.atomic_file import write_whole
    from nho.runtime.atomic_folder import whole_folder
    from nho.runtime.interrupts import Stopped, stops_raised
    from nho.runtime.memory import available_memory
    from nho.runtime.parallel import thread_count
    from nho.runtime.scratch import ScratchFolder
    from nho.runtime.worker_process import _interrupts_blocked

    with folder_lock(folder / "batch") as warning:
        assert warning == ""
        lock = folder / "batch" / ".batch" / "lock"
        assert 0 < lock.stat().st_size < 1000, "the text of a lock lies at its beginning"
        try:
            with folder_lock(folder / "batch"):
                raise AssertionError("two runs in one folder")
        except InputError as refusal:
            assert f"process {os.getpid()}" in str(refusal)
    for text in ("one", "two"):
        with whole_folder(folder / "result", "last", lambda _: None) as staging:
            (staging / "last").write_text(text, encoding="utf-8")
        assert (folder / "result" / "last").read_text(encoding="utf-8") == text
    write_whole(folder / "private" / "file", "x", parents=True, private=True)
    first = ScratchFolder("test")
    second = ScratchFolder("test")  # leaves the first alone
    assert first.path.is_dir()
    first.remove()
    second.remove()
    assert thread_count(0) >= 1 and machine()["cores"] and available_memory() != 0
    with _interrupts_blocked():
        pass
    try:
        with stops_raised():
            os.kill(os.getpid(), signal.SIGBREAK)  # type: ignore[attr-defined]
            raise AssertionError("Ctrl-Break was not heard")
    except Stopped as stop:
        assert stop.word == "interrupted"


if __name__ == "__main__":
    import_everything()  # what other packages import lazily
    for name in [name for name in sys.modules if name.partition(".")[0] == "nho"]:
        del sys.modules[name]
    pretend()
    count = import_everything()
    use_what_depends_on_the_system(Path(sys.argv[1]))
    print(count)
