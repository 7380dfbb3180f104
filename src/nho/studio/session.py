"""What is open in the studio, and everything that can be done with it.

Every verb takes the lock, changes the state and notifies the pages. All open pages share one
session.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nho.errors import CannotWrite, InputError
from nho.geometry.mesh import FloatArray, Mesh
from nho.problem.anchors import FEWEST
from nho.problem.result import MatchResult
from nho.progress import Progress
from nho.settings import preset
from nho.studio.autosave import Autosave
from nho.studio.marks import Mark, MarkedPair, MarkHistory, Marks, Side
from nho.studio.outcome import MatchOutcome, suggested_anchor
from nho.studio.pace import Pace, typical_shares
from nho.studio.shape import ShownShape
from nho.studio.worker import Event, MatchFailure, MatchWorker


class Session:
    """Meshes, marks, the running match and the last result.

    Parameters
    ----------
    marks_folder : Path
        Folder of the autosaved marks.
    notify : callable
        Called with an event for all pages: ``{"revision": n}`` or ``{"job": {...}}``.
    """

    def __init__(self, marks_folder: Path, notify: Callable[[dict[str, Any]], None]) -> None:
        self._lock = threading.RLock()
        self._marks_folder, self._notify = marks_folder, notify
        self._worker = MatchWorker()
        self.shapes: dict[Side, ShownShape | None] = {"partial": None, "full": None}
        self.history = MarkHistory(Marks())
        self.outcome: MatchOutcome | None = None
        self._pace: Pace | None = None
        self._last_seconds: dict[tuple[object, ...], dict[str, float]] = {}  # of the last match
        self._opened = self._matched = self.revision = 0
        self._notice: dict[str, Any] = {"text": "", "kind": "", "number": 0}
        self.unsaved = ""  # why the marks are not on disk, if they are not
        self._suggestion: tuple[object, dict[str, object] | None] = (None, None)

    @property
    def marks(self) -> Marks:
        """The marks as they are now."""
        return self.history.now

    def warm_up(self) -> None:
        """Get ready for a first match."""
        self._worker.warm_up()

    def close(self) -> None:
        """End a running match and its process."""
        self._worker.stop()

    # ---- meshes ------------------------------------------------------------------------------

    def open(self, side: Side, mesh: Mesh) -> None:
        """Show a mesh; marks on the one before it go, those saved for this pair come back.

        Of two meshes for one side the one that was opened last stays, however long it took.
        """
        with self._lock:
            self._opened += 1
            version = self._opened
        shape = ShownShape(mesh, version)
        shape.prepare()  # not under the lock: the pages go on meanwhile
        with self._lock:
            before = self.shapes[side]
            if before is not None and before.version > version:
                return
            stopped = self._stop_match()
            self.shapes[side] = shape
            self.outcome = None
            self.history = MarkHistory(self.marks.without_side(side))
            self._say("the match was stopped because a mesh was replaced" if stopped else "")
            self._restore()
            self._changed()
        if stopped:
            self._worker.warm_up()

    def shape(self, side: Side) -> ShownShape:
        """The shape of a side; an error if it is missing."""
        shape = self.shapes[side]
        if shape is None:
            missing = "scan (left)" if side == "partial" else "template (right)"
            raise InputError(f"open the {missing} first")
        return shape

    def both(self) -> tuple[ShownShape, ShownShape]:
        """Both shapes; an error that says which one is missing."""
        return self.shape("partial"), self.shape("full")

    # ---- marks -------------------------------------------------------------------------------

    def place(
        self, side: Side, origin: FloatArray, direction: FloatArray, key: int | None = None
    ) -> None:
        """A click on a shape; ``key`` is the open pair that the user has chosen, if any."""
        self.change(lambda marks: marks.placed(side, self._hit(side, origin, direction), key))

    def move(self, key: int, side: Side, origin: FloatArray, direction: FloatArray) -> None:
        """A mark was dragged to another place."""
        self.change(lambda marks: marks.moved(key, side, self._hit(side, origin, direction)))

    def change(self, change: Callable[[Marks], Marks], note: str = "") -> None:
        """Change the marks, with a notice for the pages."""
        with self._lock:
            self.history.to(change(self.marks))
            self._say(note)
            self._save()
            self._changed()

    def undo(self) -> None:
        """Take the last change of the marks back."""
        self._step(self.history.undo)

    def redo(self) -> None:
        """Make the change again that was undone last."""
        self._step(self.history.redo)

    # ---- matching ----------------------------------------------------------------------------

    def match(self, preset_name: str = "default") -> None:
        """Begin a match of the complete pairs."""
        with self._lock:
            partial, full = self.both()
            if self._pace is not None:
                raise InputError("a match is running already; cancel it first")
            pairs = self.marks.complete
            if len(pairs) < FEWEST:
                raise InputError(f"{len(pairs)} complete pairs; mark at least {FEWEST}")
            settings = preset(preset_name)
            shares = typical_shares(settings, len(pairs))
            alike = (partial.version, full.version, preset_name, tuple(shares))
            known = alike in self._last_seconds
            pace = Pace(self._last_seconds.get(alike, shares), settings.recipe.rounds, known)
            self._matched += 1
            number = self._matched
            anchors = self.marks.anchors(partial.mesh, full.mesh)

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
                        self.outcome = outcome
                        self._say("")
                    elif isinstance(event, MatchFailure):
                        self._say(event.reason, "error")
                    self._changed()

            self._worker.match(partial.mesh, full.mesh, anchors, settings, take)
            self._pace = pace  # only now: a match that could not begin does not run
            self._changed()

    def cancel(self) -> None:
        """Stop the running match, now."""
        with self._lock:
            if not self._stop_match():
                return
            self._say("the match was cancelled")
            self._changed()
        self._worker.warm_up()

    # ---- what pages see ----------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything a page shows, but for the large arrays."""
        with self._lock:
            outcome, marks = self.outcome, self.marks
            return {
                "revision": self.revision,
                "shapes": {
                    side: shape and shape.described() for side, shape in self.shapes.items()
                },
                "pairs": [self._described_pair(pair) for pair in marks.pairs],
                "open": marks.open.key if marks.open else None,
                "canUndo": self.history.can_undo,
                "canRedo": self.history.can_redo,
                "fewest": FEWEST,
                "job": self._pace and self._pace.described(),
                "outcome": outcome and {**outcome.described, "stale": self._is_stale(outcome)},
                "suggestion": self._suggested(),
                "notice": dict(self._notice),
            }

    # ---- inside ------------------------------------------------------------------------------

    def _described_pair(self, pair: MarkedPair) -> dict[str, Any]:
        marks: dict[str, Any] = {
            side: shape.described_mark(mark) if shape and (mark := pair.mark(side)) else None
            for side, shape in self.shapes.items()
        }
        return {"key": pair.key, "name": pair.name, **marks}

    def _hit(self, side: Side, origin: FloatArray, direction: FloatArray) -> Mark:
        shape = self.shapes[side]
        found = None if shape is None else shape.hit(origin, direction)
        if found is None:
            raise InputError("there is no surface under the pointer; click on the shape")
        return found

    def _step(self, step: Callable[[], bool]) -> None:
        with self._lock:
            if step():
                self._save()
                self._changed()

    def _autosave(self) -> Autosave | None:
        partial, full = self.shapes["partial"], self.shapes["full"]
        return Autosave(self._marks_folder, partial, full) if partial and full else None

    def _save(self) -> None:
        """Save the marks; a failure stops nobody, but the pages show it."""
        self.unsaved = ""
        file = self._autosave()
        if file is None:
            if self.marks.pairs:
                self.unsaved = "they are saved once both meshes are open"
            return
        try:
            file.write(self.marks)
        except CannotWrite as problem:
            self.unsaved = str(problem)
            self._say(f"the marks are not saved: {problem}", "error")

    def _restore(self) -> None:
        """Bring back the marks saved for the two meshes; those that cannot be read are kept."""
        file = self._autosave()
        if file is None:
            return
        try:
            saved = file.read()
        except InputError as problem:
            aside = file.set_aside()
            self._say(f"{problem}" + (f"; they are kept in {aside}" if aside else ""), "error")
            return
        if saved.pairs:
            self.history.to(saved)
            many = len(saved.pairs)
            self._say(f"restored {many} pair{'' if many == 1 else 's'} from the last session")

    def _suggested(self) -> dict[str, object] | None:
        shape = self.shapes["partial"]
        if shape is None:
            return None
        fresh = self.outcome if self.outcome and not self._is_stale(self.outcome) else None
        key = (shape.version, self.marks, fresh and fresh.version)
        if self._suggestion[0] != key:
            self._suggestion = (key, suggested_anchor(shape, self.marks, fresh))
        return self._suggestion[1]

    def _stop_match(self) -> bool:
        """Stop the running match; False if there was none."""
        if self._pace is None:
            return False
        self._pace = None
        self._worker.stop()
        return True

    def _is_stale(self, outcome: MatchOutcome) -> bool:
        """Whether marks have changed since the match; another name is no change."""
        return Marks(outcome.pairs).places != self.marks.places

    def _say(self, text: str, kind: str = "") -> None:
        """Set the notice that the pages show."""
        self._notice = {"text": text, "kind": kind, "number": self._notice["number"] + 1}

    def _changed(self) -> None:
        self.revision += 1
        self._notify({"revision": self.revision})
