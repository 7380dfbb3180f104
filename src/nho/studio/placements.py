"""Anchors without a person: the places where the scan may lie, and pairs read off one of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nho.anchor_search.search import FOUND
from nho.geometry.sampling import farthest_points
from nho.geometry.surface import SurfacePoints
from nho.studio.marks import SIDES, Mark, MarkedPair, Marks, mark_at, points_of
from nho.studio.outcome import MatchOutcome

_WANTED = 12  # pairs in all: with so many a wrong one is found, too
_SURE = 0.5  # of the best confidence: a place with less is no anchor


def placements(outcome: MatchOutcome) -> list[MatchOutcome]:
    """The answer and its alternatives, each as an outcome of its own; the likeliest first."""
    result = replace(outcome.result, suspect_anchors=(), anchors=np.empty((0, 2), dtype=np.int64))
    # How many anchors the search used is not how many pairs the user gets.
    notes = tuple(note for note in result.notes if FOUND not in note)
    result = replace(result, anchor_names=(), notes=notes)
    found = [replace(outcome, result=replace(result, alternatives=()))]
    for other in result.alternatives:
        matched = other.vertex_map >= 0
        answer = replace(
            result,
            vertex_map=other.vertex_map,
            face=other.face,
            barycentric=other.barycentric,
            region=other.region,
            region_score=other.region.astype(np.float64),
            confidence=np.where(matched, other.chance, 0.0),
            overlap=matched.astype(np.float64),
            chance=other.chance,
            next_anchor=-1,
            alternatives=(),
        )
        found.append(replace(outcome, result=answer))
    return found


def with_pairs(outcome: MatchOutcome, pairs: tuple[MarkedPair, ...]) -> MatchOutcome:
    """The match of a placement as one of these pairs: page, report and files name the same."""
    own, other = (
        points_of(pair.mark(side) for pair in pairs).nearest_vertex(shape.mesh)
        for side, shape in zip(SIDES, (outcome.partial, outcome.full), strict=True)
    )
    names = tuple(pair.name for pair in pairs)
    result = replace(outcome.result, anchors=np.column_stack([own, other]), anchor_names=names)
    return replace(outcome, pairs=pairs, result=result)


def pairs_from(outcome: MatchOutcome, marks: Marks) -> list[tuple[Mark, Mark]]:
    """Well-spread pairs of a match, far from the marks that are there already."""
    result, mesh = outcome.result, outcome.partial.mesh
    outside = outcome.partial.seen_from >= 0
    matched = (result.vertex_map >= 0) & mesh.used_vertices
    sure = matched & (result.confidence >= _SURE * result.confidence.max())
    rows = np.flatnonzero(sure & outside)
    if len(rows) < _WANTED:
        rows = np.flatnonzero(matched)
    placed = [pair.partial for pair in marks.complete]
    missing = min(_WANTED - len(placed), len(rows))
    if missing <= 0:
        return []
    known = points_of(placed).positions(mesh)
    # Rows of the marks come first, so that what follows is far from them.
    places = np.concatenate([known, mesh.vertices[rows]])
    chosen = _farthest(places, len(known), missing) - len(known)
    own = SurfacePoints.at_vertices(mesh, rows[chosen])
    partner = result.points[rows[chosen]]
    return [(mark_at(own, row), mark_at(partner, row)) for row in range(len(chosen))]


def _farthest(places: np.ndarray, given: int, count: int) -> np.ndarray:
    """Rows of ``count`` further places, each the farthest from those before and the ``given``."""
    if not given:
        return farthest_points(places, count)
    gaps = np.linalg.norm(places[:, None] - places[None, :given], axis=2).min(axis=1)
    chosen = []
    for _ in range(count):
        chosen.append(int(gaps.argmax()))
        gaps = np.minimum(gaps, np.linalg.norm(places - places[chosen[-1]], axis=1))
    return np.array(chosen, dtype=np.int64)
