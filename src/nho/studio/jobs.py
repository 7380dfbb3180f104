"""The running match of a session: begun, followed, finished or stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from nho.errors import InputError
from nho.problem.anchors import Anchors
from nho.problem.result import MatchResult
from nho.progress import Progress
from nho.settings import preset
from nho.studio.marks import MarkedPair
from nho.studio.outcome import MatchOutcome
from nho.studio.pace import Pace, typical_shares
from nho.studio.shape import ShownShape
from nho.studio.worker import Event, MatchFailure, MatchWorker

Finish = Callable[[MatchOutcome | MatchFailure], None]


class MatchJobs:
    """One match at a time; the lock is the session's.

    Parameters
    ----------
    notify : callable
        Called with ``{"job": ...}`` after every step.
    """

    def __init__(self, lock: threading.RLock, notify: Callable[[dict[str, Any]], None]) -> None:
        self._lock, self._notify = lock, notify
        self._worker = MatchWorker()
        self._pace: Pace | None = None
        self._last_seconds: dict[tuple[object, ...], dict[str, float]] = {}  # of the last match
        self._number = 0

    def warm_up(self) -> None:
        """Get ready for a first match."""
        self._worker.warm_up()

    def close(self) -> None:
        """End a running match and its process."""
        self._worker.stop()

    def described(self) -> dict[str, object] | None:
        """How far the running match is; None = there is none."""
        return None if self._pace is None else self._pace.described()

    def next_version(self) -> int:
        """A number for a result that pages have not seen."""
        self._number += 1
        return self._number

    def begin(
        self,
        shapes: tuple[ShownShape, ShownShape],
        pairs: tuple[MarkedPair, ...],
        anchors: Anchors | str,
        preset_name: str,
        finish: Finish,
    ) -> None:
        """Begin a match; ``finish`` gets, under the lock, what came of it."""
        partial, full = shapes
        if self._pace is not None:
            raise InputError("a match is running already; cancel it first")
        settings = preset(preset_name)
        most = settings.solve_vertices
        large = bool(most) and max(partial.mesh.n_vertices, full.mesh.n_vertices) > most
        shares = typical_shares(settings, len(pairs), large)
        alike = (partial.version, full.version, preset_name, tuple(shares))
        known = alike in self._last_seconds
        pace = Pace(self._last_seconds.get(alike, shares), settings.recipe.rounds, known)
        number = self.next_version()

        def take(event: Event) -> None:
            outcome = None
            if isinstance(event, MatchResult):
                outcome = MatchOutcome(partial, full, pairs, event, number)
                _ = outcome.described  # not under the lock: the pages go on meanwhile
            with self._lock:
                if self._pace is not pace:
                    return  # cancelled meanwhile
                if isinstance(event, Progress):
                    pace.take(event)
                    self._notify({"job": pace.described()})
                    return
                self._pace = None
                if outcome is not None:
                    self._last_seconds = {alike: pace.seconds}
                    finish(outcome)
                elif isinstance(event, MatchFailure):
                    finish(event)

        self._worker.match(partial.mesh, full.mesh, anchors, settings, take)
        self._pace = pace  # only now: a match that could not begin does not run

    def stop(self) -> bool:
        """Stop the running match; False if there was none."""
        if self._pace is None:
            return False
        self._pace = None
        self._worker.stop()
        return True
