"""The texture of a shape for a page: the surface cut open along its seams, and images to show."""

from __future__ import annotations

import io
import struct
import warnings
from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import FloatArray, IntArray, Mesh
from nho.io.attributes import Attributes, Texture
from nho.io.meshes.polygons import equal_points

MOST_PIXELS = 100_000_000  # of an image: decoded, a browser holds four bytes for each
_PNG, _JPEG, _BMP = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"BM"
# Markers of a JPEG file that tell its size: start of frame, of whatever coding.
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}


@dataclass(frozen=True)
class PageImage:
    """An image that every browser can show.

    Attributes
    ----------
    kind : str
        Its media type.
    width, height : int
        Pixels.
    """

    name: str
    data: bytes
    kind: str
    width: int
    height: int


@dataclass(frozen=True)
class DrawnTexture:
    """A textured surface; a vertex on a seam is there once for each place in the image.

    Attributes
    ----------
    vertex : (k,) int array
        The vertex of the mesh that each of the texture's is.
    uv : (k, 2) float array
        Texture coordinates, (0, 0) = lower left of the image.
    faces : (m, 3) int array
        Triangles between them, image by image; those without an image come last.
    counts : tuple of int
        Triangles of each image.
    images : tuple of PageImage
    """

    vertex: IntArray
    uv: FloatArray
    faces: IntArray
    counts: tuple[int, ...]
    images: tuple[PageImage, ...]


def drawn_texture(mesh: Mesh, attributes: Attributes) -> DrawnTexture | None:
    """The texture of a mesh as a page draws it; None if it has none.

    Raises
    ------
    InputError
        If an image cannot be shown; it names the image and the remedy.
    """
    shown = attributes.texture_indices(mesh.n_faces)
    if attributes.uv is None or not (shown >= 0).any():
        return None
    used = np.unique(shown[shown >= 0])
    images = tuple(page_image(attributes.textures[number]) for number in used)
    place = np.where(shown >= 0, np.searchsorted(used, shown), len(used))
    order = np.argsort(place, kind="stable")
    uv = np.where((shown >= 0)[:, None, None], attributes.uv, 0.0)[order].reshape(-1, 2)
    corner = mesh.faces[order].ravel()
    first, group = equal_points(np.column_stack([corner, uv]))
    counts = np.bincount(place, minlength=len(used))[: len(used)]
    return DrawnTexture(
        corner[first], uv[first], group.reshape(-1, 3), tuple(counts.tolist()), images
    )


def page_image(texture: Texture) -> PageImage:
    """An image as it is if browsers know its format, else as PNG (which needs Pillow)."""
    found = _size(texture.data)
    if found is None:
        texture = Texture(texture.name, _as_png(texture))
        found = _size(texture.data)
    kind, width, height = found or ("", 0, 0)
    if not width or not height:
        raise InputError(
            f"{texture.name}: the texture is damaged, so the shape is shown without it; "
            "save it again as PNG or JPEG"
        )
    _check_pixels(texture.name, width, height)
    return PageImage(texture.name, texture.data, kind, width, height)


def _size(data: bytes) -> tuple[str, int, int] | None:
    """Media type, width and height of a PNG, JPEG or BMP; zeros if damaged, None = another."""
    if data.startswith(_PNG):
        width, height = _unpacked(">II", data, 16)
        return "image/png", width, height
    if data.startswith(_BMP):
        width, height = _unpacked("<ii", data, 18)
        return "image/bmp", max(width, 0), abs(height)
    if not data.startswith(_JPEG):
        return None
    at = 2
    while data[at : at + 1] == b"\xff" and at + 9 <= len(data):
        marker, (length,) = data[at + 1], _unpacked(">H", data, at + 2)
        if marker in _FRAMES:
            height, width = _unpacked(">HH", data, at + 5)
            return "image/jpeg", width, height
        at += 1 if marker == 0xFF else 2 + length  # a marker may have fill bytes before it
    return "image/jpeg", 0, 0


def _unpacked(form: str, data: bytes, at: int) -> tuple[int, ...]:
    """Numbers in a file; zeros beyond its end."""
    size = struct.calcsize(form)
    return struct.unpack(form, data[at : at + size].ljust(size, b"\0"))


def _as_png(texture: Texture) -> bytes:
    try:
        from PIL import Image
    except ImportError:
        raise InputError(
            f"{texture.name}: the page shows textures in PNG, JPEG and BMP; save it as one of "
            "these, or install Pillow, which reads others: pip install 'nho[image]'"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of an image far larger than any texture
            with Image.open(io.BytesIO(texture.data)) as image:
                _check_pixels(texture.name, *image.size)
                written = io.BytesIO()
                image.convert("RGB").save(written, "PNG", compress_level=1)
                return written.getvalue()
    except InputError:
        raise
    except Exception as problem:
        raise InputError(
            f"{texture.name}: the texture cannot be read, so the shape is shown without it; "
            f"save it as PNG or JPEG ({str(problem)[:200]})"
        ) from problem


def _check_pixels(name: str, width: int, height: int) -> None:
    if width * height > MOST_PIXELS:
        raise InputError(
            f"{name}: a texture of {width} x {height} pixels is too large to be shown, so the "
            f"shape is shown without it; scale it down to {MOST_PIXELS // 10**6} million pixels or "
            "fewer"
        )
