"""A finished match as the page shows it, and where the next anchor would help most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse.csgraph import dijkstra

from nho.geometry.surface import SurfacePoints, project
from nho.problem.result import MatchResult
from nho.report import key_figures
from nho.report.colours import ViewColours, distance_colours, view_colours, with_no_partner
from nho.report.views import framed, view_beside
from nho.studio.marks import MarkedPair, Marks, Side, mark_at, points_of
from nho.studio.shape import ShownShape
from nho.studio.visibility import DIRECTIONS
from nho.transfer.completion import Completion, complete
from nho.transfer.fit import Fit, fit_template

MEASURED, PREDICTED = (46, 125, 140), (224, 142, 48)  # also in page/completed.js
_SHOWN = 0.98  # quantile of the distances that the scale of colours ends at
_NEAR = 0.15  # radii: a point on the outside so near means the same part of the shape


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

    @cached_property
    def fit(self) -> Fit:
        """The template fitted to the scan."""
        return fit_template(self.result, self.partial.mesh, self.full.mesh)

    @cached_property
    def misfit(self) -> np.ndarray:
        """(n_partial,) distance of the scan from the fitted template, in the unit of the scan."""
        _, gaps = project(self.fit.mesh, self.partial.mesh.vertices)
        return np.where(self.result.vertex_map >= 0, gaps, np.nan)

    @cached_property
    def completion(self) -> Completion:
        """The scan where it was measured, the fitted template elsewhere."""
        return complete(self.result, self.partial.mesh, self.full.mesh, fit=self.fit)

    def completed_array(self, name: str) -> bytes | None:
        """The completed scan for the page; None = no such array."""
        done, shape = self.completion, self._completed
        if name == "colours":
            return (
                np.where(done.measured[:, None], MEASURED, PREDICTED)[shape.drawn.vertex]
                .astype(np.uint8)
                .tobytes()
            )
        return shape.array(name) if name in ("positions", "faces") else None

    @cached_property
    def _completed(self) -> ShownShape:
        return ShownShape(self.completion.mesh, self.version)

    @property
    def about_completion(self) -> dict[str, float]:
        """Share of the area that was measured, and the typical error of the rest."""
        figures = self.completion.summary()
        return {
            "measured": figures["measured_percent"] / 100,
            "error": figures["median_uncertainty"],
        }

    def change(self, other: MatchOutcome) -> np.ndarray:
        """(n_partial,) distance between the partners in two results; NaN without both."""
        mesh = self.full.mesh
        gap = self.result.points.positions(mesh) - other.result.points.positions(mesh)
        return np.asarray(np.linalg.norm(gap, axis=1))

    def measured_colours(self, values: np.ndarray) -> tuple[bytes, float]:
        """Distances at the scan's vertices as colours, and the length at the end of the scale."""
        most = float(np.nanquantile(values, _SHOWN)) if np.isfinite(values).any() else 0.0
        most = most or float(self.partial.frame[1])
        rows = self.partial.drawn.vertex
        colours = with_no_partner(distance_colours(values, most), self.result)
        return colours[rows].tobytes(), most

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
            **{name: figures[name] for name in ("matched", "no_partner", "confidence", "region")},
            "scale": result.scale,
            "suspects": [
                self.pairs[row].key for row in result.suspect_anchors if row < len(self.pairs)
            ],
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
    vertex = _clickable(shape, vertex)
    suggestion = _suggestion(shape, vertex, "where the match is least sure")
    partner = outcome.result.points[np.array([vertex])]
    if partner.face[0] >= 0:
        suggestion["partner"] = outcome.full.described_mark(mark_at(partner, 0))
    return suggestion


def _suggestion(shape: ShownShape, vertex: int, why: str) -> dict[str, object]:
    mark = mark_at(SurfacePoints.at_vertices(shape.mesh, np.array([vertex])), 0)
    described = shape.described_mark(mark)
    seen = int(shape.seen_from[vertex])
    if seen >= 0:
        described["normal"] = DIRECTIONS[seen].tolist()
    return {"why": why, "at": described["at"], "mark": described, "inside": seen < 0}


def _farthest_vertex(shape: ShownShape, marks: Marks) -> int | None:
    """The vertex farthest along edges from all marks on the shape; without marks, none."""
    placed = [pair.partial for pair in marks.pairs if pair.partial is not None]
    if not placed:
        return None
    sources = np.unique(points_of(placed).nearest_vertex(shape.mesh))
    away = dijkstra(shape.graph, directed=False, indices=sources, min_only=True)
    # Other pieces of the surface come after the one with marks on it.
    away[~shape.mesh.used_vertices | ~np.isfinite(away)] = -1
    outside = np.where(shape.seen_from >= 0, away, -1)
    return int(np.argmax(outside if outside.max() > 0 else away))


def _clickable(shape: ShownShape, vertex: int) -> int:
    """The nearest vertex that is seen from outside; itself if that is far away."""
    outside = np.flatnonzero(shape.seen_from >= 0)
    if not len(outside):
        return vertex
    places = shape.mesh.vertices
    gap = np.linalg.norm(places[outside] - places[vertex], axis=1)
    return int(outside[gap.argmin()]) if gap.min() < _NEAR * shape.frame[1] else vertex
