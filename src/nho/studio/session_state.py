"""What is open in the studio: as pages see it, and as it is kept on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nho.errors import CannotWrite, InputError, NhoError
from nho.geometry.mesh import FloatArray
from nho.io.attributes import Attributes
from nho.problem.anchors import FEWEST
from nho.studio.autosave import Autosave
from nho.studio.batch_table import BatchTable
from nho.studio.jobs import MatchJobs
from nho.studio.marks import SIDES, Mark, MarkedPair, MarkHistory, Marks, Side
from nho.studio.outcome import MatchOutcome, suggested_anchor
from nho.studio.project import Project, project_bytes
from nho.studio.recent import Recent
from nho.studio.shape import ShownShape

Ray = tuple[FloatArray, FloatArray]  # origin and direction, as a page sees a shape


class SessionState:
    """Meshes, marks, the running match and the last result, and their form on disk.

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
        self._jobs = MatchJobs(self._lock, notify)
        self.shapes: dict[Side, ShownShape | None] = {"partial": None, "full": None}
        self.history = MarkHistory(Marks())
        self.outcome: MatchOutcome | None = None
        self.earlier: MatchOutcome | None = None  # the one before, to compare with
        self.choices: list[MatchOutcome] = []  # places that a search has found
        self._opened = self.revision = 0
        self._notice: dict[str, Any] = {"text": "", "kind": "", "number": 0}
        self.unsaved = ""  # why the marks are not on disk, if they are not
        self.data: dict[Side, Attributes] = {side: Attributes() for side in SIDES}  # from tables
        self.look: dict[str, Any] = {}  # as the page that was changed last shows the shapes
        self._look_version = 0  # another one when a project brings its own
        self.batch: BatchTable | None = None
        self.recent = Recent(marks_folder / "recent")
        self._suggestion: tuple[object, dict[str, object] | None] = (None, None)

    @property
    def marks(self) -> Marks:
        """The marks as they are now."""
        return self.history.now

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

    def project(self, inside: bool = True) -> bytes:
        """All that is open, as the content of a project file."""
        with self._lock:
            partial, full = self.both()
            marks, outcome, data, look = self.marks, self.outcome, dict(self.data), self.look
        shapes: dict[Side, ShownShape] = {"partial": partial, "full": full}
        return project_bytes(shapes, data, marks, outcome, look, inside)

    # ---- marks -------------------------------------------------------------------------------

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
                "job": self._jobs.described(),
                "choices": [choice.result.chance for choice in self.choices],
                "batch": self.batch and self.batch.described(),
                "comparable": self.earlier is not None,
                "recent": [] if any(self.shapes.values()) else self._recent(),
                "look": {"version": self._look_version, **self.look},
                "outcome": outcome and {**outcome.described, "stale": self._is_stale(outcome)},
                "suggestion": self._suggested(),
                "notice": dict(self._notice),
            }

    def _described_pair(self, pair: MarkedPair) -> dict[str, Any]:
        marks: dict[str, Any] = {
            side: shape.described_mark(mark) if shape and (mark := pair.mark(side)) else None
            for side, shape in self.shapes.items()
        }
        return {"key": pair.key, "name": pair.name, "state": pair.state, **marks}

    def _hit(self, side: Side, origin: FloatArray, direction: FloatArray) -> Mark:
        shape = self.shapes[side]
        found = None if shape is None else shape.hit(origin, direction)
        if found is None:
            raise InputError("there is no surface under the pointer; click on the shape")
        return found

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
        partial, full = self.both()
        project = self.recent.of((partial.digest, full.digest))
        if project is not None:
            self._show_result(project)
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

    def _keep(self) -> None:
        """Keep the project for the next start, and a row of a batch in its folder."""
        if self.batch is not None and self.batch.current and self.outcome is not None:
            try:
                self.batch.keep(self.outcome)
            except NhoError as problem:
                self._say(f"the row is not saved: {problem}", "error")
            self._changed()
        try:
            partial, full = self.both()
            names = partial.mesh.name, full.mesh.name
            self.recent.keep((partial.digest, full.digest), names, self.project(inside=False))
        except InputError:
            return  # a mesh was closed meanwhile

    def _show(self, outcome: MatchOutcome) -> None:
        self.earlier, self.outcome = self.outcome, outcome
        threading.Thread(target=self._keep, daemon=True).start()  # writing takes its time

    def _show_result(self, project: Project) -> None:
        partial, full = self.both()
        if project.result is not None:
            number = self._jobs.next_version()
            self.outcome = MatchOutcome(partial, full, project.matched, project.result, number)
        if project.look:
            self.look = project.look
            self._look_version += 1

    def _recent(self) -> list[dict[str, object]]:
        return [asdict(entry) for entry in self.recent.listed()]

    def _is_stale(self, outcome: MatchOutcome) -> bool:
        """Whether marks have changed since the match; another name is no change."""
        return Marks(outcome.pairs).places != self.marks.places

    def _say(self, text: str, kind: str = "") -> None:
        """Set the notice that the pages show."""
        self._notice = {"text": text, "kind": kind, "number": self._notice["number"] + 1}

    def _changed(self) -> None:
        self.revision += 1
        self._notify({"revision": self.revision})
