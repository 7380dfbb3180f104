"""Heads of people with expressions, cut and meshed anew, against a generic head.

Made with ICT-FaceKit (https://github.com/ICT-VGL/ICT-FaceKit): ``generic_neutral.ply``, and
``<person>_<expression>.ply`` with the same triangles, so that vertex i is vertex i; ``info.npz``
holds the vertices of 68 landmarks of the face (``landmarks68``). A partial shape shares no vertex
with its head: it is cut, its edges are split at random places, and a few thousand of all these
points are meshed anew. So its true points lie inside triangles, and they are exact.
"""

from __future__ import annotations

import zlib
from functools import partial as bind
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.evaluation.ground_truth import GroundTruth
from nho.geometry.coarsening import coarsened
from nho.geometry.mesh import Mesh
from nho.geometry.subdivision import split_faces
from nho.geometry.surface import SurfacePoints, project
from nho.geometry.synthetic import Cut, cut_by_balls, cut_by_plane
from nho.lab.bench.datasets.pair import AnnotatedPair, Listing, checked_pair, data_folder
from nho.lab.bench.datasets.reading import GUIDE, arrays_in, in_range, mesh_at

_FOLDER = "worlds/faces"
_GENERIC, _NEUTRAL = "generic_neutral", "neutral"
_FEWER = 0.45  # vertices of a head that is meshed anew, of those that it had
_TILT = 0.5  # sine of the largest angle between the plane's normal and where the face looks
_NO_VERTICES = np.empty(0, dtype=np.int64)


def listing(folder: Path | None, same: bool = False) -> Listing:
    """Pairs by the names of the heads, in alphabetical order.

    The full shape is the generic head, or with ``same`` the neutral one of the same person; that
    one is then no partial shape.
    """
    folder = data_folder(folder)
    root = folder / _FOLDER
    heads = [path for path in sorted(root.glob("*_*.ply")) if path.stem != _GENERIC]
    pairs = {path.stem: root / f"{_GENERIC}.ply" for path in heads}
    if same:
        people = {path.stem: path.stem.partition("_")[0] for path in heads}
        pairs = {name: root / f"{person}_{_NEUTRAL}.ply" for name, person in people.items()}
        pairs = {name: full for name, full in pairs.items() if name != full.stem}
    if not pairs:
        raise InputError(
            f"{folder}: holds no faces; put heads made with "
            f"https://github.com/ICT-VGL/ICT-FaceKit there, as {_FOLDER}/{_GENERIC}.ply and "
            f"{_FOLDER}/<person>_<expression>.ply, and {_FOLDER}/info.npz ({GUIDE})"
        )
    return {name: bind(_load, name, root / f"{name}.ply", full) for name, full in pairs.items()}


def _load(name: str, path: Path, full_path: Path) -> AnnotatedPair:
    head, full = mesh_at(path), mesh_at(full_path)
    if head.n_vertices != full.n_vertices or not np.array_equal(head.faces, full.faces):
        raise InputError(f"{path}: has other triangles than {full.name}; {GUIDE}")
    info = path.parent / "info.npz"
    [landmarks] = arrays_in(info, "landmarks68")
    in_range(landmarks, head.n_vertices, info, head.name)
    seed = zlib.crc32(name.encode())
    cut = _cut(head, landmarks, seed)
    count = int(_FEWER * head.n_vertices * cut.mesh.area / head.area)
    partial = meshed_anew(cut.mesh, count, np.random.default_rng(seed))
    on_cut, _ = project(cut.mesh, partial.vertices)
    points = SurfacePoints(cut.face_of_parent[on_cut.face], on_cut.barycentric)
    truth = GroundTruth(points, cut.kept_vertices)
    return checked_pair(AnnotatedPair(name, partial, full, truth), path)


def _cut(head: Mesh, landmarks: np.ndarray, seed: int) -> Cut:
    """By a plane that keeps 45 to 75 %, about what is seen from the front; or by four balls."""
    if seed % 2 == 0:
        return cut_by_balls(head, 4, 0.16, seed)
    random = np.random.default_rng(seed)
    front = head.vertices[landmarks].mean(axis=0) - head.vertices.mean(axis=0)
    tilt = random.standard_normal(3)
    normal = front / np.linalg.norm(front) + _TILT * tilt / np.linalg.norm(tilt)
    return cut_by_plane(head, normal, keep_area=random.uniform(0.45, 0.75))


def meshed_anew(mesh: Mesh, count: int, random: np.random.Generator) -> Mesh:
    """The same surface with about ``count`` vertices: old ones, and random points of edges."""
    start, end = mesh.vertices[mesh.edges].swapaxes(0, 1)
    vertices = np.vstack(
        [mesh.vertices, start + random.uniform(0.2, 0.8, (len(start), 1)) * (end - start)]
    )
    faces = split_faces(mesh.faces, mesh.n_vertices + mesh.face_edges)
    # The order decides which vertices survive.
    order = random.permutation(len(vertices))
    shuffled = Mesh(vertices[order], np.argsort(order)[faces], mesh.name)
    return coarsened(shuffled, count, _NO_VERTICES).mesh
