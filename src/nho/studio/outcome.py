"""A finished match as the page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nho.problem.result import MatchResult
from nho.report.scene import view_colours
from nho.report.views import framed, turn_beside
from nho.studio.marks import MarkedPair, Side
from nho.studio.shape import Shape

VIEWS = ("correspondence", "faded", "region", "confidence")


@dataclass(frozen=True, eq=False)
class Outcome:
    """A result, with the shapes and the pairs it was made from."""

    partial: Shape
    full: Shape
    pairs: tuple[MarkedPair, ...]
    result: MatchResult
    version: int

    @cached_property
    def _colours(self) -> dict[Side, dict[str, np.ndarray]]:
        of_partial, of_full = view_colours(self.full.mesh, self.result)
        return {"partial": of_partial, "full": of_full}

    def colours(self, side: Side, view: str) -> bytes | None:
        """8-bit sRGB of every vertex that is drawn."""
        found = self._colours[side].get("correspondence" if view == "faded" else view)
        if side == "full":
            found = self._colours[side].get(view)
        if found is None:
            return None
        shape = self.partial if side == "partial" else self.full
        return found[shape.drawn.vertex].astype("u1").tobytes()

    def array(self, name: str) -> bytes | None:
        """What hovering shows, row by row of the vertices that are drawn; None = no such array."""
        if name == "regionScore":
            return self.result.region_score[self.full.drawn.vertex].astype("<f4").tobytes()
        rows = self.partial.drawn.vertex
        if name == "partner":
            places = self.result.points[rows].positions(self.full.mesh)
            return framed(places, self.full.frame).astype("<f4").tobytes()
        if name == "partnerVertex":
            return self.result.vertex_map[rows].astype("<i4").tobytes()
        if name == "confidence":
            return self.result.confidence[rows].astype("<f4").tobytes()
        return None

    @cached_property
    def described(self) -> dict[str, object]:
        """For the page."""
        result, full = self.result, self.full
        matched = result.vertex_map >= 0
        turn = turn_beside(
            self.partial.mesh, full.mesh, full.turn, result.points, result.confidence
        )
        covered = full.mesh.face_areas @ result.region[full.mesh.faces].mean(axis=1)
        return {
            "version": self.version,
            "status": result.status,
            "warnings": list(result.warnings),
            "seconds": result.timings.get("total", 0.0),
            "matched": float(matched.mean()),
            "confidence": float(result.confidence[matched].mean()) if matched.any() else None,
            "region": float(covered / full.mesh.area),
            "scale": result.scale,
            "suspects": [self.pairs[row].key for row in result.suspect_anchors],
            "turn": turn.tolist(),
        }
