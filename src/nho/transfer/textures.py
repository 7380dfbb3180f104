"""Texture of one mesh on another: coordinates of its corners, or colours of its vertices.

At a seam the two sides of an edge have different texture coordinates, so a mean over it is
meaningless. Inside a triangle they are linear. Each corner of a target face therefore takes the
coordinates of the source triangle that it meets when it is approached from the middle of its
face, and where even this lies beyond a seam, those of the triangle at the middle, extrapolated.
"""

from __future__ import annotations

import io
import warnings

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, closest_on_triangles
from nho.io.attributes import GREY, Attributes, Texture
from nho.transfer.oriented import OrientedSurface
from nho.transfer.values import Carried

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
    normals = surface.outside.face_normals[at_corner].reshape(-1, 3)
    inward = places + _STEP * (centre[:, None] - places)
    tried = np.column_stack([at_corner.ravel(), np.repeat(middle.face, 3)])
    near, _ = surface.nearest(inward.reshape(-1, 3), normals, tried)
    own_face = near.face.reshape(-1, 3)

    flat, of_middle = places.reshape(-1, 3), np.repeat(middle.face, 3)
    own = _linear(source, uv, own_face.ravel(), flat).reshape(-1, 3, 2)
    extrapolated = _linear(source, uv, of_middle, flat).reshape(-1, 3, 2)
    at_middle = np.einsum("nc,ncx->nx", middle.barycentric, uv[middle.face])
    step = np.linalg.norm(extrapolated - at_middle[:, None], axis=2).max(axis=1)
    step = np.maximum(step, np.linalg.norm(np.ptp(uv[middle.face], axis=1), axis=1))
    off = np.linalg.norm(own - extrapolated, axis=2)
    same_image = shown[own_face] == shown[middle.face][:, None]
    smooth = same_image & (off <= _SMOOTH * step[:, None])  # False where there is a NaN
    out[there] = np.where(smooth[:, :, None], own, extrapolated)
    return out


def _linear(mesh: Mesh, uv: np.ndarray, faces: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n, 2) texture coordinates of triangles, extrapolated to points in or above their planes."""
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
    return np.asarray(np.einsum("nc,ncx->nx", weights, uv[faces]))


def painted(points: SurfacePoints, mesh: Mesh, attributes: Attributes) -> Carried:
    """(n, 3) uint8 sRGB of the texture at points of ``mesh``; grey where there is none.

    Needs Pillow (``pip install 'nho[image]'``).
    """
    if attributes.uv is None or not attributes.textures:
        raise InputError(
            f"{mesh.name}: there is no texture to take colours from; texture coordinates and an "
            "image beside the mesh file are needed"
        )
    shown = attributes.texture_indices(mesh.n_faces)
    image_at = np.where(points.face >= 0, shown[points.face], -1)
    colours = np.full((len(points), 3), GREY, dtype=np.uint8)
    for number, texture in enumerate(attributes.textures):
        rows = np.flatnonzero(image_at == number)
        if len(rows):
            uv = attributes.uv[points.face[rows]]
            at = np.einsum("nc,ncx->nx", points.barycentric[rows], uv)
            colours[rows] = _interpolated(_pixels(texture), at)
    return Carried(colours, image_at >= 0)


def _interpolated(image: np.ndarray, uv: np.ndarray) -> np.ndarray:
    """(n, 3) uint8 between the four nearest pixels; coordinates beyond 0 to 1 repeat the image."""
    height, width = image.shape[:2]
    place = np.where((uv >= 0) & (uv <= 1), uv, uv - np.floor(uv))
    x, y = place[:, 0] * width - 0.5, (1 - place[:, 1]) * height - 0.5
    left, top = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    right_share, low_share = (x - left)[:, None], (y - top)[:, None]
    columns = [np.clip(left + step, 0, width - 1) for step in (0, 1)]
    rows = [np.clip(top + step, 0, height - 1) for step in (0, 1)]
    upper, lower = (
        (1 - right_share) * image[row, columns[0]] + right_share * image[row, columns[1]]
        for row in rows
    )
    return np.asarray(np.rint((1 - low_share) * upper + low_share * lower), dtype=np.uint8)


def _pixels(texture: Texture) -> np.ndarray:
    """(height, width, 3) uint8."""
    try:
        from PIL import Image
    except ImportError:
        raise InputError(
            "reading texture images needs Pillow; install it with: pip install 'nho[image]'"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of an image far larger than any texture
            with Image.open(io.BytesIO(texture.data)) as image:
                return np.asarray(image.convert("RGB"))
    except Exception as problem:
        raise InputError(
            f"{texture.name}: the texture cannot be read ({str(problem)[:200]}); "
            "save it as PNG or JPEG"
        ) from problem
