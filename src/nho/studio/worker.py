"""Matches in a process of their own, which stays warm and can be stopped at any moment.

A thread cannot be stopped in the middle of a factorisation.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from nho.errors import NhoError
from nho.geometry.mesh import Mesh
from nho.pipeline.matching import match
from nho.problem.anchors import Anchors
from nho.problem.result import MatchResult
from nho.progress import Progress
from nho.runtime.worker_process import Send, WorkerProcess
from nho.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class MatchFailure:
    """A match that ended without a result, in one sentence."""

    reason: str


Event = Progress | MatchResult | MatchFailure
_Task = tuple[Mesh, Mesh, Anchors | str, Settings]  # a text asks for anchors to be found


class MatchWorker:
    """One match at a time, in the background."""

    def __init__(self) -> None:
        self._process: WorkerProcess | None = None
        self._number = 0  # counts matches; events of one that was stopped are not passed on
        self._lock = threading.Lock()

    def warm_up(self) -> None:
        """Start the process, so that the first match need not wait for it."""
        with self._lock:
            self._ensure()

    def match(
        self,
        partial: Mesh,
        full: Mesh,
        anchors: Anchors | str,
        settings: Settings,
        notify: Callable[[Event], None],
    ) -> None:
        """Begin a match; ``notify`` gets its progress and, last, its result or failure."""
        with self._lock:
            process = self._ensure()
            self._number += 1
            task = (partial, full, anchors, settings)
            # Sending waits for a process that still starts, so the thread does that as well.
            thread = threading.Thread(
                target=self._follow, args=(process, self._number, task, notify), daemon=True
            )
        thread.start()

    def stop(self) -> None:
        """End the running match now; none of its events is passed on any more."""
        with self._lock:
            self._number += 1
            process = self._process
        if process is not None:
            self._end(process)

    def _end(self, process: WorkerProcess) -> None:
        """End the process, unless another one has taken its place already."""
        with self._lock:
            if self._process is not process:
                return
            self._process = None
        process.stop()

    def _ensure(self) -> WorkerProcess:
        if self._process is None or not self._process.process.is_alive():
            self._process = WorkerProcess(_match, "nho studio")
        return self._process

    def _follow(
        self, process: WorkerProcess, number: int, task: _Task, notify: Callable[[Event], None]
    ) -> None:
        """Give the process its task, and pass on its events until the match has ended."""
        event: Event | None = None
        while event is None or isinstance(event, Progress):
            try:
                if event is None:
                    process.connection.send(task)
                event = process.connection.recv()
            except (EOFError, OSError):
                self._end(process)  # what is left of it, before anyone asks for the next match
                event = MatchFailure(
                    "the match process died, most likely because memory ran out; "
                    "simplify the meshes"
                )
            if number != self._number:
                return
            notify(event)


def _match(task: _Task, send: Send) -> None:
    """One match, in the other process."""
    partial, full, anchors, settings = task
    try:
        answer: Event = match(partial, full, anchors, settings, send)
    except NhoError as problem:
        answer = MatchFailure(str(problem))
    except MemoryError:
        answer = MatchFailure("not enough memory for these meshes; simplify the meshes first")
    except Exception:  # a fault of ours: the page learns that, the log learns which
        log.exception("match")
        answer = MatchFailure("internal error; the terminal of nho studio shows the details")
    send(answer)
