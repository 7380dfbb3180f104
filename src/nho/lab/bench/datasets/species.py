"""PARTIALSMAL: animals of different species, both sides cut, so that only parts of both agree.

By Ehm et al., Partial-to-Partial Shape Matching with Geometric Consistency (2024), see
https://vikiehm.github.io/publications/gcppsm. ``shapes/<name>.off``, and ``maps/<A>_<B>.vts`` with
a row per vertex of one of the two: the vertex of the other, counted from 0, or -1 where that one
lacks the place. The shape with the rows is the partial one here, although it may be the larger.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial as bind
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.geometry.surface import SurfacePoints
from nho.lab.bench.datasets.pair import (
    AnnotatedPair,
    Listing,
    checked_pair,
    data_folder,
    truth_by_images,
)
from nho.lab.bench.datasets.reading import GUIDE, in_range, indices_in, mesh_at, same_count

_FOLDER = "psmal"
_LARGEST_PART = 4.0  # neither side is whole: 0.51 to 1.98 in 38 pairs


def listing(folder: Path | None) -> Listing:
    """Pairs by ``<A>_<B>``, the names of the maps, in alphabetical order."""
    folder = data_folder(folder)
    root = folder / _FOLDER
    found = sorted((root / "maps").glob("*_cuts_*.vts"))
    if not found:
        raise InputError(
            f"{folder}: holds no PARTIALSMAL; put that of "
            f"https://vikiehm.github.io/publications/gcppsm there, as {_FOLDER}/shapes/*.off and "
            f"{_FOLDER}/maps/cuts_0_cow_02_cuts_22_dog_05.vts and so on ({GUIDE})"
        )
    return {path.stem: bind(_load, path) for path in found}


def _load(path: Path) -> AnnotatedPair:
    shapes = path.parent.parent / "shapes"
    first, _, second = path.stem.rpartition("_cuts_")
    partial, full = mesh_at(shapes / f"{first}.off"), mesh_at(shapes / f"cuts_{second}.off")
    target = indices_in(path)
    if len(target) == full.n_vertices != partial.n_vertices:
        partial, full = full, partial
    same_count(len(target), partial.n_vertices, path, partial.name)
    in_range(np.where(target == -1, 0, target), full.n_vertices, path, full.name)
    truth = truth_by_images(full, SurfacePoints.at_vertices(full, target))
    truth = replace(truth, unmatched=target == -1)
    return checked_pair(AnnotatedPair(path.stem, partial, full, truth), path, _LARGEST_PART)
