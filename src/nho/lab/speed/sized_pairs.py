"""One pair of shapes at many sizes: the same surfaces, anchors and truth, more or fewer vertices.

Finer meshes are subdivided, coarser ones coarsened; old vertices stay where they are, and with
them the anchors and everything that is known about the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.evaluation.ground_truth import GroundTruth
from nho.evaluation.sample import load_sample
from nho.geometry.coarsening import coarsened
from nho.geometry.mesh import Mesh
from nho.geometry.subdivision import Subdivided, subdivided
from nho.geometry.surface import SurfacePoints, project
from nho.lab.bench.datasets import FAMILIES, AnnotatedPair
from nho.runtime.npz import load_arrays

ANCHORS = 25
_JUDGED = 300  # partial vertices; each takes up to three Dijkstra runs
_VISITS = 30_000_000  # vertices those runs may settle in all: fewer rows are judged on large meshes


@dataclass(frozen=True)
class SizedPair:
    """What every case is given, and the truth to judge it by.

    Attributes
    ----------
    partial, full : Mesh
        In units in which the full shape has area one.
    anchors : (m, 2) int array
    truth : SurfacePoints
        On the full mesh; face -1 at vertices whose true point is not known.
    region : (n_full,) bool array
        Full vertices that the partial shape shows.
    """

    name: str
    partial: Mesh
    full: Mesh
    anchors: np.ndarray
    truth: SurfacePoints
    region: np.ndarray

    def save(self, path: Path) -> None:
        """Write all of it to one ``.npz``."""
        np.savez(
            path,
            name=np.array(self.name),
            partial_vertices=self.partial.vertices,
            partial_faces=self.partial.faces,
            full_vertices=self.full.vertices,
            full_faces=self.full.faces,
            anchors=self.anchors,
            truth_face=self.truth.face,
            truth_barycentric=self.truth.barycentric,
            region=self.region,
        )

    @classmethod
    def load(cls, path: Path) -> SizedPair:
        """The inverse of `save`."""
        stored = load_arrays(path)
        return cls(
            str(stored["name"]),
            Mesh(stored["partial_vertices"], stored["partial_faces"], "partial"),
            Mesh(stored["full_vertices"], stored["full_faces"], "full"),
            stored["anchors"],
            SurfacePoints(stored["truth_face"], stored["truth_barycentric"]),
            stored["region"],
        )

    def judged_rows(self) -> np.ndarray:
        """Partial vertices at which maps are compared: evenly chosen of those with a truth."""
        known = np.flatnonzero(self.truth.face >= 0)
        count = max(20, min(_JUDGED, _VISITS // self.full.n_vertices))
        at = np.linspace(0, len(known) - 1, count).round().astype(np.int64)
        return known[np.unique(at)]


def source_pair(family: str = "", number: int = 0, data: Path | None = None) -> AnnotatedPair:
    """The shipped sample, or the ``number``-th pair of a family of data sets."""
    if not family:
        sample = load_sample("plane")
        points = SurfacePoints(sample.truth_face, sample.truth_barycentric)
        truth = GroundTruth(points, sample.truth_region)
        return AnnotatedPair("sample", sample.partial, sample.full, truth)
    names = FAMILIES[family].names(data)
    if not 0 <= number < len(names):
        raise InputError(f"family {family} has pairs 0 to {len(names) - 1}, not {number}")
    return FAMILIES[family].load(data, names[number])


def sized_pair(pair: AnnotatedPair, size: int) -> SizedPair:
    """The pair with about ``size`` vertices on the full shape, and the partial one as dense."""
    anchors = pair.anchors(ANCHORS)
    share = len(pair.partial.vertices) / len(pair.full.vertices)
    partial, old_partial = _resized(pair.partial, round(size * share), anchors[:, 0])
    full, old_full = _resized(pair.full, size, anchors[:, 1])
    known = np.flatnonzero(pair.truth.points.face[old_partial] >= 0)
    # True points lie on the old surface; the new one runs within a small part of an edge of it.
    at, _ = project(full.mesh, pair.truth.points[old_partial[known]].positions(pair.full))
    truth = SurfacePoints.none(partial.mesh.n_vertices)
    truth.face[known], truth.barycentric[known] = at.face, at.barycentric
    unit = 1 / np.sqrt(full.mesh.area)
    places = [_places(old, rows) for old, rows in zip((old_partial, old_full), anchors.T)]
    return SizedPair(
        pair.name,
        partial.mesh.scaled(unit),
        full.mesh.scaled(unit),
        np.stack(places, axis=1),
        truth,
        full.grown(pair.truth.region[old_full]),
    )


def _resized(mesh: Mesh, count: int, keep: np.ndarray) -> tuple[Subdivided, np.ndarray]:
    """The mesh of another size, and the (k,) old vertices that its first k vertices are."""
    if count >= mesh.n_vertices:
        return subdivided(mesh, count), np.arange(mesh.n_vertices)
    coarse = coarsened(mesh, count, keep)
    return Subdivided(coarse.mesh, ()), coarse.vertex


def _places(old: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """(m,) places of (m,) vertices among the ascending old ones; -1 = it is gone."""
    return np.where(np.isin(vertices, old), np.searchsorted(old, vertices), -1)
