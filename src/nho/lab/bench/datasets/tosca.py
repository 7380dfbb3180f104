"""TOSCA animals and people, cut here by planes and by geodesic balls, against pose 0.

The remeshed shapes (about 5,000 vertices, every shape on its own) of
https://github.com/llorz/SGA18_orientation_BCICP_dataset: ``<class><pose>.off``, and in ``corres``
for every shape a ``.vts`` file with its vertex, counted from 1, of each template row.
The cuts are this project's own, so no published figure belongs to them. Pieces are small: geodesic
balls of 8 to 20 % of the area, as of something broken.
"""

from __future__ import annotations

from functools import partial as bind
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.evaluation.ground_truth import GroundTruth
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import Cut, ball_centres, cut_by_balls, cut_by_plane, take_faces
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
    mesh_at,
    same_count,
)

_FOLDERS = ("tosca", "TOSCA_Isometric/vtx_5k", "Dataset/TOSCA_Isometric/vtx_5k")


def listing(folder: Path | None, kind: str = "cut") -> Listing:
    """Pairs by ``<shape>-<kind><number>``; the number is the cut's seed, counted over the shapes.

    ``kind`` is "cut" or "piece". There is a pair for every pose but 0 of a class whose pose 0 is
    there.
    """
    folder = data_folder(folder)
    root = first_there(folder / name for name in _FOLDERS)
    found = []
    for path in sorted(root.glob("*.off")) if root else []:
        first = f"{_class_of(path)}0"
        if path.stem != first and (path.parent / f"{first}.off").exists():
            found.append(path)
    if not found:
        raise InputError(
            f"{folder}: holds no TOSCA; put the remeshed shapes of "
            "https://github.com/llorz/SGA18_orientation_BCICP_dataset (TOSCA_Isometric/vtx_5k) "
            f"there, as tosca/*.off and tosca/corres/*.vts ({GUIDE})"
        )
    names = [f"{path.stem}-{kind}{number}" for number, path in enumerate(found, 1)]
    return {
        name: bind(_load, name, path, kind, number)
        for number, (name, path) in enumerate(zip(names, found, strict=True), 1)
    }


def _load(name: str, path: Path, kind: str, number: int) -> AnnotatedPair:
    root, first = path.parent, f"{_class_of(path)}0"
    full, posed = mesh_at(root / f"{first}.off"), mesh_at(path)
    cut = CUTS[kind](posed, number)
    truth_file = root / "corres" / f"{path.stem}.vts"
    rows = in_range(indices_in(truth_file) - 1, len(posed.vertices), truth_file, posed.name)
    image_file = root / "corres" / f"{first}.vts"
    image = in_range(indices_in(image_file) - 1, len(full.vertices), image_file, full.name)
    same_count(len(rows), len(image), truth_file, image_file.name)
    target = np.full(len(posed.vertices), -1, dtype=np.int64)
    target[rows] = image
    points = SurfacePoints.at_vertices(full, target[cut.vertex_of_parent])
    truth = GroundTruth(points, region_by_rows(full, image, cut.kept_vertices[rows]))
    return checked_pair(AnnotatedPair(name, cut.mesh, full, truth), truth_file)


def seeded_cut(mesh: Mesh, seed: int) -> Cut:
    """Every other cut is a plane, keeping 35 to 85 % of the area; the others remove balls."""
    random = np.random.default_rng(seed)
    if seed % 2:
        return cut_by_plane(mesh, random.standard_normal(3), keep_area=random.uniform(0.35, 0.85))
    count, radius = ((4, 0.16), (13, 0.1))[seed // 2 % 2]
    return cut_by_balls(mesh, count, radius, seed)


def seeded_piece(mesh: Mesh, seed: int) -> Cut:
    """All within some distance of a vertex, 8 to 20 % of the area."""
    random = np.random.default_rng(seed)
    share = random.uniform(0.08, 0.2)
    away = distances_from(edge_graph(mesh), ball_centres(mesh, 1, seed))[0]
    farthest = away[mesh.faces].max(axis=1)
    order = np.argsort(farthest, kind="stable")
    grown = np.cumsum(mesh.face_areas[order])
    reach = farthest[order[np.searchsorted(grown, share * grown[-1])]]
    return take_faces(mesh, farthest <= reach)


CUTS = {"cut": seeded_cut, "piece": seeded_piece}


def _class_of(path: Path) -> str:
    return path.stem.rstrip("0123456789")
