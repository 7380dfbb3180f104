"""Colours out of texture images, at points of the surface they are painted on."""

from __future__ import annotations

import io
import warnings

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.io.attributes import GREY, Attributes, Texture
from nho.transfer.values import Carried


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
            colours[rows] = _sampled(_pixels(texture), at)
    return Carried(colours, image_at >= 0)


def _sampled(image: np.ndarray, uv: np.ndarray) -> np.ndarray:
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
    return np.rint((1 - low_share) * upper + low_share * lower).astype(np.uint8)


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
