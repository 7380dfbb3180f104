"""What is open in the studio, and everything that can be done with it.

Every verb takes the lock, changes the state and notifies the pages. All open pages share one
session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nho.errors import InputError
from nho.geometry.mesh import FloatArray, Mesh
from nho.geometry.symmetry import FLIPPED, find_symmetry, mirrored
from nho.io.attributes import Attributes
from nho.pipeline.automatic_anchors import AUTO
from nho.problem.anchors import FEWEST, Anchors
from nho.studio.batch_table import BatchTable
from nho.studio.chosen_look import checked_look
from nho.studio.marks import SIDES, MarkedPair, MarkHistory, Marks, Side
from nho.studio.outcome import MatchOutcome
from nho.studio.placements import pairs_from, placements, with_pairs
from nho.studio.project import Project, project_of_result
from nho.studio.session_state import SessionState
from nho.studio.shape import ShownShape
from nho.studio.worker import MatchFailure

Ray = tuple[FloatArray, FloatArray]  # origin and direction, as a page sees a shape


class Session(SessionState):
    """Everything that pages can do."""

    def warm_up(self) -> None:
        """Get ready for a first match."""
        self._jobs.warm_up()

    def close(self) -> None:
        """End a running match and its process."""
        self._jobs.close()

    # ---- meshes ------------------------------------------------------------------------------

    def open(
        self,
        side: Side,
        mesh: Mesh,
        attributes: Attributes | None = None,
        path: Path | None = None,
    ) -> None:
        """Show a mesh; marks on the one before it go, those saved for this pair come back.

        Of two meshes for one side the one that was opened last stays, however long it took.
        """
        with self._lock:
            self._opened += 1
            version = self._opened
        shape = ShownShape(mesh, version, attributes or Attributes(), path)
        shape.prepare()  # not under the lock: the pages go on meanwhile
        with self._lock:
            before = self.shapes[side]
            if before is not None and before.version > version:
                return
            stopped = self._jobs.stop()
            self.shapes[side] = shape
            self.outcome = self.earlier = None
            self.data[side] = Attributes()
            self.look.pop("cameras", None)  # they looked at another shape
            self.choices = []
            self.history = MarkHistory(self.marks.without_side(side))
            self._say("the match was stopped because a mesh was replaced" if stopped else "")
            self._restore()
            if shape.notes:
                self._say("; ".join(filter(None, (str(self._notice["text"]), shape.notes))))
            self._changed()
        if stopped:
            self._jobs.warm_up()

    def open_project(self, project: Project) -> None:
        """Show all that a project holds, in place of what was there."""
        for side in SIDES:
            found = project.meshes[side]
            self.open(side, found.mesh, found.attributes, found.path)
        with self._lock:
            self.data = {side: project.meshes[side].data for side in SIDES}
            self.history = MarkHistory(project.marks)
            self._show_result(project)
            self._say("")
            self._save()
            self._changed()

    def open_batch(self, folder: Path) -> None:
        """Show the table of a batch."""
        with self._lock:
            self.batch = BatchTable(folder)
            self._changed()

    def open_row(self, name: str) -> None:
        """Open a pair of the batch; the next match of it goes into its folder."""
        if self.batch is None:
            raise InputError("no batch is open; start the studio with its folder")
        self.batch.current = ""
        self.open_project(project_of_result(self.batch.place(name)))
        with self._lock:
            self.batch.current = name
            self._changed()

    def add_data(self, side: Side, data: Attributes) -> None:
        """Values on a shape from a file of their own, to be transferred after a match."""
        with self._lock:
            self.data[side] = self.data[side].merged(data)
            where = "scan" if side == "partial" else "template"
            self._say(f"{', '.join(data.names())} on the {where}: match, then More files")
            self._changed()

    def mirror(self, side: Side) -> None:
        """Show a shape mirrored at its own plane of symmetry: a left bone as a right one."""
        shape = self.shape(side)
        image = mirrored(shape.mesh, find_symmetry(shape.mesh).plane)
        named = Mesh(image.vertices, image.faces, f"mirrored {shape.mesh.name}")
        uv = shape.attributes.uv
        self.open(side, named, shape.attributes.replace(uv=None if uv is None else uv[:, FLIPPED]))

    def show_as(self, look: dict[str, Any]) -> None:
        """Remember how a page shows the shapes, for the project.

        With a ``version``, only if no project has brought its own look since the page got that one.
        """
        given = dict(look)
        version = given.pop("version", None)
        with self._lock:
            checked = checked_look(given)
            if version is None or version == self._look_version:
                self.look = checked

    def place(
        self, side: Side, origin: FloatArray, direction: FloatArray, key: int | None = None
    ) -> None:
        """A click on a shape; ``key`` is the open pair that the user has chosen, if any."""
        self.change(lambda marks: marks.placed(side, self._hit(side, origin, direction), key))

    def move(self, key: int, side: Side, origin: FloatArray, direction: FloatArray) -> None:
        """A mark was dragged to another place."""
        self.change(lambda marks: marks.moved(key, side, self._hit(side, origin, direction)))

    def measure(self, side: Side, rays: Sequence[Ray]) -> dict[str, Any]:
        """The points that two rays meet, and the distance between them."""
        start, end = (self._hit(side, *ray) for ray in rays)
        shape = self.shape(side)
        ends = [shape.described_mark(mark)["at"] for mark in (start, end)]
        return {"ends": ends, **shape.distance((start, end))}

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
            pairs = self.marks.complete
            if len(pairs) < FEWEST:
                raise InputError(f"{len(pairs)} complete pairs; mark at least {FEWEST}")
            anchors = self.marks.anchors(partial.mesh, full.mesh)
            self._begin(pairs, anchors, preset_name, self._show)

    def find_anchors(self) -> None:
        """Begin a search for anchors; with three pairs or more, for those that are missing."""
        with self._lock:
            partial, full = self.both()
            pairs = self.marks.complete
            if len(pairs) >= FEWEST:
                anchors = self.marks.anchors(partial.mesh, full.mesh)
                self._begin(pairs, anchors, "default", self._take_placement)
            else:
                self._begin((), AUTO, "default", self._offer)

    def choose(self, number: int) -> None:
        """Take one of the places that the search has found: its pairs and its match."""
        with self._lock:
            if not 0 <= number < len(self.choices):
                raise InputError("there is no such placement any more; search again")
            self._take_placement(self.choices[number])
            self._changed()

    def dismiss(self) -> None:
        """Take none of the places."""
        with self._lock:
            self.choices = []
            self._changed()

    def cancel(self) -> None:
        """Stop the running match, now."""
        with self._lock:
            if not self._jobs.stop():
                return
            self._say("the match was cancelled")
            self._changed()
        self._jobs.warm_up()

    # ---- inside ------------------------------------------------------------------------------

    def _step(self, step: Callable[[], bool]) -> None:
        with self._lock:
            if step():
                self._save()
                self._changed()

    def _begin(
        self,
        pairs: tuple[MarkedPair, ...],
        anchors: Anchors | str,
        preset_name: str,
        show: Callable[[MatchOutcome], None],
    ) -> None:
        def finish(done: MatchOutcome | MatchFailure) -> None:
            if isinstance(done, MatchFailure):
                self._say(done.reason, "error")
            else:
                self._say("")
                show(done)
            self._changed()

        self._jobs.begin(self.both(), pairs, anchors, preset_name, finish)
        self.choices = []
        self._changed()

    def _offer(self, outcome: MatchOutcome) -> None:
        """Let the user choose between the places that were found, if there are several."""
        found = placements(outcome)
        if len(found) == 1:
            self._take_placement(found[0])
        else:
            self.choices = found

    def _take_placement(self, outcome: MatchOutcome) -> None:
        """Pairs of a match beside those that are there, and the match itself."""
        found = pairs_from(outcome, self.marks)
        self.history.to(self.marks.with_found(found))
        self._save()
        self.choices = []
        number = self._jobs.next_version()
        self._show(replace(with_pairs(outcome, self.marks.complete), version=number))
        many = f"{len(found)} pairs were" if len(found) != 1 else "1 pair was"
        self._say(f"{many} found; look at them, and correct or delete what is wrong")
