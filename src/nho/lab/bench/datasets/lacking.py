"""Pairs of another family whose full shape lacks a part that the partial one shows.

A ball around a random vertex of the true region is cut out of the full shape, so large that a
quarter of the region is gone. What lay there has no partner any more.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial as bind
from pathlib import Path

import numpy as np

from nho.evaluation.ground_truth import GroundTruth
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import take_faces
from nho.lab.bench.datasets.pair import AnnotatedPair, Listing

_GONE = 0.25  # share of the true region


def listing(folder: Path | None, whole: Callable[[Path | None], Listing]) -> Listing:
    """Pairs of the family with this listing, each with a part of its full shape cut away."""
    return {name: bind(_load, load) for name, load in whole(folder).items()}


def _load(load: Callable[[], AnnotatedPair]) -> AnnotatedPair:
    return without_a_part(load())


def without_a_part(pair: AnnotatedPair) -> AnnotatedPair:
    """The pair without a part of its full shape; its name draws the place."""
    full, truth = pair.full, pair.truth
    areas = np.where(truth.region, full.vertex_areas, 0.0)
    random = np.random.default_rng(zlib.crc32(pair.name.encode()))
    centre = random.choice(full.n_vertices, p=areas / areas.sum())
    away = distances_from(edge_graph(full), np.array([centre]))[0]
    order = np.argsort(away, kind="stable")
    count = np.searchsorted(np.cumsum(areas[order]), _GONE * areas.sum()) + 1
    gone = np.zeros(full.n_vertices, dtype=bool)
    gone[order[:count]] = True
    cut = take_faces(full, np.asarray(~gone[full.faces].any(axis=1)))
    vertex, face = np.full(full.n_vertices, -1), np.full(full.n_faces, -1)
    vertex[cut.vertex_of_parent] = np.arange(cut.mesh.n_vertices)
    face[cut.face_of_parent] = np.arange(cut.mesh.n_faces)
    known = truth.points.face >= 0
    left = np.where(known, face[truth.points.face], -1)
    inside = truth.points.where(left >= 0)
    # A point at a vertex may be named by a face that is gone although the vertex is still there.
    nearest = np.where(known, vertex[truth.points.nearest_vertex(full)], -1)
    at_vertex = SurfacePoints.at_vertices(cut.mesh, nearest)
    points = SurfacePoints(
        np.where(left >= 0, left, at_vertex.face),
        np.where((left >= 0)[:, None], inside.barycentric, at_vertex.barycentric),
    )
    region = truth.region[cut.vertex_of_parent]
    return replace(
        pair, full=cut.mesh, truth=GroundTruth(points, region, known & (points.face < 0))
    )
