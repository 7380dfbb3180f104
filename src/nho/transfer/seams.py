"""Texture coordinates of the corners of one mesh, from those of another, across seams.

At a seam the two sides of an edge have different texture coordinates, so a mean over it is
meaningless. Inside a triangle they are linear. Each corner of a target face therefore takes the
coordinates of the source triangle that it meets when it is approached from the middle of its
face, and where even this lies beyond a seam, those of the triangle at the middle, continued.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, closest_on_triangles
from nho.transfer.oriented import OrientedSurface

_STEP = 0.02  # towards the middle of the face: leaves the seams that a corner may lie on
_SMOOTH = 2.0  # texture coordinates that are farther off than this many expected steps jump
_FLAT = 1e-12  # squared sine of an angle below which a triangle has no plane


def carry_uv(
    surface: OrientedSurface,
    uv: np.ndarray,
    shown: np.ndarray,
    target: Mesh,
    vertices: SurfacePoints,
    middles: SurfacePoints,
) -> np.ndarray:
    """(m_target, 3, 2) texture coordinates of the corners of ``target``; NaN = none.

    Parameters
    ----------
    surface : OrientedSurface
        The source.
    uv : (m_source, 3, 2) float array; shown : (m_source,) int array, the image of each face.
    vertices, middles : SurfacePoints
        On the source: where the vertices of the target lie, and the middles of its faces.
    """
    source = surface.mesh
    corners = vertices[target.faces.ravel()]
    at_corner = corners.face.reshape(-1, 3)
    there = np.flatnonzero((at_corner >= 0).all(axis=1) & (middles.face >= 0))
    out = np.full((target.n_faces, 3, 2), np.nan)
    if not len(there):
        return out
    middle, at_corner = middles[there], at_corner[there]
    places = corners.positions(source).reshape(-1, 3, 3)[there]  # face, corner, axis
    centre = middle.positions(source)
    normals = surface.face_normals[at_corner].reshape(-1, 3)
    inward = places + _STEP * (centre[:, None] - places)
    tried = np.column_stack([at_corner.ravel(), np.repeat(middle.face, 3)])
    near, _ = surface.nearest(inward.reshape(-1, 3), normals, tried)
    own_face = near.face.reshape(-1, 3)

    flat, of_middle = places.reshape(-1, 3), np.repeat(middle.face, 3)
    own = _linear(source, uv, own_face.ravel(), flat).reshape(-1, 3, 2)
    continued = _linear(source, uv, of_middle, flat).reshape(-1, 3, 2)
    at_middle = np.einsum("nc,ncx->nx", middle.barycentric, uv[middle.face])
    step = np.linalg.norm(continued - at_middle[:, None], axis=2).max(axis=1)
    step = np.maximum(step, np.linalg.norm(np.ptp(uv[middle.face], axis=1), axis=1))
    off = np.linalg.norm(own - continued, axis=2)
    same_image = shown[own_face] == shown[middle.face][:, None]
    own_holds = same_image & (off <= _SMOOTH * step[:, None])  # False where there is a NaN
    out[there] = np.where(own_holds[:, :, None], own, continued)
    return out


def _linear(mesh: Mesh, uv: np.ndarray, faces: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n, 2) texture coordinates of triangles continued to points in (or above) their planes."""
    triangles = mesh.vertices[mesh.faces[faces]]
    a = triangles[:, 0]
    u, v, w = triangles[:, 1] - a, triangles[:, 2] - a, points - a
    uu, uv_, vv = (np.einsum("nk,nk->n", x, y) for x, y in ((u, u), (u, v), (v, v)))
    wu, wv = (np.einsum("nk,nk->n", w, x) for x in (u, v))
    determinant = uu * vv - uv_ * uv_
    flat = determinant <= _FLAT * uu * vv
    safe = np.where(flat, 1.0, determinant)
    s, t = (vv * wu - uv_ * wv) / safe, (uu * wv - uv_ * wu) / safe
    weights = np.stack([1 - s - t, s, t], axis=1)
    if flat.any():
        weights[flat] = closest_on_triangles(points[flat], triangles[flat])[0]
    return np.einsum("nc,ncx->nx", weights, uv[faces])
