"""A pair that gets one anchor after the other: where the result suggests, or by usual choices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nho.evaluation.metrics import geodesic_errors
from nho.geometry.sampling import sample_vertices
from nho.geometry.surface import SurfacePoints
from nho.lab.bench.datasets import AnnotatedPair
from nho.pipeline.matching import match
from nho.problem.result import MatchResult
from nho.settings import preset

Choice = Callable[[AnnotatedPair, np.ndarray, MatchResult | None], int]


def suggested(pair: AnnotatedPair, chosen: np.ndarray, result: MatchResult | None) -> int:
    """The annotated vertex nearest to the suggestion."""
    assert result is not None
    return _nearest_annotated(pair, chosen, pair.partial.vertices[result.next_anchor])


def farthest(pair: AnnotatedPair, chosen: np.ndarray, result: MatchResult | None) -> int:
    """The next of farthest-point sampling, which does not depend on how many follow."""
    annotated = np.flatnonzero(pair.truth.points.face >= 0)
    more = sample_vertices(pair.partial, len(chosen) + 1, "geodesic", 0, annotated)
    return int(more[-1])


def at_random(pair: AnnotatedPair, chosen: np.ndarray, result: MatchResult | None) -> int:
    """Any annotated vertex that is not an anchor yet."""
    annotated = np.flatnonzero(pair.truth.points.face >= 0)
    return int(np.random.default_rng(len(chosen)).choice(np.setdiff1d(annotated, chosen)))


def _nearest_annotated(pair: AnnotatedPair, chosen: np.ndarray, place: np.ndarray) -> int:
    annotated = np.setdiff1d(np.flatnonzero(pair.truth.points.face >= 0), chosen)
    gaps = np.linalg.norm(pair.partial.vertices[annotated] - place, axis=1)
    return int(annotated[gaps.argmin()])


CHOICES: dict[str, Choice] = {
    "suggested": suggested,
    "farthest point": farthest,
    "random": at_random,
}


def course(
    pair: AnnotatedPair, choice: Choice, first: int, last: int, threads: int = 0
) -> list[float]:
    """Mean error x100 (at vertices) with ``first`` ... ``last`` anchors."""
    settings = preset("default").replace(threads=threads)
    chosen = pair.anchors(first)[:, 0]
    errors = []
    for count in range(first, last + 1):
        partner = pair.truth.points[chosen].nearest_vertex(pair.full)
        result = match(pair.partial, pair.full, np.stack([chosen, partner], axis=1), settings)
        found = SurfacePoints.at_vertices(pair.full, result.vertex_map)
        errors.append(100 * float(np.nanmean(geodesic_errors(pair.full, found, pair.truth.points))))
        if count < last:
            chosen = np.append(chosen, choice(pair, chosen, result))
    return errors
