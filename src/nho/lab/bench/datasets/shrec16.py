"""SHREC'16 Partial Matching of Deformable Shapes: TOSCA shapes cut by planes, or with holes.

docs/datasets.md describes the layouts of files that are read. A pair's truth is a triangle of the
full shape, counted from 1, and three weights (``.baryc_gt``), or a vertex. Pairs of the training
part are called ``train-...``, since both parts use the same file names.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from functools import partial as bind
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
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
    lines_of,
    mesh_at,
    numbers_in,
    same_count,
)

CUTS24_LIST = "cuts24_test.txt"
_TEST = ("shrec2016_PartialDeformableShapes_TestSet", "SHREC16_test", "shrec16_test")
_TRAIN = ("shrec2016_PartialDeformableShapes", "SHREC16", "shrec16")
_TEST_MAPS, _TRAIN_MAPS = ("shrec_partial_test",), ("shrec_partial_train",)
_LOST = 0.01  # share of rows that may name triangles the full shape no longer has
_WEIGHT_SLACK = 1e-2  # of barycentric weights, which files give with few digits

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Files:
    """Where a pair lies."""

    partial: Path
    full: Path
    truth: Path


def listing(folder: Path | None, kind: str) -> Listing:
    """Pairs by the names of the partial shapes, by class and number; ``kind`` is cuts or holes."""
    folder = data_folder(folder)
    for roots, map_roots, prefix in ((_TEST, _TEST_MAPS, ""), (_TRAIN, _TRAIN_MAPS, "train-")):
        root = first_there(folder / name / kind for name in roots)
        found = _beside_null(folder, root) if root else {}
        maps = first_there(folder / name for name in map_roots)
        if not found and maps:
            found = _by_maps(maps / "shapes", maps / "maps", kind)
        if found:
            return _loaders({prefix + n: found[n] for n in sorted(found, key=_natural)})
    raise InputError(
        f"{folder}: holds no SHREC'16 {kind}; unpack {_TEST[0]}.zip and {_TRAIN[0]}.zip of "
        f"http://www.dais.unive.it/~shrec2016 there, with {kind}/*.off, {kind}/*.baryc_gt and "
        f"null/*.off ({GUIDE})"
    )


def cuts24(folder: Path | None) -> Listing:
    """The CUTS test shapes that CUTS'24 keeps, in the order of its list."""
    folder = data_folder(folder)
    path = folder / CUTS24_LIST
    root = first_there(folder / name / kind for kind in ("cuts", "cuts24") for name in _TEST)
    if root is None or not path.exists():
        raise InputError(
            f"{folder}: holds no CUTS'24; put {CUTS24_LIST} there, the 153 names of test shapes "
            "(one a line, cuts_cat_shape_3.off) that Ehm et al. keep (Partial-to-Partial Shape "
            f"Matching with Geometric Consistency, 2024), beside {_TEST[0]} with cuts/*.off, "
            f"cuts/*.baryc_gt and null/*.off ({GUIDE})"
        )
    found = _beside_null(folder, root)
    listed = [Path(line.strip()).stem for line in lines_of(path)]
    missing = [name for name in listed if name not in found]
    if missing:
        raise InputError(
            f"{path}: lists {missing[0]} and {len(missing) - 1} more that are not in {root}; "
            "the list is of the test part, in the names of the track"
        )
    return _loaders({name: found[name] for name in listed})


def cat(folder: Path | None) -> Listing:
    """The sample pair that comes with the code of DPFM."""
    folder = data_folder(folder)
    root = folder / "shrec16_cat"
    found = _by_maps(root, root, "cuts") if root.is_dir() else {}
    if not found:
        raise InputError(
            f"{folder}: holds no shrec16_cat; put cuts-cat.off, cuts-cat1.off and "
            "cuts-cat1_cuts-cat.map of https://github.com/pvnieo/DPFM "
            f"(dpfm/data/shrec_partial_test) there, in a folder shrec16_cat ({GUIDE})"
        )
    return _loaders(found)


def _beside_null(folder: Path, root: Path) -> dict[str, _Files]:
    """Pairs of the track's own layout, or of the one with ``off`` and ``corres``."""
    shapes = root / "off" if (root / "off").is_dir() else root
    found = {}
    for path in shapes.glob("*.off"):
        match = re.fullmatch(r"[a-z0-9]+_([a-z]+)_.*", path.stem)
        if match is None:
            continue
        exact = path.with_suffix(".baryc_gt")
        rounded = root / "corres" / f"{path.stem}.vts"
        truth = exact if exact.exists() or not rounded.exists() else rounded
        found[path.stem] = _Files(path, _null(folder, root, match[1]), truth)
    return found


def _null(folder: Path, root: Path, of: str) -> Path:
    """The full shape; the test archive may leave it to the training archive."""
    parts = (root.parent, *(folder / name for name in _TRAIN))
    places = [part / "null" / f"{inside}{of}.off" for part in parts for inside in ("", "off/")]
    return first_there(places) or places[0]


def _by_maps(shapes: Path, maps: Path, kind: str) -> dict[str, _Files]:
    found = {}
    for path in sorted(maps.glob(f"{kind}*.map")):
        partial, _, full = path.stem.rpartition("_")
        found[partial] = _Files(shapes / f"{partial}.off", shapes / f"{full}.off", path)
    return found


def _natural(name: str) -> list[tuple[str, int]]:
    """Shape 2 comes before shape 10."""
    return [(text, int(digits or 0)) for text, digits in re.findall(r"(\D+)(\d*)", name)]


def _loaders(pairs: dict[str, _Files]) -> Listing:
    return {name: bind(_load, name, files) for name, files in pairs.items()}


def _load(name: str, files: _Files) -> AnnotatedPair:
    partial, full = mesh_at(files.partial), mesh_at(files.full)
    points = _truth(files.truth, full)
    same_count(len(points), len(partial.vertices), files.truth, partial.name)
    return checked_pair(
        AnnotatedPair(name, partial, full, truth_by_images(full, points)), files.truth
    )


def _truth(path: Path, full: Mesh) -> SurfacePoints:
    if path.suffix == ".baryc_gt":
        return _in_triangles(path, full)
    target = indices_in(path)
    if path.suffix == ".vts":
        target = in_range(target - 1, len(full.vertices), path, full.name)
    else:  # in a .map, -1 is "no partner"
        in_range(np.where(target == -1, 0, target), len(full.vertices), path, full.name)
    return SurfacePoints.at_vertices(full, target)


def _in_triangles(path: Path, full: Mesh) -> SurfacePoints:
    table = numbers_in(path, 4)
    face, weights = table[:, 0].astype(np.int64) - 1, table[:, 1:]
    # Public code drops such rows for the cat, whose full shape lost some faulty triangles.
    lost = face >= len(full.faces)
    if lost.mean() > _LOST:
        row = int(lost.argmax())
        raise InputError(
            f"{path}: row {row} names triangle {face[row] + 1} (from 1), but {full.name} has "
            f"{len(full.faces)}; do the two files belong together?"
        )
    if lost.any():
        log.warning("%s: %d rows name triangles that %s lacks", path, lost.sum(), full.name)
    known = (face >= 0) & ~lost
    off = known & ~(
        (np.abs(weights.sum(axis=1) - 1) <= _WEIGHT_SLACK) & (weights.min(axis=1) >= -_WEIGHT_SLACK)
    )
    if off.any():
        raise InputError(f"{path}: the weights of row {int(off.argmax())} do not sum to one")
    clipped = np.maximum(weights, 0)
    clipped = clipped / np.where(known, clipped.sum(axis=1), 1)[:, None]
    return SurfacePoints(np.where(known, face, -1), np.where(known[:, None], clipped, np.nan))
