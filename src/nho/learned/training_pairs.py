"""Seeded pairs to train on, as many as wanted: cut, meshed twice, rotated, with exact truth.

Nothing is read but the shipped sample, so a network trained on these pairs may be given away.
Pair ``i`` of seed ``s`` is the same whenever and in whatever order it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.evaluation.sample import PosePair
from nho.geometry.alignment import random_rotation
from nho.geometry.coarsening import Coarse, coarsened
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, project
from nho.geometry.synthetic import Cut, cut_by_balls, cut_by_plane
from nho.learned.generated_shapes import drawn

_NOTHING = np.empty(0, dtype=np.int64)
_FEWEST = 100  # vertices of a partial shape; a cut that leaves fewer is drawn anew
_MOST_TRIES = 20
_HELD_OUT = 1 << 32  # number of the first pair that is never trained on


@dataclass(frozen=True)
class TrainingPair:
    """A partial shape, a full one of unit area, and the truth between them.

    Attributes
    ----------
    partial, full : Mesh
        In one unit of length, each rotated at random.
    truth : SurfacePoints
        Point of ``full`` for every partial vertex.
    vertex : (n_partial,) int array
        Vertex of ``full`` nearest to that point, along the surface.
    region : (n_full,) bool array
        Whether a full vertex lies in what ``partial`` shows.
    """

    partial: Mesh
    full: Mesh
    truth: SurfacePoints
    vertex: np.ndarray
    region: np.ndarray


def held_out(seed: int, amount: int, size: tuple[int, int] = (500, 800)) -> list[TrainingPair]:
    """Pairs of the same kinds that are never trained on."""
    return [training_pair(seed, _HELD_OUT + number, size) for number in range(amount)]


def training_pair(seed: int, number: int, size: tuple[int, int] = (500, 800)) -> TrainingPair:
    """Pair ``number`` of a seed; ``size`` bounds the vertices of the uncut shapes."""
    if seed < 0 or number < 0:
        raise InputError(f"pair {number} of seed {seed}; give numbers from 0 on")
    random = np.random.default_rng([seed, number])
    for _ in range(_MOST_TRIES):
        poses = drawn(random)
        posed, full = (
            coarsened(mesh, int(random.integers(*size, endpoint=True)), _NOTHING)
            for mesh in (poses.posed, poses.full)
        )
        cut = _cut(posed.mesh, random)
        if cut.mesh.n_vertices >= _FEWEST:
            return _with_truth(poses, posed, full, cut, random)
    raise InputError(f"pair {number} of seed {seed}: every cut leaves too little; use another seed")


def _cut(mesh: Mesh, random: np.random.Generator) -> Cut:
    """By a plane, by round holes, by a sieve of smaller ones, or by one large ball."""
    kind = random.choice(4, p=[0.4, 0.3, 0.15, 0.15])
    seed = int(random.integers(2**31))
    if kind == 0:
        keep = random.uniform(0.35, 0.85)
        return cut_by_plane(mesh, random.standard_normal(3), keep_area=keep)
    holes, radius = ((int(random.integers(2, 6)), 0.16), (13, 0.1), (1, 0.5))[kind - 1]
    return cut_by_balls(mesh, holes, radius * random.uniform(0.7, 1.1), seed)


def _with_truth(
    poses: PosePair, posed: Coarse, full: Coarse, cut: Cut, random: np.random.Generator
) -> TrainingPair:
    """Scale, rotations and truth. Vertices of the coarse meshes are vertices of the fine ones."""
    points = poses.posed_on_full[posed.vertex[cut.vertex_of_parent]]
    truth, vertex = _onto_coarse(points, poses.full, full)
    back, _ = _onto_coarse(poses.full_on_posed[full.vertex], poses.posed, posed)
    # Poses differ in area as no two scans of one surface do: each is brought to its own unit.
    partial_mesh, full_mesh = (
        mesh.moved(mesh.vertices @ random_rotation(random) / np.sqrt(uncut.area))
        for mesh, uncut in ((cut.mesh, posed.mesh), (full.mesh, full.mesh))
    )
    region = np.isin(back.face, cut.face_of_parent)
    return TrainingPair(partial_mesh, full_mesh, truth, vertex, region)


def _onto_coarse(
    points: SurfacePoints, fine: Mesh, coarse: Coarse
) -> tuple[SurfacePoints, np.ndarray]:
    """Points of a fine mesh on the coarse one, and the (n,) coarse vertices nearest to them.

    The vertices are found along the surface, the points in space. In a thin limb the closest point
    may lie on the other side: it then has no corner among the neighbours of the vertex, and the
    vertex itself is taken.
    """
    mesh, vertex = coarse.mesh, coarse.cell[points.nearest_vertex(fine)]
    closest = project(mesh, points.positions(fine))[0]
    adjacent = np.zeros((mesh.n_vertices, mesh.n_vertices), dtype=bool)  # some hundred vertices
    adjacent[mesh.edges[:, 0], mesh.edges[:, 1]] = True
    adjacent |= adjacent.T | np.eye(mesh.n_vertices, dtype=bool)
    near = adjacent[vertex[:, None], mesh.faces[closest.face]].any(axis=1)
    found = SurfacePoints.at_vertices(mesh, vertex)
    found.face[near], found.barycentric[near] = closest.face[near], closest.barycentric[near]
    return found, vertex
