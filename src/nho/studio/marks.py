"""Marks: points that the user has put on the two shapes, in pairs that may be incomplete.

Marks are immutable: a change gives a new `Marks`, which makes undo a list of old ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.io.landmarks import clean_name
from nho.problem.anchors import Anchors

Side = Literal["partial", "full"]
# A pair without a partner: begun by a click and to be completed by the next one; parked, as
# landmarks from files are, until it is chosen; or known to have none, for what broke off.
PairState = Literal["begun", "parked", "absent"]
STATES: tuple[PairState, ...] = ("begun", "parked", "absent")
SIDES: tuple[Side, Side] = ("partial", "full")
LONGEST_NAME = 80
MOST_PAIRS = 1000  # every page lists them all after every change
_MOST_UNDONE = 500  # steps back


@dataclass(frozen=True)
class Mark:
    """A point inside a triangle."""

    face: int
    barycentric: tuple[float, float, float]


@dataclass(frozen=True)
class MarkedPair:
    """A mark and its partner; one of them may be missing.

    Attributes
    ----------
    key : int
        Stays with the pair whatever happens to the others; its colour follows from it.
    state : {"begun", "parked", "absent"}
        What is to become of a pair that is not complete.
    """

    key: int
    name: str
    partial: Mark | None = None
    full: Mark | None = None
    state: PairState = "begun"

    @property
    def complete(self) -> bool:
        """Whether both marks are there."""
        return self.partial is not None and self.full is not None

    def with_mark(self, side: Side, mark: Mark | None) -> MarkedPair:
        """The pair with another mark, or none, on a side."""
        pair = replace(self, partial=mark) if side == "partial" else replace(self, full=mark)
        return replace(pair, state="begun") if pair.complete else pair

    def mark(self, side: Side) -> Mark | None:
        """The mark on a side, if it is there."""
        return self.partial if side == "partial" else self.full


@dataclass(frozen=True)
class Marks:
    """All pairs, in the order they were begun."""

    pairs: tuple[MarkedPair, ...] = ()

    @property
    def complete(self) -> tuple[MarkedPair, ...]:
        """The pairs with both marks."""
        return tuple(pair for pair in self.pairs if pair.complete)

    @property
    def places(self) -> tuple[tuple[int, Mark | None, Mark | None], ...]:
        """All that a match depends on: the complete pairs without their names."""
        return tuple((pair.key, pair.partial, pair.full) for pair in self.complete)

    @property
    def open(self) -> MarkedPair | None:
        """The pair that was begun by a click and has no partner yet."""
        waiting = (pair for pair in self.pairs if not pair.complete and pair.state == "begun")
        return next(waiting, None)

    def placed(self, side: Side, mark: Mark, key: int | None = None) -> Marks:
        """A click: completes the open pair, or moves its only mark, or begins a new pair.

        ``key`` is another pair that the user has chosen to complete, such as a parked one.
        """
        chosen = next((pair for pair in self.pairs if pair.key == key and not pair.complete), None)
        waiting = chosen or self.open
        if waiting is not None:
            return self._changed(waiting.with_mark(side, mark))
        return self._with_new(None, {side: mark})

    def with_landmarks(self, side: Side, named: Iterable[tuple[str, Mark]]) -> Marks:
        """Points of one shape from a file: a pair of the same name gets its mark moved or set."""
        marks = self
        for name, mark in named:
            pair = next((pair for pair in marks.pairs if pair.name == name), None)
            if pair is None:
                marks = marks._with_new(name, {side: mark}, "parked")
            else:
                marks = marks._changed(pair.with_mark(side, mark))
        return marks

    def joined(self, key: int, parked: int) -> Marks:
        """The pair ``key`` with the mark and the name of a parked one, which is its partner."""
        pair, other = self._pair(key), self._pair(parked)
        both = replace(
            pair,
            name=other.name,
            partial=pair.partial or other.partial,
            full=pair.full or other.full,
        )
        if not both.complete:
            raise InputError("both points lie on the same shape; choose one on the other")
        return self.removed(parked)._changed(both)

    def put(self, key: int, state: str) -> Marks:
        """A pair without a partner, parked or known to have none."""
        found = next((known for known in STATES if known == state), None)
        pair = self._pair(key)
        if found is None or pair.complete:
            raise InputError("only a pair without a partner can be parked or be absent")
        return self._changed(replace(pair, state=found))

    def with_found(self, found: Iterable[tuple[Mark, Mark]]) -> Marks:
        """Further complete pairs, named by numbers of their own."""
        marks = self
        for partial, full in found:
            marks = marks.added(partial, full)
        return marks

    def added(self, partial: Mark, full: Mark, name: str | None = None) -> Marks:
        """A whole pair at once."""
        return self._with_new(name, {"partial": partial, "full": full})

    def moved(self, key: int, side: Side, mark: Mark) -> Marks:
        """One mark at another place."""
        return self._changed(self._pair(key).with_mark(side, mark))

    def renamed(self, key: int, name: str) -> Marks:
        """A pair under another name, which must be its own."""
        name = " ".join(clean_name(name).split())[:LONGEST_NAME].rstrip()
        if not name:
            raise InputError("a name needs at least one letter")
        if any(pair.name == name and pair.key != key for pair in self.pairs):
            raise InputError(f"another pair is called {name!r}; choose another name")
        return self._changed(replace(self._pair(key), name=name))

    def removed(self, key: int) -> Marks:
        """All pairs but one."""
        self._pair(key)
        return Marks(tuple(pair for pair in self.pairs if pair.key != key))

    def without_side(self, side: Side) -> Marks:
        """What is left when a shape is exchanged: the marks on the other one."""
        left = (replace(pair.with_mark(side, None), state="parked") for pair in self.pairs)
        return Marks(tuple(pair for pair in left if pair.partial or pair.full))

    def anchors(self, partial: Mesh, full: Mesh) -> Anchors:
        """The complete pairs as anchors."""
        pairs = self.complete
        return Anchors(
            points_of(pair.partial for pair in pairs),
            points_of(pair.full for pair in pairs),
            tuple(pair.name for pair in pairs),
            np.zeros((len(pairs), 2)),
            "studio",
        )

    def _pair(self, key: int) -> MarkedPair:
        for pair in self.pairs:
            if pair.key == key:
                return pair
        raise InputError(f"there is no pair {key} any more; it was deleted")

    def _changed(self, changed: MarkedPair) -> Marks:
        return Marks(tuple(changed if pair.key == changed.key else pair for pair in self.pairs))

    def _with_new(
        self, name: str | None, marks: dict[Side, Mark], state: PairState = "begun"
    ) -> Marks:
        if len(self.pairs) >= MOST_PAIRS:
            raise InputError(f"the studio takes at most {MOST_PAIRS} pairs; use fewer")
        taken = {pair.name for pair in self.pairs}
        key = 1 + max((pair.key for pair in self.pairs), default=0)
        if name is None or name in taken:
            name = next(str(n) for n in range(key, key + len(taken) + 1) if str(n) not in taken)
        both = marks.get("partial"), marks.get("full")
        return Marks((*self.pairs, MarkedPair(key, name, *both, state)))


class MarkHistory:
    """The marks now, those before them and those undone."""

    def __init__(self, marks: Marks) -> None:
        self._past: list[Marks] = []
        self._future: list[Marks] = []
        self.now = marks

    def to(self, marks: Marks) -> None:
        """Go on to new marks; what was undone is forgotten."""
        if marks == self.now:
            return
        self._past = [*self._past, self.now][-_MOST_UNDONE:]
        self._future = []
        self.now = marks

    def undo(self) -> bool:
        """One step back; False at the beginning."""
        return self._step(self._past, self._future)

    def redo(self) -> bool:
        """One step forward; False where nothing was undone."""
        return self._step(self._future, self._past)

    @property
    def can_undo(self) -> bool:
        """Whether there is a step back."""
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        """Whether there is a step forward."""
        return bool(self._future)

    def _step(self, source: list[Marks], target: list[Marks]) -> bool:
        if not source:
            return False
        target.append(self.now)
        self.now = source.pop()
        return True


def points_of(marks: Iterable[Mark | None]) -> SurfacePoints:
    """Marks as surface points."""
    known = [mark for mark in marks if mark is not None]
    face = np.array([mark.face for mark in known], dtype=np.int64)
    weights = np.array([mark.barycentric for mark in known], dtype=np.float64)
    return SurfacePoints(face, weights.reshape(-1, 3))


def mark_at(points: SurfacePoints, row: int) -> Mark:
    """One of several surface points as a mark."""
    a, b, c = (float(weight) for weight in points.barycentric[row])
    return Mark(int(points.face[row]), (a, b, c))
