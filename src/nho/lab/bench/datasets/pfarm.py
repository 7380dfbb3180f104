"""PFARM: cut scans and models of people, each meshed its own way, against one template.

Published as ``pfarm.zip`` at https://github.com/pvnieo/cp2p-pfarm-benchmark: 25 pairs of 26 shapes,
made from SHREC'19. ``shapes/<name>.off``, and ``maps/<partial>_<full>.map`` with the full vertex,
counted from 0, of every partial vertex. Public readers of it cut longer maps to the number of
partial vertices, so rows beyond that are left out here as well.
"""

from __future__ import annotations

from functools import partial as bind
from pathlib import Path

from nho.errors import InputError
from nho.geometry.surface import SurfacePoints
from nho.lab.bench.datasets.pair import (
    AnnotatedPair,
    Listing,
    checked_pair,
    data_folder,
    truth_by_images,
)
from nho.lab.bench.datasets.reading import (
    GUIDE,
    first_there,
    in_range,
    indices_in,
    mesh_at,
    same_count,
)

_FOLDERS = ("pfarm", "PFARM")
_TEMPLATE = "smpl-base-neutro"


def listing(folder: Path | None) -> Listing:
    """Pairs by the names of the partial shapes, in alphabetical order."""
    folder = data_folder(folder)
    root = first_there(folder / name for name in _FOLDERS)
    found = sorted((root / "maps").glob(f"*_{_TEMPLATE}.map")) if root else []
    if not found:
        raise InputError(
            f"{folder}: holds no PFARM; unpack pfarm.zip of "
            "https://github.com/pvnieo/cp2p-pfarm-benchmark there, so that pfarm/shapes/*.off and "
            f"pfarm/maps/*_{_TEMPLATE}.map are found ({GUIDE})"
        )
    names = [path.stem.removesuffix(f"_{_TEMPLATE}") for path in found]
    return {name: bind(_load, name, path) for name, path in zip(names, found, strict=True)}


def _load(name: str, path: Path) -> AnnotatedPair:
    shapes = path.parent.parent / "shapes"
    partial = mesh_at(shapes / f"{name}.off")
    full = mesh_at(shapes / f"{_TEMPLATE}.off")
    target = indices_in(path)
    n = len(partial.vertices)
    same_count(min(len(target), n), n, path, partial.name)
    target = in_range(target[:n], len(full.vertices), path, full.name)
    truth = truth_by_images(full, SurfacePoints.at_vertices(full, target))
    return checked_pair(AnnotatedPair(name, partial, full, truth), path)
