"""The full shape with fewer faces, and the truth carried there and back.

Errors on a coarse mesh would be measured along its coarse edges. So a method gets the decimated
shape, and its answer is laid back onto the original one, where all errors of a study are measured
alike. Both meshes lie in the same place: points go to the closest point of the other surface.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from nho.errors import InputError
from nho.evaluation.ground_truth import GroundTruth
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, project


@dataclass(frozen=True)
class Decimation:
    """A mesh, its decimated version and the truth on both.

    Attributes
    ----------
    fine, coarse : Mesh
        In the same coordinates.
    fine_truth : GroundTruth
        On ``fine``.
    coarse_truth : GroundTruth
        The same points on ``coarse``. A vertex there is in the region if the nearest vertex of
        ``fine`` is.
    nearest : (n_fine,) int array
        The vertex of ``coarse`` nearest to each of ``fine``.
    """

    fine: Mesh
    coarse: Mesh
    fine_truth: GroundTruth
    coarse_truth: GroundTruth
    nearest: np.ndarray

    @classmethod
    def of(cls, fine: Mesh, truth: GroundTruth, share: float) -> Decimation:
        """Keep about ``share`` of the faces."""
        coarse = decimated(fine, share)
        nearest_fine = np.asarray(cKDTree(fine.vertices).query(coarse.vertices)[1])
        points = _laid_on(coarse, fine, truth.points)
        return cls(
            fine,
            coarse,
            truth,
            replace(truth, points=points, region=truth.region[nearest_fine]),
            np.asarray(cKDTree(coarse.vertices).query(fine.vertices)[1]),
        )

    def lifted(self, points: SurfacePoints) -> SurfacePoints:
        """Points of the coarse mesh on the fine one; missing ones stay missing."""
        return _laid_on(self.fine, self.coarse, points)


def decimated(mesh: Mesh, share: float) -> Mesh:
    """About ``share`` of the faces, by quadric edge collapse."""
    try:
        import fast_simplification
    except ImportError:
        raise InputError(
            "fewer faces need fast-simplification; install it with: pip install 'nho[bench]'"
        ) from None
    vertices, faces = fast_simplification.simplify(
        # Copies: it takes no array that is read-only.
        np.array(mesh.vertices),
        mesh.faces.astype(np.int32),
        target_reduction=1 - share,
    )
    vertices, faces = np.asarray(vertices, dtype=np.float64), np.asarray(faces, dtype=np.int64)
    used, corners = np.unique(faces, return_inverse=True)  # collapsed vertices may be left over
    return Mesh(vertices[used], corners.reshape(-1, 3), mesh.name)


def _laid_on(target: Mesh, source: Mesh, points: SurfacePoints) -> SurfacePoints:
    """The closest points on ``target`` of points on ``source``."""
    known = points.face >= 0
    laid = SurfacePoints.none(len(points))
    there, _ = project(target, points[known].positions(source))
    laid.face[known], laid.barycentric[known] = there.face, there.barycentric
    return laid
