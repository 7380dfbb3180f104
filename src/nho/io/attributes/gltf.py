"""Attributes of glTF files: COLOR_0, texture coordinates, images, and attributes named ``_NAME``.

glTF counts texture coordinates from the upper left and has linear colours; here they count from
the lower left, and colours are sRGB.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nho.errors import InputError
from nho.io.attributes.model import COLOUR, Array, Attributes, Texture
from nho.io.attributes.nodata import empty_like
from nho.io.attributes.shared import Surface
from nho.io.attributes.srgb import from_linear
from nho.io.meshes.gltf import Primitive, primitives, surface_of
from nho.io.meshes.gltf_document import Document

_WIDE = ("SCALAR", "VEC2", "VEC3", "VEC4")
_ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg"}


def read_gltf(data: bytes, name: str, folder: Path) -> Surface:
    """Vertices, triangles and attributes of a .glb or .gltf file."""
    document = Document(data, name, folder)
    pieces = list(primitives(document))
    vertices, faces = surface_of(pieces, name)
    notes: list[str] = []
    images = _Images(document, notes)
    uv = [_uv(document, piece, images) for piece in pieces]
    shown = [images.of(piece.entry) for piece in pieces]
    counts = [len(piece.faces) for piece in pieces]
    has_uv = any(np.isfinite(part).any() for part in uv)
    attributes = Attributes(
        vertex=_vertex_data(document, pieces, len(vertices), notes),
        uv=np.concatenate(uv) if has_uv else None,
        textures=tuple(images.textures),
        texture_of_face=np.repeat(np.array(shown), counts) if images.textures else None,
        notes=tuple(notes),
    )
    return vertices, faces, attributes


def _vertex_data(
    document: Document, pieces: list[Primitive], n_vertices: int, notes: list[str]
) -> dict[str, Array]:
    """Colours and own attributes; what a piece lacks is no data there."""
    found: dict[str, list[tuple[int, Array]]] = {}
    owners = [piece for piece in pieces if piece.points is not None]
    for piece in owners:
        for key, accessor in piece.entry["attributes"].items():
            if key != "COLOR_0" and not key.startswith("_"):
                continue
            values = document.accessor(accessor, *_WIDE)
            if len(values) != piece.count:
                raise InputError(
                    f"{document.name}: {key} has {len(values)} entries for {piece.count} vertices; "
                    "re-export the mesh"
                )
            if key == "COLOR_0":
                values, key = _colours(values, document.name), COLOUR
            elif values.shape[1] == 1:
                values = values[:, 0]
            found.setdefault(key.removeprefix("_") or key, []).append((piece.first, values))
    arrays: dict[str, Array] = {}
    for key, parts in found.items():
        if len({(values.dtype, values.shape[1:]) for _, values in parts}) > 1:
            notes.append(f"{key!r} differs in type from part to part and was left out")
            continue
        if len(parts) == len(owners):
            arrays[key] = np.concatenate([values for _, values in parts])
            continue
        arrays[key] = empty_like(parts[0][1], n_vertices)
        for first, values in parts:
            arrays[key][first : first + len(values)] = values
        notes.append(f"only {len(parts)} of {len(owners)} parts have {key!r}")
    return arrays


def _colours(values: Array, name: str) -> Array:
    """sRGB in uint8; alpha is linear everywhere."""
    if values.dtype.kind != "f" or values.shape[1] not in (3, 4):
        raise InputError(f"{name}: COLOR_0 does not hold colours; re-export the mesh")
    fractions = np.clip(np.nan_to_num(values.astype(np.float64)), 0, 1)
    fractions[:, :3] = from_linear(fractions[:, :3])
    return np.rint(255 * fractions).astype(np.uint8)


def _uv(document: Document, piece: Primitive, images: _Images) -> Array:
    """(m, 3, 2) texture coordinates of the corners of a piece, from the lower left."""
    binding = images.binding(piece.entry)
    channel = f"TEXCOORD_{int(binding.get('texCoord', 0))}"
    accessor = piece.entry["attributes"].get(channel)
    if accessor is None:
        return np.full((len(piece.faces), 3, 2), np.nan)
    values = document.accessor(accessor, "VEC2").astype(np.float64)
    if len(values) != piece.count:
        raise InputError(
            f"{document.name}: {channel} has {len(values)} entries for {piece.count} vertices; "
            "re-export the mesh"
        )
    placed = _placed(values, binding.get("extensions", {}).get("KHR_texture_transform", {}))
    return np.stack([placed[:, 0], 1 - placed[:, 1]], axis=1)[piece.faces]


def _placed(uv: Array, transform: dict[str, Any]) -> Array:
    """Scaled, turned and moved as KHR_texture_transform says."""
    turn = float(transform.get("rotation", 0.0))
    scaled = uv * np.array(transform.get("scale", [1.0, 1.0]), dtype=np.float64)
    cosine, sine = np.cos(turn), np.sin(turn)
    turned = scaled @ np.array([[cosine, -sine], [sine, cosine]]) if turn else scaled
    return turned + np.array(transform.get("offset", [0.0, 0.0]), dtype=np.float64)


class _Images:
    """The images of a document, loaded where a material asks for them."""

    def __init__(self, document: Document, notes: list[str]) -> None:
        self._document, self._notes = document, notes
        self._index: dict[int, int] = {}
        self.textures: list[Texture] = []

    def binding(self, primitive: dict[str, Any]) -> dict[str, Any]:
        """What the material of a primitive says about its base colour."""
        if "material" not in primitive:
            return {}
        material = self._document.item("materials", primitive["material"])
        found: dict[str, Any] = material.get("pbrMetallicRoughness", {}).get("baseColorTexture", {})
        return found

    def of(self, primitive: dict[str, Any]) -> int:
        """Index in `textures`; -1 = none."""
        binding = self.binding(primitive)
        if "index" not in binding:
            return -1
        source = self._document.item("textures", binding["index"]).get("source")
        if source is None:
            self._notes.append("an image in a format of its own extension was left out")
            return -1
        if source not in self._index:
            self._index[source] = len(self.textures)
            self.textures.append(self._load(source))
        return self._index[source]

    def _load(self, source: int) -> Texture:
        image = self._document.item("images", source)
        uri = image.get("uri")
        if uri is not None and not uri.startswith("data:"):
            return Texture(Path(uri).name, self._document.linked(uri, "image"))
        kind = image.get("mimeType") or str(uri).partition(";")[0].removeprefix("data:")
        name = f"image{source}{_ENDINGS.get(kind, '')}"
        if uri is not None:
            return Texture(name, self._document.linked(uri, "image"))
        view = self._document.item("bufferViews", image["bufferView"])
        start, length = int(view.get("byteOffset", 0)), int(view["byteLength"])
        buffer = self._document.buffer(view["buffer"])
        if min(start, length) < 0 or start + length > len(buffer):
            raise InputError(
                f"{self._document.name}: image {source} does not fit its buffer; copy it again"
            )
        return Texture(name, buffer[start : start + length])
