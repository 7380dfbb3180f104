"""From a coarse surface to the fine one: where vertices lie, and where they go.

A fine vertex is a point on the coarse partial surface plus a small offset from it. Its image is
the image of that point plus the offset, rotated as the surface around it was rotated; from there
the closest point of the fine full surface that faces the same way is the answer.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.alignment import nearest_rotations
from nho.geometry.closest import FacingSearch
from nho.geometry.coarsening import Coarse
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, closest_on_triangles
from nho.io.meshes.polygons import ragged
from nho.runtime.parallel import Workers

_ROWS = 1 << 15  # points looked up at once: bounds the memory
_FARTHEST = 3.0  # edges longer than this times their rest length are jumps of the map
_NORMAL_WEIGHT = 2.0  # mean edges: how far a point goes to find a surface that faces its way


def located(fine: Mesh, coarse: Coarse, pool: Workers) -> SurfacePoints:
    """(n_fine,) points on the coarse surface: the closest ones beside each vertex's own cell.

    Only the triangles around the cell are tried, so another sheet nearby is never met.
    """
    faces = coarse.mesh.faces
    around = np.argsort(faces.ravel(), kind="stable") // 3  # faces by corner
    counts = np.bincount(faces.ravel(), minlength=len(coarse.vertex))
    starts = np.cumsum(counts) - counts
    corners = coarse.mesh.vertices[faces]

    def block(rows: slice) -> SurfacePoints:
        cell = coarse.cell[rows]
        tried = ragged(around, starts[cell], counts[cell])
        owner = np.repeat(np.arange(len(cell)), counts[cell])
        weights, gaps = closest_on_triangles(fine.vertices[rows][owner], corners[tried])
        first = np.cumsum(counts[cell]) - counts[cell]
        least = np.flatnonzero(gaps == np.minimum.reduceat(gaps, first)[owner])
        best = least[np.unique(owner[least], return_index=True)[1]]
        return SurfacePoints(tried[best], weights[best])

    return _joined(pool.over_rows(block, len(fine.vertices), _ROWS))


def carried_images(
    fine: Mesh, coarse: Coarse, places: SurfacePoints, images: np.ndarray, scale: float
) -> np.ndarray:
    """(n_fine, 3) where the fine vertices go.

    Parameters
    ----------
    places : SurfacePoints
        The fine vertices on the coarse surface.
    images : (n_coarse, 3) float array
        Where the coarse vertices go.
    scale : float
        Unit of the fine mesh in that of the images.
    """
    rest = coarse.mesh.vertices * scale
    rotations = _rotations(coarse.mesh, rest, images)
    corners = coarse.mesh.faces[places.face]
    weights = np.where(
        _torn(rest, images, corners)[:, None],
        np.eye(3)[places.barycentric.argmax(axis=1)],
        places.barycentric,
    )
    out = np.zeros_like(fine.vertices)
    for corner in range(3):
        vertex = corners[:, corner]
        offset = fine.vertices * scale - rest[vertex]
        moved = images[vertex] + np.einsum("nij,nj->ni", rotations[vertex], offset)
        out += weights[:, corner, None] * moved
    return out


def facing(mesh: Mesh, images: np.ndarray, points: SurfacePoints, full: Mesh) -> int:
    """1 if a surface laid at its images faces the way the full one does there, -1 if opposite."""
    normals = mesh.moved(images).vertex_normals
    return 1 if (normals * full.face_normals[points.face]).sum() >= 0 else -1


def on_surface(
    fine: Mesh, images: np.ndarray, full: Mesh, side: int, pool: Workers
) -> SurfacePoints:
    """Closest points on the full surface that face the way the bent fine surface does.

    ``side`` is -1 where the two meshes are oriented in opposite ways.
    """
    normals = side * fine.moved(images).vertex_normals
    search = FacingSearch(full, _NORMAL_WEIGHT * full.mean_edge_length)
    blocks = pool.over_rows(lambda rows: search(images[rows], normals[rows])[0], len(images), _ROWS)
    return _joined(blocks)


def _torn(rest: np.ndarray, images: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Whether the map jumps inside the triangle of these corners, (n,) bool."""
    torn = np.zeros(len(corners), dtype=bool)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        torn |= _jumps(rest, images, corners[:, i], corners[:, j])
    return torn


def _jumps(rest: np.ndarray, images: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Whether the images of i and j are much farther apart than i and j, (n,) bool."""
    apart = np.linalg.norm(rest[i] - rest[j], axis=1)
    apart_there = np.linalg.norm(images[i] - images[j], axis=1)
    return np.asarray(apart_there > _FARTHEST * apart)


def _rotations(mesh: Mesh, rest: np.ndarray, images: np.ndarray) -> np.ndarray:
    """(n, 3, 3) best rotation of the edges around every vertex, without those that jump."""
    i, j = np.concatenate([mesh.edges, mesh.edges[:, ::-1]]).T
    calm = ~_jumps(rest, images, i, j)
    i, j = i[calm], j[calm]
    bent, straight = images[j] - images[i], rest[j] - rest[i]
    products = np.stack(
        [
            np.bincount(i, bent[:, a] * straight[:, b], minlength=len(rest))
            for a in range(3)
            for b in range(3)
        ],
        axis=1,
    )
    return nearest_rotations(products.reshape(-1, 3, 3))


def _joined(blocks: list[SurfacePoints]) -> SurfacePoints:
    return SurfacePoints(
        np.concatenate([block.face for block in blocks]),
        np.concatenate([block.barycentric for block in blocks]),
    )
