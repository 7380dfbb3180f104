"""Undo and redo over immutable states."""

from __future__ import annotations

from typing import Generic, TypeVar

State = TypeVar("State")

_LONGEST = 500  # steps back


class History(Generic[State]):
    """A state, those before it and those undone."""

    def __init__(self, first: State) -> None:
        self._past: list[State] = []
        self._future: list[State] = []
        self.now = first

    def to(self, state: State) -> None:
        """Go on to a new state; what was undone is forgotten."""
        if state == self.now:
            return
        self._past = [*self._past, self.now][-_LONGEST:]
        self._future = []
        self.now = state

    def undo(self) -> bool:
        """One step back; False at the beginning."""
        return self._step(self._past, self._future)

    def redo(self) -> bool:
        """One step forth; False where nothing was undone."""
        return self._step(self._future, self._past)

    @property
    def can_undo(self) -> bool:
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        return bool(self._future)

    def _step(self, source: list[State], target: list[State]) -> bool:
        if not source:
            return False
        target.append(self.now)
        self.now = source.pop()
        return True
