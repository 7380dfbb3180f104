"""Worker processes: they answer, can be stopped at work, and never outlive their parent."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import psutil
import pytest

from nho.runtime.worker_process import Send, WorkerProcess

PARENT = """
import threading
from tests.runtime.test_worker_process import sleep_or_double
from nho.runtime.worker_process import WorkerProcess

worker = WorkerProcess(sleep_or_double, "test")
worker.connection.send(1000)
worker.connection.recv()
print(worker.process.pid, flush=True)
threading.Event().wait()
"""


def sleep_or_double(seconds: float, send: Send) -> None:
    send(2 * seconds)
    if seconds > 100:  # at work without a word, as in the middle of a factorisation
        time.sleep(seconds)


FIRST = """
from tests.runtime.test_worker_process import blocked_signals
from nho.runtime.worker_process import WorkerProcess

worker = WorkerProcess(blocked_signals, "test")
worker.connection.send(None)
print(worker.connection.recv())
worker.stop()
"""


def blocked_signals(request: None, send: Send) -> None:
    send(sorted(number.name for number in signal.pthread_sigmask(signal.SIG_BLOCK, ())))


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows blocks no signals")
def test_the_first_worker_of_a_program_too_is_started_with_ctrl_c_blocked() -> None:
    said = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, check=True, text=True)
    assert "SIGINT" in said.stdout


def test_requests_are_answered_one_after_another_and_a_stopped_worker_is_gone() -> None:
    worker = WorkerProcess(sleep_or_double, "test")
    for request in (3, 5, 1000):
        worker.connection.send(request)
        assert worker.connection.recv() == 2 * request
    assert worker.process.is_alive()
    worker.stop()
    assert not worker.process.is_alive()
    with pytest.raises(EOFError):
        worker.connection.recv()


def test_a_worker_ends_with_a_parent_that_was_killed_even_in_the_middle_of_its_work() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        worker = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    try:
        worker.wait(timeout=300)
    finally:
        if worker.is_running():
            worker.kill()
