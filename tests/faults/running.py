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

# Seconds to wait for what must happen: no measure of speed, only the end of a hopeless wait.
PATIENCE = 300
_SOURCE = str(Path(nho.__file__).parents[1])


def environment(**more: str) -> dict[str, str]:
    """That of this process, with this source and one thread a process."""
    paths = os.pathsep.join([_SOURCE, os.environ.get("PYTHONPATH", "")])
    fixed = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": paths}
    without = {key: value for key, value in os.environ.items() if key != "NHO_DATA"}
    return {**without, **fixed, **more}


def start(*arguments: object, variables: dict[str, str] | None = None, **options: Any) -> Process:
    """The command in a process group of its own, as a user starts it."""
    return _started(["-m", "nho", *arguments], variables, **options)


_PAUSING = """
import importlib, os, sys, time
from contextlib import closing
_, room, count, go, *words = sys.argv
sys.argv[:] = ["nho", *words]
module = importlib.import_module(room)
real = module.run_local

def pausing(*arguments):
    with closing(real(*arguments)) as outcomes:
        for number, outcome in enumerate(outcomes, 1):
            yield outcome
            while number == int(count) and not os.path.exists(go):
                time.sleep(0.01)

module.run_local = pausing
from nho.cli import main
main()
"""
_ROOMS = {"batch": "nho.batch.runner", "bench": "nho.lab.bench.engine"}


def start_pausing(count: int, go: Path, *arguments: object) -> Process:
    """`nho batch` or `nho bench` that pauses after so many jobs until a file is made.

    However slow this process is, the other one is then in the middle of its work.
    """
    return _started(["-c", _PAUSING, _ROOMS[str(arguments[0])], count, go, *arguments], None)


def _started(words: list[object], variables: dict[str, str] | None, **options: Any) -> Process:
    if sys.platform == "win32":
        pytest.skip("process groups and signals of POSIX")
    return Process(
        [sys.executable, *map(str, words)],
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

    def ended(self) -> tuple[int, str, str]:
        """Wait for its end; exit code, stdout and stderr."""
        out, err = self.communicate(timeout=PATIENCE)
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
    if size is None:
        yield
        return
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def wait_until(condition: Callable[[], Any]) -> Any:
    """Wait until the condition holds, and return what it says."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)
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


def wait_for_ends(workers: list[psutil.Process]) -> None:
    """Wait until none of them runs."""

    def runs(worker: psutil.Process) -> bool:
        try:
            return worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    wait_until(lambda: not any(map(runs, workers)))
