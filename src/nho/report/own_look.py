"""A shape as its own file shows it, for a page: colours at the vertices, or a texture."""

from __future__ import annotations

import base64
from typing import Any, Literal

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.attributes import Attributes, kind_of
from nho.report.colours import PLAIN, Colours, ViewColours
from nho.report.scene import packed
from nho.report.textures import DrawnTexture, drawn_texture

SIDES: tuple[Literal["partial", "full"], ...] = ("partial", "full")
MOST_IMAGES = 12 * 2**20  # bytes of a shape's images inside a page


def own_colours(attributes: Attributes) -> Colours | None:
    """(n, 3) uint8 colours of the vertices; None = the file has none."""
    for array in attributes.vertex.values():
        if kind_of(array) == "colour":
            return np.ascontiguousarray(array[:, :3])
    return None


def with_own_colours(
    colours: ViewColours, files: tuple[Attributes, Attributes] | None, sizes: tuple[int, int]
) -> ViewColours:
    """The colours of all views, and ``own`` beside them; plain where a file has none."""
    if files is None:
        return colours
    found: ViewColours = {}
    for side, attributes, size in zip(SIDES, files, sizes, strict=True):
        own = own_colours(attributes)
        plain = np.tile(np.array(PLAIN, dtype=np.uint8), (size, 1))
        found[side] = {**colours[side], "own": plain if own is None else own}
    return found


def packed_texture(mesh: Mesh, attributes: Attributes) -> dict[str, Any] | None:
    """The texture for `Texture` of texture.js, images inside; None = none, or none to be shown."""
    try:
        drawn = drawn_texture(mesh, attributes)
    except InputError:  # the shape is shown without it
        return None
    if drawn is None or sum(len(image.data) for image in drawn.images) > MOST_IMAGES:
        return None
    return _packed(drawn)


def _packed(drawn: DrawnTexture) -> dict[str, Any]:
    return {
        "vertex": packed(drawn.vertex, "<u4"),
        "uv": packed(drawn.uv, "<f4"),
        "faces": packed(drawn.faces, "<u4"),
        "counts": list(drawn.counts),
        "images": [
            {
                "name": image.name,
                "width": image.width,
                "height": image.height,
                "kind": image.kind,
                "data": base64.b64encode(image.data).decode("ascii"),
            }
            for image in drawn.images
        ],
    }
