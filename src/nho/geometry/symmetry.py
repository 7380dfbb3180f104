"""The plane of mirror symmetry of a surface, and the partner of every vertex on the other side.

The surface is mirrored at a first plane, moved onto itself by iterative closest points, and what is
then between its points and their images is a better plane. Several first planes are tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from nho.errors import InputError
from nho.geometry.closest import FacingSearch
from nho.geometry.icp import aligned_by_icp
from nho.geometry.mesh import FloatArray, Mesh
from nho.geometry.surface import SurfacePoints

_DIRECTIONS = 60  # first planes through the centre
_FOLLOWED = 3  # of them, the best are followed up
_SAMPLES = 800
_ROUNDS = 2
_LARGEST = 0.015  # of the diagonal: median distance of a mirrored point from a symmetric surface
FLIPPED = [0, 2, 1]  # order of the corners of a triangle's mirror image
_NORMAL_WEIGHT = 2.0  # mean edges: how far a partner may be to face the right way


@dataclass(frozen=True)
class Plane:
    """A plane through a point, with a unit normal; both (3,) float arrays."""

    point: np.ndarray
    normal: np.ndarray

    def reflect(self, points: np.ndarray) -> FloatArray:
        """(n, 3) points on the other side."""
        away = (points - self.point) @ self.normal
        mirrored: FloatArray = points - 2 * away[:, None] * self.normal
        return mirrored

    def reflect_directions(self, vectors: np.ndarray) -> FloatArray:
        """(n, 3) directions, as normals are, on the other side."""
        mirrored: FloatArray = vectors - 2 * (vectors @ self.normal)[:, None] * self.normal
        return mirrored


@dataclass(frozen=True)
class Symmetry:
    """Mirror symmetry of a mesh.

    Attributes
    ----------
    plane : Plane
    partner : SurfacePoints
        For every vertex, the point of the surface that lies where its mirror image does.
    distance : (n,) float array
        From the mirror image of every vertex to its partner.
    """

    plane: Plane
    partner: SurfacePoints
    distance: np.ndarray


def plane_between(points: np.ndarray, images: np.ndarray, weights: np.ndarray) -> Plane:
    """The plane whose reflection brings (n, 3) points closest to their (n, 3) images.

    With both centred, ``|p - 2 n (n . p) - q|^2`` sums to a constant plus ``4 n^T S n``, where S is
    the symmetric part of the sum of ``p q^T``: the normal is the eigenvector of its least value.
    """
    weights = weights / weights.sum()
    middle = weights @ (points + images) / 2
    product = ((points - middle) * weights[:, None]).T @ (images - middle)
    return Plane(middle, np.linalg.eigh(product + product.T)[1][:, 0])


def find_symmetry(mesh: Mesh) -> Symmetry:
    """The mirror symmetry of a mesh; an `InputError` if it has none."""
    corners = mesh.faces.ravel()
    areas = np.repeat(mesh.face_areas, 3)
    random = np.random.default_rng(0)
    chosen = random.choice(corners, min(_SAMPLES, len(corners)), p=areas / areas.sum())
    samples = mesh.vertices[chosen]
    centre = samples.mean(axis=0)
    tree = cKDTree(samples)
    first = [Plane(centre, normal) for normal in _first_normals(samples - centre)]
    # Unlike points of a symmetric surface, those of its mirror image are near no sample at all.
    score = [np.median(tree.query(plane.reflect(samples))[0]) for plane in first]
    found = [_followed(first[i], samples, mesh) for i in np.argsort(score)[:_FOLLOWED]]
    _, plane = min(found, key=lambda each: each[0])
    facing = FacingSearch(mesh, _NORMAL_WEIGHT * mesh.mean_edge_length)
    images = plane.reflect(mesh.vertices)
    partner, place = facing(images, plane.reflect_directions(mesh.vertex_normals))
    distance = np.linalg.norm(place - images, axis=1)
    gap = float(np.median(distance))
    if not gap <= _LARGEST * mesh.diagonal:
        raise InputError(
            f"{mesh.name}: it has no plane of symmetry: half of its points are more than "
            f"{100 * gap / mesh.diagonal:.1f} % of its diagonal away from the surface when "
            "mirrored; give a symmetric template, or work without symmetry"
        )
    return Symmetry(plane, partner, distance)


def _first_normals(samples: np.ndarray) -> FloatArray:
    """The principal axes, and directions spread over half a sphere."""
    axes = np.linalg.svd(samples, full_matrices=False)[2]
    step = np.arange(_DIRECTIONS) + 0.5
    height = step / _DIRECTIONS
    angle = np.pi * (1 + np.sqrt(5)) * step
    width = np.sqrt(1 - height**2)
    spread = np.stack([width * np.cos(angle), width * np.sin(angle), height], axis=1)
    normals: FloatArray = np.concatenate([axes, spread])
    return normals


def _followed(plane: Plane, samples: np.ndarray, mesh: Mesh) -> tuple[float, Plane]:
    """Median distance of the mirrored samples from the surface, and the plane that gives it."""
    for _ in range(_ROUNDS):
        images = aligned_by_icp(plane.reflect(samples), mesh, growing=False)[0]
        plane = plane_between(samples, images, np.ones(len(samples)))
    images = plane.reflect(samples)
    return float(np.median(np.linalg.norm(FacingSearch(mesh)(images)[1] - images, axis=1))), plane


def mirrored(mesh: Mesh, plane: Plane) -> Mesh:
    """The mirror image; faces are flipped so that their outside stays outside."""
    return Mesh(plane.reflect(mesh.vertices), mesh.faces[:, FLIPPED], mesh.name)
