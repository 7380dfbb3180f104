"""Range scans of the Stanford bunny against its reconstruction, raw and in their own frames.

From http://graphics.stanford.edu/data/3Dscanrep: ``full.ply``, the reconstruction, and
``<scan>.ply``, with noise, holes and loose pieces; ``<scan>_s2.ply`` has every second row and
column. ``<scan>.npz`` holds the rigid ``transform``, (4, 4), that lays a scan onto the
reconstruction. The true point of a vertex is the closest one there; where the two lie farther apart
than a third of the reconstruction's mean edge, as noise does, it is not known.
"""

from __future__ import annotations

from functools import partial as bind
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.geometry.surface import SurfacePoints, project
from nho.lab.bench.datasets.pair import (
    AnnotatedPair,
    Listing,
    checked_pair,
    data_folder,
    truth_by_images,
)
from nho.lab.bench.datasets.reading import GUIDE, arrays_in, mesh_at

_FOLDER = "worlds/scans"
_FULL = "full"
_NEAR = 1 / 3  # mean edge lengths of the reconstruction: 0.5 mm
_RIGID = 1e-3  # by which a rotation may miss an orthogonal matrix: files hold few digits


def listing(folder: Path | None) -> Listing:
    """Pairs by the names of the scans in alphabetical order, the coarser ones first."""
    folder = data_folder(folder)
    found = [path for path in (folder / _FOLDER).glob("*.ply") if path.stem != _FULL]
    if not found:
        raise InputError(
            f"{folder}: holds no scans; put the bunny of "
            f"http://graphics.stanford.edu/data/3Dscanrep there, as {_FOLDER}/{_FULL}.ply, "
            f"{_FOLDER}/<scan>.ply and {_FOLDER}/<scan>.npz ({GUIDE})"
        )
    found.sort(key=lambda path: (not path.stem.endswith("_s2"), path.stem))
    return {path.stem: bind(_load, path) for path in found}


def _load(path: Path) -> AnnotatedPair:
    scan, full = mesh_at(path), mesh_at(path.with_stem(_FULL))
    truth_file = path.with_suffix(".npz")
    [transform] = arrays_in(truth_file, "transform")
    rotation = transform[:3, :3] if transform.shape == (4, 4) else np.full((3, 3), np.nan)
    if not np.abs(rotation @ rotation.T - np.eye(3)).max() <= _RIGID:
        raise InputError(f"{truth_file}: 'transform' is no rigid motion (4, 4); {GUIDE}")
    laid, gap = project(full, scan.vertices @ rotation.T + transform[:3, 3])
    near = gap <= _NEAR * full.mean_edge_length
    points = SurfacePoints(
        np.where(near, laid.face, -1), np.where(near[:, None], laid.barycentric, np.nan)
    )
    pair = AnnotatedPair(path.stem, scan, full, truth_by_images(full, points))
    return checked_pair(pair, truth_file)
