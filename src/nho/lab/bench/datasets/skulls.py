"""Skulls of mice of several strains, whole or cut in half, with landmarks by experts.

From the micro-CT scans of https://github.com/SlicerMorph/Mouse_Models: ``<strain>.ply``, and
``<strain>.mrk.json`` with the landmarks, the same in the same order for every strain. The skull
that is first by name is the full shape. Nothing but the landmarks is annotated: on the partial
shape the vertex nearest to each, on the full shape the closest point of the surface.
"""

from __future__ import annotations

import logging
from functools import partial as bind
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from nho.errors import InputError
from nho.evaluation.ground_truth import GroundTruth
from nho.geometry.alignment import similarity
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.io.landmarks import read_landmarks
from nho.lab.bench.datasets.cutting import cut_across, ends_of
from nho.lab.bench.datasets.pair import AnnotatedPair, Listing, checked_pair, data_folder
from nho.lab.bench.datasets.reading import GUIDE, mesh_at, same_count

_FOLDER = "worlds/skulls"
_LANDMARKS = ".mrk.json"
_KEPT = 0.5  # share of the area that a cut leaves

log = logging.getLogger(__name__)


def listing(folder: Path | None, cut: bool = False) -> Listing:
    """Pairs by the strains in alphabetical order; cut ones as ``<strain>-cut<number>``.

    Odd numbers keep one end of the skull, even ones the other.
    """
    folder = data_folder(folder)
    found = sorted((folder / _FOLDER).glob(f"*{_LANDMARKS}"))
    if len(found) < 2:
        raise InputError(
            f"{folder}: holds no skulls; put those of "
            f"https://github.com/SlicerMorph/Mouse_Models there, as {_FOLDER}/<strain>.ply with "
            f"about 10,000 vertices and {_FOLDER}/<strain>{_LANDMARKS} ({GUIDE})"
        )
    first, *others = found
    numbers = range(1, len(others) + 1)
    names = [
        path.name.removesuffix(_LANDMARKS) + f"-cut{number}" * cut
        for number, path in zip(numbers, others, strict=True)
    ]
    return {
        name: bind(_load, name, path, first, number * cut)
        for name, path, number in zip(names, others, numbers, strict=True)
    }


def _load(name: str, path: Path, full_path: Path, number: int) -> AnnotatedPair:
    (skull, here, _), (full, there, on_full) = _skull(path), _skull(full_path)
    same_count(len(here), len(there), path, full_path.name)
    tree = cKDTree(skull.vertices)
    gap, vertex = map(np.asarray, tree.query(here))
    log.info("%s: landmarks lie %.3g, at most %.3g from vertices", name, np.median(gap), gap.max())
    landmark = np.full(skull.n_vertices, -1, dtype=np.int64)
    farthest_first = np.argsort(-gap, kind="stable")  # of two at one vertex the nearer one stays
    landmark[vertex[farthest_first]] = farthest_first
    partial, region = skull, np.ones(full.n_vertices, dtype=bool)
    if number:
        cut = cut_across(skull, here[ends_of(there)], number, _KEPT)
        partial, landmark = cut.mesh, landmark[cut.vertex_of_parent]
        scale, rotation, shift = similarity(there, here)
        laid_on = scale * full.vertices @ rotation.T + shift
        region = cut.kept_vertices[tree.query(laid_on)[1]]
    known = landmark >= 0
    points = SurfacePoints(
        np.where(known, on_full.face[landmark], -1),
        np.where(known[:, None], on_full.barycentric[landmark], np.nan),
    )
    pair = AnnotatedPair(name, partial, full, GroundTruth(points, region), sparse=True)
    return checked_pair(pair, path)


def _skull(path: Path) -> tuple[Mesh, np.ndarray, SurfacePoints]:
    """A skull and its (n, 3) landmarks, as they are marked and on its surface."""
    landmarks = read_landmarks(path)
    missing = landmarks.missing_names()
    if missing:
        raise InputError(f"{path}: landmark {missing[0]} has no position; {GUIDE}")
    skull = mesh_at(path.with_name(path.name.removesuffix(_LANDMARKS) + ".ply"))
    on_skull, _ = landmarks.on(skull)
    return skull, landmarks.position, on_skull
