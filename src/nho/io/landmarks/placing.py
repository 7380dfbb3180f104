"""Points as they are given (vertices, faces, coordinates) to points on a mesh."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, project
from nho.io.landmarks.hints import remedy

WEIGHT_ERROR = 0.01  # by which weights in a face may miss their range: files hold few digits
_FAR = 0.1  # of the mesh's diagonal: a point farther from the surface was not marked on it


def at_vertices(
    mesh: Mesh, vertices: np.ndarray, names: Sequence[str], source: str
) -> SurfacePoints:
    """(n,) vertex indices, which must belong to faces of the mesh."""
    bad = np.flatnonzero((vertices < 0) | (vertices >= len(mesh.vertices)))
    if len(bad):
        raise InputError(
            f"{source}: anchor {names[bad[0]]} refers to vertex {vertices[bad[0]]} of {mesh.name}, "
            f"which has vertices 0 to {len(mesh.vertices) - 1}; indices count from 0"
        )
    loose = np.flatnonzero(~np.isin(vertices, mesh.faces))
    if len(loose):
        raise InputError(
            f"{source}: anchor {names[loose[0]]} refers to vertex {vertices[loose[0]]} of "
            f"{mesh.name}, which belongs to no face; pick a vertex on the surface"
        )
    return SurfacePoints.at_vertices(mesh, vertices)


def in_faces(
    mesh: Mesh, face: np.ndarray, barycentric: np.ndarray, names: Sequence[str], source: str
) -> SurfacePoints:
    """(n,) faces and (n, 3) weights, which are rounded into the face."""
    bad = np.flatnonzero((face < 0) | (face >= len(mesh.faces)))
    if len(bad):
        raise InputError(
            f"{source}: anchor {names[bad[0]]} refers to face {face[bad[0]]} of {mesh.name}, "
            f"which has triangles 0 to {len(mesh.faces) - 1}; indices count from 0"
        )
    weights = np.clip(barycentric, 0, None)
    return SurfacePoints(face.copy(), weights / weights.sum(axis=1, keepdims=True))


def projected(
    mesh: Mesh,
    positions: np.ndarray,
    names: Sequence[str],
    source: str,
    axes: str = "",
    side: str = "",
) -> tuple[SurfacePoints, np.ndarray]:
    """(n, 3) coordinates on the surface, with the (n,) distances; far ones are refused."""
    # A NaN fails the comparison; beyond the square root of the largest number, squares of
    # distances overflow.
    near = np.abs(positions) < np.sqrt(np.finfo(np.float64).max) / 1024
    bad = np.flatnonzero(~near.all(axis=1))
    if len(bad):
        raise InputError(
            f"{source}: anchor {names[bad[0]]} has no finite position on {mesh.name}; "
            "correct or remove it"
        )
    points, gap = project(mesh, positions)
    size = float(np.linalg.norm(np.ptp(mesh.vertices, axis=0)))
    far = gap > _FAR * size
    if far.any():
        worst = int(np.argmax(gap))
        raise InputError(
            f"{source}: anchor {names[worst]} lies {gap[worst]:.4g} away from {mesh.name}, which "
            f"is only {size:.4g} across; {remedy(positions, far, mesh, axes, side)}"
        )
    return points, gap
