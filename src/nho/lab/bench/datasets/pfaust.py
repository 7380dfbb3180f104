"""PFAUST-M and PFAUST-H: remeshed FAUST bodies with holes, against full ones.

docs/datasets.md describes the three layouts of files that are read ("Other layouts that are read",
"PFAUST's rows"); one with a list of pairs goes before the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial as bind
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from nho.errors import InputError
from nho.evaluation.ground_truth import GroundTruth
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.lab.bench.datasets.pair import (
    AnnotatedPair,
    Listing,
    checked_pair,
    data_folder,
    region_by_rows,
)
from nho.lab.bench.datasets.reading import (
    GUIDE,
    first_there,
    in_range,
    indices_in,
    lines_of,
    mesh_at,
    same_count,
)

_FULL = ("FAUST_r", "faust_r", "FAUST/vtx_5k", "Dataset/FAUST/vtx_5k")
_TEST_FULL = (80, 90)
_TEST_PARTS = range(80, 100)
_ON_THE_SHAPE = 1e-2  # mean edge lengths: coordinates in the files have seven digits


def listing(folder: Path | None, kind: str, same_subject: bool = False) -> Listing:
    """Pairs by ``<partial>-<full>``, for ``kind`` "m" or "h".

    ``same_subject``: each part only against the first pose of its own subject, which is half of the
    official test pairs; of a list of pairs, the partial shapes with their partners replaced.
    """
    layout = _layout(folder, kind)
    return {
        f"{part}-{whole}": bind(_load, layout, part, whole)
        for part, whole in layout.pairs(same_subject)
    }


def _load(layout: _Listed | _Published, part: str, whole: str) -> AnnotatedPair:
    """One pair; the full shape is scaled to area 1 and centred, as the partial ones are."""
    partial = mesh_at(layout.part_file(part))
    full = _unit_area(mesh_at(layout.bodies.file(whole)))
    vertex, row, truth_file = layout.rows(part, partial)
    image = layout.bodies.image(whole, full)
    in_range(vertex, len(partial.vertices), truth_file, partial.name)
    in_range(row, len(image), truth_file, f"the template rows of {full.name}")
    target = np.full(len(partial.vertices), -1, dtype=np.int64)
    target[vertex] = image[row]
    points = SurfacePoints.at_vertices(full, target)
    kept = np.isin(np.arange(len(image)), row)
    truth = GroundTruth(points, region_by_rows(full, image, kept))
    return checked_pair(AnnotatedPair(f"{part}-{whole}", partial, full, truth), truth_file)


@dataclass(frozen=True)
class _Bodies:
    """The full shapes and their vertices of the template rows."""

    root: Path

    def file(self, name: str) -> Path:
        inside = self.root / "off"
        return (inside if inside.is_dir() else self.root) / f"{name}.off"

    def image(self, name: str, mesh: Mesh) -> np.ndarray:
        """(rows,) vertex of every template row."""
        path = self.root / "corres" / f"{name}.vts"
        return in_range(indices_in(path) - 1, len(mesh.vertices), path, mesh.name)


@dataclass(frozen=True)
class _Listed:
    """``pairs.txt``, ``off`` and ``rows``."""

    root: Path
    bodies: _Bodies

    def pairs(self, same_subject: bool) -> list[tuple[str, str]]:
        found = []
        for line in lines_of(self.root / "pairs.txt"):
            words = [Path(word).stem for word in line.split()[:2]]
            if len(words) < 2:
                raise InputError(f"{self.root / 'pairs.txt'}: {line!r} is not two names")
            partial, full = words
            if same_subject:
                full = f"tr_reg_{_number(partial, self.root) // 10:02d}0"
            found.append((partial, full))
        return found

    def part_file(self, name: str) -> Path:
        return self.root / "off" / f"{name}.off"

    def rows(self, name: str, partial: Mesh) -> tuple[np.ndarray, np.ndarray, Path]:
        path = self.root / "rows" / f"{name}.txt"
        vertex, row = indices_in(path, 2).T
        return vertex, row, path


@dataclass(frozen=True)
class _Published:
    """The official folders (``own``: with masks, in the layout of the authors' code)."""

    root: Path
    bodies: _Bodies
    own: bool

    def pairs(self, same_subject: bool) -> list[tuple[str, str]]:
        found = [
            (f"tr_reg_{part:03d}", f"tr_reg_{full:03d}")
            for full in _TEST_FULL
            for part in _TEST_PARTS
            if not same_subject or part // 10 == full // 10
        ]
        for part, full in found:
            for path in (self.part_file(part), self.bodies.file(full)):
                if not path.exists():
                    raise InputError(f"{path}: not found, the test part is incomplete; {GUIDE}")
        return found

    def part_file(self, name: str) -> Path:
        return self.root / ("partial_off" if self.own else "off") / f"{name}.off"

    def rows(self, name: str, partial: Mesh) -> tuple[np.ndarray, np.ndarray, Path]:
        path = self.root / ("partial_corr" if self.own else "corres") / f"{name}.vts"
        vertex = indices_in(path) - 1
        if self.own:
            mask = self.root / "masks" / f"{name}.vts"
            row = np.flatnonzero(indices_in(mask))
            same_count(len(vertex), len(row), path, mask.name)
            return vertex, row, path
        whole = _unit_area(mesh_at(self.bodies.file(name)))
        found, row = rows_of_part(partial, whole, self.bodies.image(name, whole))
        if not np.array_equal(found, vertex):
            raise InputError(
                f"{path}: lists other vertices than those of {partial.name} on its whole shape "
                f"{self.bodies.file(name)}; take all three from the published data sets"
            )
        return vertex, row, path


def rows_of_part(partial: Mesh, whole: Mesh, image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k,) partial vertices and (k,) template rows that a part keeps of the shape it was cut from.

    ``image`` holds the vertex of ``whole`` of every row. Both shapes are in the same frame.
    """
    gap, at = map(np.asarray, cKDTree(whole.vertices).query(partial.vertices))
    if not gap.max() <= _ON_THE_SHAPE * whole.mean_edge_length:
        raise InputError(
            f"{partial.name}: vertex {gap.argmax()} is no vertex of the whole shape {whole.name}; "
            "take the remeshed FAUST shapes with 5,000 vertices"
        )
    place = np.full(len(whole.vertices), -1, dtype=np.int64)
    place[at] = np.arange(len(at))
    row = np.flatnonzero(place[image] >= 0)
    return place[image[row]], row


def _layout(folder: Path | None, kind: str) -> _Listed | _Published:
    folder, title = data_folder(folder), f"PFAUST-{kind.upper()}"
    inside = first_there(folder / name for name in _FULL)
    listed = folder / f"pfaust_{kind}"
    if (listed / "pairs.txt").exists():
        return _Listed(listed, _Bodies(inside or folder / "faust_r"))
    below = (title, title.replace("-", "_"), listed.name)
    for root in (folder / outer / name for outer in ("", "PFAUST") for name in below):
        if (root / "partial_off").is_dir():
            return _Published(root, _Bodies(root), own=True)
        if (root / "off").is_dir() and inside:
            return _Published(root, _Bodies(inside), own=False)
    raise InputError(
        f"{folder}: holds no {title}; put {title}/off and {title}/corres of "
        "https://github.com/ABracha/PFAUST there, and the remeshed FAUST shapes 080 to 099 of "
        "https://github.com/llorz/SGA18_orientation_BCICP_dataset as FAUST_r/off/*.off and "
        f"FAUST_r/corres/*.vts ({GUIDE})"
    )


def _number(name: str, root: Path) -> int:
    digits = name.removeprefix("tr_reg_")
    if not digits.isdecimal():
        raise InputError(f"{root}: {name!r} is not a FAUST name such as tr_reg_080")
    return int(digits)


def _unit_area(mesh: Mesh) -> Mesh:
    centred = mesh.vertices - mesh.vertices.mean(axis=0)
    return mesh.moved(centred / np.sqrt(mesh.area))
