"""A worker process: it answers requests over a pipe of its own, and ends with its parent."""

from __future__ import annotations

import logging
import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from nho.runtime.interrupts import deferred
from nho.runtime.terminal import log_to_terminal

_PATIENCE = 5.0  # seconds that a process gets to end by itself
Send = Callable[[Any], None]


class WorkerProcess:
    """A process and the pipe to it; ``EOFError`` or ``OSError`` from the pipe: it is dead.

    Parameters
    ----------
    handle : callable
        A function of a module; the process calls ``handle(request, send)`` for every request, and
        ``send`` sends an answer.
    name : str
        Of the process.
    """

    def __init__(self, handle: Callable[[Any, Send], None], name: str) -> None:
        # Spawned: a forked child would inherit the thread pools of BLAS in an unknown state.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, handle), daemon=True, name=name)
        with deferred(), _interrupts_blocked():  # half a start would leave a process behind
            self.process.start()
        theirs.close()

    def stop(self) -> None:
        """End the process, at work or not.

        The pipe is left to the garbage collector: another thread may be reading from it.
        """
        self.process.terminate()
        self.process.join(_PATIENCE)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C meanwhile; what is started now inherits the block and leaves Ctrl-C to us."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Python starts this helper with the first process, and would end the block by that.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, handle: Callable[[Any, Send], None]) -> None:
    """The life of a worker: requests in, answers out, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log_to_terminal(logging.WARNING)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # the parent has closed the pipe
        while True:
            handle(connection.recv(), connection.send)


def _end_with_parent() -> None:
    """Kill this process when its parent is gone: the next one may be at the same work."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        signal.raise_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
