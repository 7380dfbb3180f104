"""A finished match as the page shows it, and where the next anchor would help most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse.csgraph import dijkstra

from nho.geometry.surface import SurfacePoints
from nho.problem.result import MatchResult
from nho.report import key_figures
from nho.report.colours import ViewColours, view_colours
from nho.report.views import framed, view_beside
from nho.studio.marks import MarkedPair, Marks, Side, mark_at, points_of
from nho.studio.shape import ShownShape


@dataclass(frozen=True, eq=False)
class MatchOutcome:
    """A result, with the shapes and the pairs it was made from."""

    partial: ShownShape
    full: ShownShape
    pairs: tuple[MarkedPair, ...]
    result: MatchResult
    version: int

    @cached_property
    def _colours(self) -> ViewColours:
        return view_colours(self.full.mesh, self.result)

    def colours(self, side: Side, view: str) -> bytes | None:
        """8-bit sRGB of every vertex that is drawn; None = no such view."""
        name = "correspondence" if view == "faded" and side == "partial" else view
        found = self._colours[side].get(name)
        shape = self.partial if side == "partial" else self.full
        return None if found is None else found[shape.drawn.vertex].tobytes()

    def array(self, name: str) -> bytes | None:
        """What hovering shows, row by row of the vertices that are drawn; None = no such array."""
        result, rows = self.result, self.partial.drawn.vertex
        array: np.ndarray
        if name == "regionScore":
            array = result.region_score[self.full.drawn.vertex]
        elif name == "partner":
            array = framed(result.points[rows].positions(self.full.mesh), self.full.frame)
        elif name == "partnerVertex":
            array = result.vertex_map[rows]
        elif name == "confidence":
            array = result.confidence[rows]
        else:
            return None
        return array.astype("<i4" if name == "partnerVertex" else "<f4").tobytes()

    @cached_property
    def described(self) -> dict[str, object]:
        """What the page says of the match."""
        result, partial, full = self.result, self.partial.mesh, self.full.mesh
        view = view_beside(partial, full, self.full.view, result.points, result.confidence)
        figures = key_figures(partial, full, result)
        return {
            "version": self.version,
            "status": result.status,
            "warnings": list(result.warnings),
            "notes": list(result.notes),
            "seconds": result.timings.get("total", 0.0),
            **{name: figures[name] for name in ("matched", "confidence", "region")},
            "scale": result.scale,
            "suspects": [self.pairs[row].key for row in result.suspect_anchors],
            "rotation": view.tolist(),
        }


def suggested_anchor(
    shape: ShownShape, marks: Marks, outcome: MatchOutcome | None
) -> dict[str, object] | None:
    """A place on the partial shape, for the page; with its supposed partner after a match.

    Before a match it is the place farthest from all marks; after one, where the match itself
    expects most of another anchor.
    """
    if outcome is None or outcome.partial is not shape or outcome.result.next_anchor < 0:
        vertex = _farthest_vertex(shape, marks)
        return None if vertex is None else _suggestion(shape, vertex, "far from the other anchors")
    vertex = outcome.result.next_anchor
    suggestion = _suggestion(shape, vertex, "where the match is least sure")
    partner = outcome.result.points[np.array([vertex])]
    if partner.face[0] >= 0:
        suggestion["partner"] = outcome.full.described_mark(mark_at(partner, 0))
    return suggestion


def _suggestion(shape: ShownShape, vertex: int, why: str) -> dict[str, object]:
    mark = mark_at(SurfacePoints.at_vertices(shape.mesh, np.array([vertex])), 0)
    described = shape.described_mark(mark)
    return {"why": why, "at": described["at"], "mark": described}


def _farthest_vertex(shape: ShownShape, marks: Marks) -> int | None:
    """The vertex farthest along edges from all marks on the shape; without marks, none."""
    placed = [pair.partial for pair in marks.pairs if pair.partial is not None]
    if not placed:
        return None
    sources = np.unique(points_of(placed).nearest_vertex(shape.mesh))
    away = dijkstra(shape.graph, directed=False, indices=sources, min_only=True)
    # Other pieces of the surface come after the one with marks on it.
    away[~shape.mesh.used_vertices | ~np.isfinite(away)] = -1
    return int(np.argmax(away))
