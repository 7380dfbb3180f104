"""Shin bones from CT scans, each meshed its own way, whole or cut to two thirds.

From https://github.com/aaronsfox/tibial-geometry: ``<bone>.ply``, and ``truth.npz`` with an array
for every bone: row i of each is its vertex, counted from 0, of the same anatomical point. The bone
that is first by name is the full shape.
"""

from __future__ import annotations

from functools import partial as bind
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.evaluation.ground_truth import GroundTruth
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, project
from nho.lab.bench.datasets.cutting import cut_across, ends_of
from nho.lab.bench.datasets.pair import (
    AnnotatedPair,
    Listing,
    checked_pair,
    data_folder,
    region_by_rows,
)
from nho.lab.bench.datasets.reading import GUIDE, arrays_in, in_range, mesh_at, same_count

_FOLDER = "worlds/tibias"
_KEPT = 2 / 3  # share of the area that a cut leaves
_LARGEST_PART = 2.0  # people differ: six whole bones have 1.02 to 1.36 times the area of the first


def listing(folder: Path | None, cut: bool = False) -> Listing:
    """Pairs by the bones in alphabetical order; cut ones as ``<bone>-cut<number>``.

    Odd numbers keep one end of the bone, even ones the other.
    """
    folder = data_folder(folder)
    found = sorted((folder / _FOLDER).glob("*.ply"))
    if len(found) < 2:
        raise InputError(
            f"{folder}: holds no tibias; put bones of "
            f"https://github.com/aaronsfox/tibial-geometry there, as {_FOLDER}/<bone>.ply, and "
            f"{_FOLDER}/truth.npz with the vertices of the same points on each ({GUIDE})"
        )
    first, *others = found
    numbers = range(1, len(others) + 1)
    names = [
        path.stem + f"-cut{number}" * cut for number, path in zip(numbers, others, strict=True)
    ]
    return {
        name: bind(_load, name, path, first, number * cut)
        for name, path, number in zip(names, others, numbers, strict=True)
    }


def _load(name: str, path: Path, full_path: Path, number: int) -> AnnotatedPair:
    bone, full = mesh_at(path), mesh_at(full_path)
    truth_file = path.parent / "truth.npz"
    rows, image = arrays_in(truth_file, path.stem, full_path.stem)
    same_count(len(rows), len(image), truth_file, f"{full.name} there")
    in_range(rows, bone.n_vertices, truth_file, bone.name)
    in_range(image, full.n_vertices, truth_file, full.name)
    partial, points, kept = bone, _mean_images(bone, full, rows, image), np.ones(len(rows), bool)
    if number:
        ends = bone.vertices[rows[ends_of(full.vertices[image])]]
        cut = cut_across(bone, ends, number, _KEPT)
        partial, points = cut.mesh, points[cut.vertex_of_parent]
        kept = cut.kept_vertices[rows]
    truth = GroundTruth(points, region_by_rows(full, image, kept))
    return checked_pair(AnnotatedPair(name, partial, full, truth), truth_file, _LARGEST_PART)


def _mean_images(bone: Mesh, full: Mesh, rows: np.ndarray, image: np.ndarray) -> SurfacePoints:
    """The point on ``full`` of every vertex; of several rows at one vertex, the one amid them."""
    vertex, row_of = np.unique(rows, return_inverse=True)
    count = np.bincount(row_of)
    sums = [np.bincount(row_of, full.vertices[image, axis]) for axis in range(3)]
    points = SurfacePoints.none(bone.n_vertices)
    on_full, _ = project(full, np.stack(sums, axis=1) / count[:, None])
    points.face[vertex], points.barycentric[vertex] = on_full.face, on_full.barycentric
    return points
