"""A widget for notebooks: place anchors on two shapes, match them, look at the colours.

Stages, marks and picking are those of the studio; the kernel takes the place of its server.

>>> from nho.integrations.anchor_widget import AnchorWidget      # doctest: +SKIP
>>> widget = AnchorWidget("scan.ply", "template.ply")            # doctest: +SKIP
>>> widget                                                       # doctest: +SKIP
>>> widget.result, widget.anchors                                # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

import anywidget
import numpy as np
import traitlets

from nho.errors import NhoError
from nho.geometry.mesh_like import MeshLike, as_mesh
from nho.pipeline.matching import match
from nho.problem.anchors import FEWEST, Anchors
from nho.problem.preparation import AnchorsLike, as_anchors
from nho.problem.result import MatchResult
from nho.progress import Progress
from nho.report.colours import view_colours
from nho.report.scene import VIEWER, packaged_text
from nho.settings import Settings
from nho.studio.marks import SIDES, MarkedPair, MarkHistory, Marks, Side, mark_at
from nho.studio.shape import ShownShape

_ARRAYS = ("positions", "faces", "coarse", "number")
_START = (
    "Click a point on the left shape, then the same point on the right one. "
    "Match without any pair finds anchors by itself."
)


def _script() -> str:
    """The scripts of the studio's stage and of the widget as one module."""
    parts = [packaged_text(name) for name in VIEWER]
    parts.append(packaged_text("stage.js", "nho.studio.page"))
    parts.append(packaged_text("anchor_widget.js", "nho.integrations"))
    return "\n".join([*parts, "export default { render: renderAnchors };"])


class AnchorWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """Two shapes side by side in a notebook, to place anchors on and to match.

    Parameters
    ----------
    partial, full : Mesh, or whatever `nho.match` takes
    anchors : Anchors, or whatever `nho.match` takes but "auto", optional
        To start from.
    settings : Settings or preset name, optional

    Attributes
    ----------
    result : MatchResult, optional
        Of the last match; None before the first.
    """

    _esm = _script()
    _css = packaged_text("anchor_widget.css", "nho.integrations")
    shapes = traitlets.Dict().tag(sync=True)
    pairs = traitlets.List().tag(sync=True)
    colours = traitlets.Dict().tag(sync=True)
    message = traitlets.Unicode(_START).tag(sync=True)
    busy = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        partial: MeshLike,
        full: MeshLike,
        anchors: AnchorsLike | None = None,
        settings: Settings | str | None = None,
    ) -> None:
        meshes = as_mesh(partial, "partial mesh"), as_mesh(full, "full mesh")
        self._shown = {side: ShownShape(mesh, 0) for side, mesh in zip(SIDES, meshes, strict=True)}
        self._settings = settings
        self._history = MarkHistory(_marks(anchors, *meshes))
        self.result: MatchResult | None = None
        super().__init__(shapes={side: _sent(shape) for side, shape in self._shown.items()})
        self.on_msg(self._receive)
        self._show_pairs()

    @property
    def anchors(self) -> Anchors:
        """The pairs with a point on either shape."""
        return self._history.now.anchors(self._shown["partial"].mesh, self._shown["full"].mesh)

    def match(self) -> MatchResult | None:
        """Match by the anchors as they are; what is wrong is said in the widget."""
        self.busy = True
        try:
            self.result = match(
                self._shown["partial"].mesh,
                self._shown["full"].mesh,
                self.anchors if self._history.now.complete else "auto",
                self._settings,
                self._report,
            )
        except NhoError as problem:
            self.message = str(problem)
            return None
        finally:
            self.busy = False
        self._show_result(self.result)
        return self.result

    def _report(self, step: Progress) -> None:
        said = f"Matching: {step.stage}"
        if said != self.message:
            self.message = said

    def _receive(self, _: Any, content: dict[str, Any], buffers: Any) -> None:
        """What was done on the stages; anything wrong is said and changes nothing."""
        now, history = self._history.now, self._history
        try:
            if content["do"] == "match":
                self.match()
            elif content["do"] == "undo":
                history.undo()
            elif content["do"] == "remove" and now.pairs:
                history.to(now.removed(content.get("key") or now.pairs[-1].key))
            elif content["do"] in ("place", "move"):
                self._mark(content)
        except NhoError as problem:
            self.message = str(problem)
        self._show_pairs()

    def _mark(self, content: dict[str, Any]) -> None:
        """Put a mark where a ray meets a shape, or move one there."""
        side: Side = "partial" if content["side"] == "partial" else "full"
        origin, direction = (np.array(content[name], float) for name in ("origin", "direction"))
        hit = self._shown[side].hit(origin, direction)
        if hit is None:
            return
        now = self._history.now
        if content["do"] == "move":
            self._history.to(now.moved(int(content["key"]), side, hit))
        else:
            self._history.to(now.placed(side, hit))
        count = len(self._history.now.complete)
        if count < FEWEST:
            self.message = f"{count} of at least {FEWEST} pairs"
        else:
            self.message = f"{count} pairs"

    def _show_pairs(self) -> None:
        suspects = set() if self.result is None else set(self.result.suspect_anchors)
        complete = self._history.now.complete
        self.pairs = [
            self._sent_pair(pair, pair in complete and complete.index(pair) in suspects)
            for pair in self._history.now.pairs
        ]

    def _sent_pair(self, pair: MarkedPair, suspect: bool) -> dict[str, Any]:
        sent: dict[str, Any] = {"key": pair.key, "name": pair.name, "suspect": suspect}
        for side in SIDES:
            mark = pair.mark(side)
            if mark is not None:
                sent[side] = self._shown[side].described_mark(mark)
        return sent

    def _show_result(self, result: MatchResult) -> None:
        colours = view_colours(self._shown["full"].mesh, result)
        names = {"partial": "correspondence", "full": "faded"}
        self.colours = {
            side: colours[side][names[side]][self._shown[side].drawn.vertex].tobytes()
            for side in SIDES
        }
        numbers = result.summary()
        self.message = (
            f"{result.status}: {numbers['matched_vertices']} of {numbers['partial_vertices']} "
            f"vertices matched, mean confidence {numbers['mean_confidence']:.2f}"
        )


def _sent(shape: ShownShape) -> dict[str, Any]:
    """A shape as the widget draws it."""
    return {"rotation": shape.view.tolist(), **{name: shape.array(name) for name in _ARRAYS}}


def _marks(anchors: AnchorsLike | None, *meshes: Any) -> Marks:
    marks = Marks()
    if anchors is not None:
        given = as_anchors(anchors, *meshes)
        for row, name in enumerate(given.names):
            marks = marks.added(mark_at(given.partial, row), mark_at(given.full, row), name)
    return marks
