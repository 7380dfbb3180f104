"""Pairs of another family whose partial shape shows foreign matter: a plinth, a floor, a ball.

The partial shape is cut by a plane, and the foreign surface is stitched to the cut. It has no
partner; the rest keeps its truth.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial as bind
from pathlib import Path

import numpy as np

from nho.evaluation.ground_truth import GroundTruth, region_around
from nho.geometry.foreign import PROFILES, stitched_on
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import cut_by_plane
from nho.lab.bench.datasets.pair import AnnotatedPair, Listing

_KEPT = 0.7  # share of the area of the partial shape


def listing(folder: Path | None, plain: Callable[[Path | None], Listing]) -> Listing:
    """Pairs of the family with this listing, each with something stitched on."""
    kinds = list(PROFILES)
    return {
        name: bind(_load, load, kinds[number % len(kinds)])
        for number, (name, load) in enumerate(plain(folder).items())
    }


def _load(load: Callable[[], AnnotatedPair], kind: str) -> AnnotatedPair:
    return with_foreign_matter(load(), kind)


def with_foreign_matter(pair: AnnotatedPair, kind: str) -> AnnotatedPair:
    """The pair with a surface of `PROFILES` on its partial shape; its name draws where."""
    random = np.random.default_rng(zlib.crc32(pair.name.encode()))
    up = random.standard_normal(3)
    cut = cut_by_plane(pair.partial, up, keep_area=_KEPT)
    fresh = cut.mesh.boundary_vertices & ~pair.partial.boundary_vertices[cut.vertex_of_parent]
    unit = float(np.sqrt(pair.full.area))
    partial = stitched_on(cut.mesh, fresh, up, PROFILES[kind], unit)
    known = pair.truth.points[cut.vertex_of_parent]
    more = partial.n_vertices - cut.mesh.n_vertices
    points = SurfacePoints(
        np.concatenate([known.face, np.full(more, -1)]),
        np.concatenate([known.barycentric, np.full((more, 3), np.nan)]),
    )
    foreign = np.arange(partial.n_vertices) >= cut.mesh.n_vertices
    truth = GroundTruth(points, region_around(pair.full, points), foreign)
    return replace(pair, partial=partial, truth=truth)
