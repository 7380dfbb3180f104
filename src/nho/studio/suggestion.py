"""Where the next anchor would help most."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import dijkstra

from nho.geometry.surface import SurfacePoints
from nho.studio.marks import Mark, Marks, mark_at, points_of
from nho.studio.outcome import Outcome
from nho.studio.shape import Shape


def suggested(shape: Shape, marks: Marks, outcome: Outcome | None) -> dict[str, object] | None:
    """A place on the partial shape, for the page; with its supposed partner after a match.

    Before a match it is the place farthest from all marks; after one, where the match itself
    expects most of another anchor.
    """
    if outcome is not None and outcome.partial is shape and outcome.result.next_anchor >= 0:
        result = outcome.result
        told: dict[str, object] = {
            "why": "where the match is least sure",
            **_described(shape, _at_vertex(shape, result.next_anchor)),
        }
        partner = result.points[np.array([result.next_anchor])]
        if partner.face[0] >= 0:
            told["partner"] = outcome.full.described_mark(mark_at(partner, 0))
        return told
    vertex = _farthest(shape, marks)
    if vertex is None:
        return None
    return {"why": "far from the other anchors", **_described(shape, _at_vertex(shape, vertex))}


def _described(shape: Shape, mark: Mark) -> dict[str, object]:
    return {"at": shape.described_mark(mark)["at"], "mark": shape.described_mark(mark)}


def _at_vertex(shape: Shape, vertex: int) -> Mark:
    return mark_at(SurfacePoints.at_vertices(shape.mesh, np.array([vertex])), 0)


def _farthest(shape: Shape, marks: Marks) -> int | None:
    """The vertex farthest along edges from all marks on the shape; without marks, none."""
    placed = [pair.partial for pair in marks.pairs if pair.partial is not None]
    if not placed:
        return None
    sources = np.unique(points_of(placed).nearest_vertex(shape.mesh))
    away = dijkstra(shape.graph, directed=False, indices=sources, min_only=True)
    on_surface = np.zeros(len(away), dtype=bool)
    on_surface[shape.mesh.faces] = True
    # Another piece of the surface counts too, but only after the one with marks on it is served.
    away[~on_surface | ~np.isfinite(away)] = -1
    return int(np.argmax(away))
