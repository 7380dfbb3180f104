"""The shipped sample: one body in two poses, meshed twice, with the true correspondence.

`full.ply` is the template. `posed.ply` is the same body in another pose with other vertices and
other triangles; every one of its vertices is a known point (face, barycentric) of the template.
Its origin: `data/sample/LICENSE.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import Cut, cut_by_balls, cut_by_plane, take_faces
from nho.runtime.npz import load_arrays

KINDS = ("plane", "balls", "whole")
PLANE_KEEPS = 0.6  # share of the area on the kept side; stray pieces then go as well
BALLS, BALL_RADIUS = 4, 0.16  # the recipe of PFAUST-M


@dataclass(frozen=True)
class Sample:
    """A partial shape, the full one, and the truth between them.

    Attributes
    ----------
    partial, full : Mesh
    truth_face : (n_partial,) int array
        Face of ``full`` that holds the true point of each partial vertex.
    truth_barycentric : (n_partial, 3) float array
        Weights of that face's corners, >= 0, summing to one.
    truth_vertex : (n_partial,) int array
        Corner of that face nearest to the true point.
    truth_region : (n_full,) bool array
        Whether a full vertex lies in the part of the body that ``partial`` shows.
    """

    partial: Mesh
    full: Mesh
    truth_face: np.ndarray
    truth_barycentric: np.ndarray
    truth_vertex: np.ndarray
    truth_region: np.ndarray


@dataclass(frozen=True)
class PosePair:
    """One surface in two poses, meshed twice, with the maps both ways.

    Attributes
    ----------
    posed, full : Mesh
    posed_on_full, full_on_posed : SurfacePoints
        For every vertex of the first, its point on the second. The meshes may be different
        samplings of the surface: there and back then ends within an edge of the start, not on it.
    """

    posed: Mesh
    full: Mesh
    posed_on_full: SurfacePoints
    full_on_posed: SurfacePoints

    @classmethod
    def of_one_mesh(cls, posed: Mesh, full: Mesh, random: np.random.Generator) -> PosePair:
        """Two poses of one mesh, the vertices of the first put in a random order.

        The order decides which vertices survive coarsening: few will be the same on both sides.
        """
        order = random.permutation(full.n_vertices)
        place = np.argsort(order)
        posed = Mesh(posed.vertices[order], place[posed.faces], posed.name)
        on_full = SurfacePoints.at_vertices(full, order)
        return cls(posed, full, on_full, SurfacePoints.at_vertices(posed, place))

    def swapped(self) -> PosePair:
        """The same with the roles of the poses exchanged."""
        return PosePair(self.full, self.posed, self.full_on_posed, self.posed_on_full)


def sample_paths() -> Path:
    """The folder of the shipped files: `full.ply`, `posed.ply`, `truth.npz`, `LICENSE.md`."""
    # A real folder, since users are handed these paths and no installer leaves wheels zipped.
    return Path(str(files("nho") / "data" / "sample"))


def load_pair() -> PosePair:
    """Both shipped meshes and the true maps between them."""
    folder = sample_paths()
    truth = load_arrays(folder / "truth.npz")
    return PosePair(
        posed=Mesh.read(folder / "posed.ply"),
        full=Mesh.read(folder / "full.ply"),
        posed_on_full=_points(truth, "posed_to_full"),
        full_on_posed=_points(truth, "full_to_posed"),
    )


def load_sample(kind: str = "plane", seed: int = 0) -> Sample:
    """A partial shape to match, with its exact truth.

    Parameters
    ----------
    kind : {"plane", "balls", "whole"}
        Cut by a random plane, by four round holes, or not at all.
    seed : int
        Of the plane's direction or the holes' centres; "whole" has no use for it.
    """
    if kind not in KINDS:
        raise InputError(f"There is no sample {kind!r}; choose one of {', '.join(KINDS)}")
    pair = load_pair()
    cut = _cut(pair.posed, kind, seed)
    truth = pair.posed_on_full[cut.vertex_of_parent]
    return Sample(
        partial=cut.mesh,
        full=pair.full,
        truth_face=truth.face,
        truth_barycentric=truth.barycentric,
        truth_vertex=truth.nearest_vertex(pair.full),
        truth_region=np.isin(pair.full_on_posed.face, cut.face_of_parent),
    )


def _cut(posed: Mesh, kind: str, seed: int) -> Cut:
    if kind == "balls":
        return cut_by_balls(posed, BALLS, BALL_RADIUS, seed)
    if kind == "plane":
        direction = np.random.default_rng(seed).normal(size=3)
        return cut_by_plane(posed, direction, keep_area=PLANE_KEEPS)
    return take_faces(posed, np.ones(posed.n_faces, dtype=bool))


def _points(truth: dict[str, np.ndarray], name: str) -> SurfacePoints:
    """Stored float32 weights, brought back to a sum of one in float64."""
    barycentric = truth[f"{name}_barycentric"].astype(np.float64)
    barycentric /= barycentric.sum(axis=1, keepdims=True)
    return SurfacePoints(truth[f"{name}_face"].astype(np.int64), barycentric)
