"""Matches in a process of their own, which stays warm and can be stopped at any moment.

A thread could only be asked to stop, and would not listen in the middle of a factorisation.
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from nho.errors import NhoError
from nho.geometry.mesh import Mesh
from nho.pipeline.matching import match
from nho.problem.anchors import Anchors
from nho.problem.result import MatchResult
from nho.progress import Progress
from nho.settings import Settings

log = logging.getLogger(__name__)

_PATIENCE = 2.0  # seconds that a process gets to end by itself


@dataclass(frozen=True)
class Failure:
    """A match that ended without a result, in one sentence."""

    reason: str


Event = Progress | MatchResult | Failure


class Worker:
    """One match at a time, in the background."""

    def __init__(self) -> None:
        self._process: Any = None
        self._pipe: Connection | None = None
        self._turn = 0  # counts matches; events of one that was stopped are not passed on
        self._lock = threading.Lock()

    def warm_up(self) -> None:
        """Start the process, so that the first match need not wait for it."""
        with self._lock:
            self._ensure()

    def match(
        self,
        partial: Mesh,
        full: Mesh,
        anchors: Anchors,
        settings: Settings,
        tell: Callable[[Event], None],
    ) -> None:
        """Begin a match; ``tell`` hears of its progress and, last, of its result or failure."""
        with self._lock:
            pipe = self._ensure()
            self._turn += 1
            task = (partial, full, anchors, settings)
            # Sending waits for a process that still starts, so the thread does that as well.
            talk = threading.Thread(
                target=self._talk, args=(pipe, self._turn, task, tell), daemon=True
            )
        talk.start()

    def stop(self) -> None:
        """End the match that is running, now; nothing more is heard of it."""
        with self._lock:
            self._turn += 1
            pipe = self._pipe
        if pipe is not None:
            self._end(pipe)

    def _end(self, pipe: Connection) -> None:
        """End the process behind a pipe, unless another one has taken its place already."""
        with self._lock:
            if self._pipe is not pipe:
                return
            process, self._process, self._pipe = self._process, None, None
        process.terminate()
        process.join(_PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()

    def _ensure(self) -> Connection:
        if self._process is None or not self._process.is_alive():
            context = multiprocessing.get_context("spawn")  # threads are running here
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
        assert self._pipe is not None
        return self._pipe

    def _talk(
        self, pipe: Connection, turn: int, task: tuple[Any, ...], tell: Callable[[Event], None]
    ) -> None:
        """Give the process its task, and pass on what it says until it has an answer."""
        event: Event | None = None
        while event is None or isinstance(event, Progress):
            try:
                if event is None:
                    pipe.send(task)
                event = pipe.recv()
            except (EOFError, OSError):
                self._end(pipe)  # what is left of it, before anyone asks for the next match
                event = Failure("the match ended without an answer; was the memory enough for it?")
            if turn != self._turn:
                return
            tell(event)


def _serve(pipe: Connection) -> None:
    """The other process: match after match, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the studio, which ends this one
    with suppress(EOFError, OSError):
        while True:
            partial, full, anchors, settings = pipe.recv()
            try:
                answer: Event = match(partial, full, anchors, settings, pipe.send)
            except NhoError as problem:
                answer = Failure(str(problem))
            except MemoryError:
                answer = Failure("not enough memory for meshes of this size; decimate them first")
            except Exception:  # a fault of ours: the page learns that, the log learns which
                log.exception("match")
                answer = Failure("the match failed; the terminal of nho studio says why")
            pipe.send(answer)
