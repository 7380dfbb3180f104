"""Pairs with ground truth from a folder of evaluation data.

The layout is one folder a family: ``pfaust_m``, ``pfaust_h`` (with the full shapes in
``faust_r``), ``pfarm`` and ``tosca``. ``NHO_DATA`` names the folder where no other is given.

``pfaust_m_same`` and ``pfaust_h_same`` are the same partial shapes against the full shape of their
own subject: the official test pairs are half of that kind, the listed ones are not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import dijkstra

from nho.errors import InputError
from nho.geodesics import edge_graph
from nho.groundtruth import GroundTruth, region_around
from nho.mesh import Mesh
from nho.sampling import sample_vertices
from nho.surface import SurfacePoints
from nho.synthetic import Cut, cut_by_balls, cut_by_plane


@dataclass(frozen=True)
class Pair:
    """A partial and a full shape with the truth between them."""

    name: str
    partial: Mesh
    full: Mesh
    truth: GroundTruth

    def anchors(self, count: int, method: str = "geodesic", seed: int = 0) -> np.ndarray:
        """(count, 2) true pairs at well-spread annotated vertices of the partial shape."""
        annotated = np.flatnonzero(self.truth.points.face >= 0)
        chosen = sample_vertices(self.partial, min(count, len(annotated)), method, seed, annotated)
        target = self.truth.points[chosen].nearest_vertex(self.full)
        return np.stack([chosen, target], axis=1)


def data_folder(given: str | Path | None = None) -> Path:
    """The folder of evaluation data: the one given, or ``NHO_DATA``."""
    folder = given or os.environ.get("NHO_DATA")
    if not folder:
        raise InputError("no evaluation data: give --data DIR or set NHO_DATA to its folder")
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: no such folder of evaluation data")
    return Path(folder)


def pfaust(folder: Path, kind: str, same_subject: bool = False) -> Iterator[Pair]:
    """PFAUST-M or -H (``kind`` "m" or "h"): FAUST shapes with holes, against full ones.

    The full shapes are those of ``pairs.txt``, or the first pose of the same subject.
    """
    root = folder / f"pfaust_{kind}"
    for line in _lines(root / "pairs.txt"):
        partial_name, full_name = (Path(word).stem for word in line.split()[:2])
        if same_subject:
            subject = int(partial_name.removeprefix("tr_reg_")) // 10
            full_name = f"tr_reg_{subject:02d}0"
        partial = Mesh.read(root / "off" / f"{partial_name}.off")
        full = _unit_area(Mesh.read(folder / "faust_r" / f"{full_name}.off"))
        vertex, row = np.loadtxt(root / "rows" / f"{partial_name}.txt", dtype=np.int64).T
        image = np.loadtxt(folder / "faust_r" / "corres" / f"{full_name}.vts", dtype=np.int64) - 1
        target = np.full(len(partial.vertices), -1, dtype=np.int64)
        target[vertex] = image[row]
        region = _kept_region(full, image, np.isin(np.arange(len(image)), row))
        truth = GroundTruth(SurfacePoints.at_vertices(full, target), region)
        yield Pair(f"{partial_name}-{full_name}", partial, full, truth)


def pfarm(folder: Path) -> Iterator[Pair]:
    """PFARM: cut scans and models of people against one template."""
    root = folder / "pfarm"
    full = Mesh.read(root / "shapes" / "smpl-base-neutro.off")
    for path in sorted((root / "maps").glob("*.map")):
        name = path.stem.removesuffix("_smpl-base-neutro")
        partial = Mesh.read(root / "shapes" / f"{name}.off")
        points = SurfacePoints.at_vertices(full, np.loadtxt(path, dtype=np.int64))
        yield Pair(name, partial, full, GroundTruth(points, region_around(full, points)))


def tosca(folder: Path) -> Iterator[Pair]:
    """TOSCA animals and people, cut here by planes and by geodesic balls, against pose 0."""
    root = folder / "tosca"
    number = 0
    for path in sorted(root.glob("*.off")):
        family = path.stem.rstrip("0123456789")
        if path.stem == f"{family}0" or not (root / f"{family}0.off").exists():
            continue
        number += 1
        full = Mesh.read(root / f"{family}0.off")
        posed = Mesh.read(path)
        cut = _seeded_cut(posed, number)
        rows = np.loadtxt(root / "corres" / f"{path.stem}.vts", dtype=np.int64) - 1
        image = np.loadtxt(root / "corres" / f"{family}0.vts", dtype=np.int64) - 1
        target = np.full(len(posed.vertices), -1, dtype=np.int64)
        target[rows] = image
        region = _kept_region(full, image, cut.kept_vertices[rows])
        truth = GroundTruth(SurfacePoints.at_vertices(full, target[cut.vertex_of_parent]), region)
        yield Pair(f"{path.stem}-cut{number}", cut.mesh, full, truth)


FAMILIES: dict[str, Callable[[Path], Iterator[Pair]]] = {
    "pfaust_m": lambda folder: pfaust(folder, "m"),
    "pfaust_h": lambda folder: pfaust(folder, "h"),
    "pfaust_m_same": lambda folder: pfaust(folder, "m", same_subject=True),
    "pfaust_h_same": lambda folder: pfaust(folder, "h", same_subject=True),
    "pfarm": pfarm,
    "tosca": tosca,
}


def _seeded_cut(mesh: Mesh, seed: int) -> Cut:
    """Every other cut is a plane, keeping 35 to 85 % of the area; the others remove balls."""
    random = np.random.default_rng(seed)
    if seed % 2:
        return cut_by_plane(mesh, random.standard_normal(3), keep_area=random.uniform(0.35, 0.85))
    count, radius = ((4, 0.16), (13, 0.1))[seed // 2 % 2]
    return cut_by_balls(mesh, count, radius, seed)


def _kept_region(full: Mesh, annotated: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """(n_full,) bool: is the nearest annotated vertex, along edges, one that was kept?"""
    _, _, source = dijkstra(
        edge_graph(full),
        directed=False,
        indices=annotated,
        min_only=True,
        return_predecessors=True,
    )
    is_kept = np.zeros(len(full.vertices), dtype=bool)
    is_kept[annotated[kept]] = True
    return np.where(source >= 0, is_kept[source], False)


def _unit_area(mesh: Mesh) -> Mesh:
    centred = mesh.vertices - mesh.vertices.mean(axis=0)
    return Mesh(centred / np.sqrt(mesh.area), mesh.faces, mesh.name)


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text().splitlines() if line.strip()]
    except FileNotFoundError:
        raise InputError(f"{path}: not found; is this the folder of evaluation data?") from None
