"""The command `nho` in processes of its own, and their ends."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import psutil
import pytest

import nho
from nho.cli import main

if sys.platform != "win32":
    import resource

_SOURCE = str(Path(nho.__file__).parents[1])


def environment(**more: str) -> dict[str, str]:
    """That of this process, with this source and one thread a process."""
    paths = os.pathsep.join([_SOURCE, os.environ.get("PYTHONPATH", "")])
    fixed = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": paths}
    without = {key: value for key, value in os.environ.items() if key != "NHO_DATA"}
    return {**without, **fixed, **more}


def start(*arguments: object, variables: dict[str, str] | None = None, **options: Any) -> Process:
    """The command in a process group of its own, as a user starts it."""
    return Process(
        [sys.executable, "-m", "nho", *map(str, arguments)],
        env=environment(**(variables or {})),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Tests started in the background ignore SIGINT, and children would inherit that.
        preexec_fn=options.pop("preexec_fn", _hear_interrupts),
        **options,
    )


def _hear_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Process(subprocess.Popen[str]):
    """A command under way; leaving its block kills it with all its workers."""

    def __exit__(self, *_: object) -> None:
        self.kill_all()

    @property
    def running(self) -> bool:
        """Whether it has not ended by itself."""
        return self.poll() is None

    def kill_all(self) -> None:
        """SIGKILL to the command and all its workers at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.communicate()

    def ended(self, seconds: float = 300) -> tuple[int, str, str]:
        """Wait for its end; exit code, stdout and stderr."""
        out, err = self.communicate(timeout=seconds)
        return self.returncode, out, err


def run(*arguments: object, **options: Any) -> tuple[int, str, str]:
    """The command to its end."""
    with start(*arguments, **options) as process:
        return process.ended()


def run_here(*arguments: object, limit: int | None = None) -> tuple[int, str, str]:
    """The command in this process, which saves a second; no file may grow beyond a limit."""
    out, err = io.StringIO(), io.StringIO()
    words = ["nho", *map(str, arguments)]
    with mock.patch.object(sys, "argv", words), redirect_stdout(out), redirect_stderr(err):
        with files_up_to(limit), pytest.raises(SystemExit) as ended:
            main()
    return ended.value.code or 0, out.getvalue(), err.getvalue()


@contextmanager
def files_up_to(size: int | None) -> Iterator[None]:
    """No file of this process, or of one that it starts, may grow beyond so many bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def wait_until(condition: Callable[[], Any], seconds: float = 120) -> Any:
    """Wait until the condition holds, and return what it says."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.001)
    return found


def one_sentence(code: int, err: str, *parts: str) -> None:
    """Assert that a command failed with one line on stderr that holds these parts."""
    assert code == 1 and err.startswith("nho: ") and err.count("\n") == 1, (code, err)
    assert all(part in err for part in parts), err


def worker_processes(process: Process) -> list[psutil.Process]:
    """Live workers of a command."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    except psutil.Error:
        return []
