"""glTF 2.0, .glb and .gltf: the default scene, with colours, textures and attributes ``_NAME``.

The vertex order is the order of the file: nodes depth first as the scene lists them, in each node
the primitives in turn, in each primitive its POSITION accessor. Primitives of a node that share
one accessor (one mesh with several materials) share its vertices.

glTF counts texture coordinates from the upper left and has linear colours; here they count from
the lower left, and colours are sRGB. Files are written by `nho.io.meshes.gltf_write`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nho.errors import InputError
from nho.io.meshes.gltf_document import WIDTHS, Document
from nho.io.meshes.model import COLOUR, Array, Attributes, ParsedMesh, Texture, nodata_like
from nho.io.meshes.polygons import FloatArray, IntArray, check_range

_TRIANGLES, _STRIP, _FAN = 4, 5, 6
# Every corner and vertex takes a byte or more of the file, so that only a scene which places its
# meshes several times has more of them than bytes. A small file may; a large one would be endless.
_ALWAYS_USED = 300_000  # corners and vertices
_ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg"}


@dataclass(frozen=True)
class _Primitive:
    """A piece of the surface.

    Attributes
    ----------
    entry : what the file says about it.
    first : index of its first vertex in the whole file; count : how many vertices it has.
    points : (count, 3) its vertices, None if an earlier primitive brought them.
    faces : (m, 3) triangles, indices from 0 to count - 1.
    """

    entry: dict[str, Any]
    first: int
    count: int
    points: FloatArray | None
    faces: IntArray


def read_gltf(data: bytes, name: str, folder: Path) -> ParsedMesh:
    """The surface of a .glb or .gltf file, with the transforms of the scene applied.

    Buffers and images that a .gltf names are looked for in ``folder``.
    """
    document = Document(data, name, folder)
    pieces = list(_primitives(document))
    if not any(len(piece.faces) for piece in pieces):
        raise InputError(f"{name}: there are no triangles in its scene; export a triangle mesh")
    vertices = np.concatenate([piece.points for piece in pieces if piece.points is not None])
    faces = np.concatenate([piece.faces + piece.first for piece in pieces])
    return ParsedMesh(vertices, faces, lambda: _attributes(document, pieces, len(vertices)))


def _primitives(document: Document) -> Iterator[_Primitive]:
    """The triangles of the default scene, piece by piece."""
    name = document.name
    n_points = n_uses = 0
    for mesh_index, transform in document.placed_meshes():
        first_point: dict[int, int] = {}
        for primitive in document.item("meshes", mesh_index)["primitives"]:
            mode = primitive.get("mode", _TRIANGLES)
            if mode not in (_TRIANGLES, _STRIP, _FAN):
                continue  # points and lines are no surface
            accessor = primitive["attributes"]["POSITION"]
            count = int(document.item("accessors", accessor)["count"])
            n_uses += count
            points = None
            if accessor not in first_point:
                position = document.accessor(accessor, "VEC3").astype(np.float64)
                points = position @ transform[:3, :3].T + transform[:3, 3]
                first_point[accessor] = n_points
                n_points += count
            corners = (
                document.indices(primitive["indices"])
                if "indices" in primitive
                else np.arange(count)
            )
            n_uses += len(corners)
            if n_uses > _ALWAYS_USED + document.size():
                raise InputError(
                    f"{name}: its scene repeats the same geometry again and again; export one copy"
                )
            triples = _triples(corners, mode, name)
            if len(triples):
                check_range(triples.ravel(), count, name, np.arange(0, triples.size, 3))
            yield _Primitive(primitive, first_point[accessor], count, points, triples)


def _triples(corners: IntArray, mode: int, name: str) -> IntArray:
    if mode == _TRIANGLES:
        if len(corners) % 3:
            raise InputError(
                f"{name}: {len(corners)} corners do not make whole triangles; re-export the mesh"
            )
        return corners.reshape(-1, 3)
    if mode == _FAN:
        hub = np.repeat(corners[:1], max(len(corners) - 2, 0))
        return np.column_stack([corners[1:-1], corners[2:], hub])
    strip = np.column_stack([corners[:-2], corners[1:-1], corners[2:]])
    strip[1::2, 1:] = strip[1::2, :0:-1]  # every other triangle of a strip is flipped
    return strip


def _attributes(document: Document, pieces: list[_Primitive], n_vertices: int) -> Attributes:
    """Data of the vertices, texture coordinates of the corners, and images."""
    notes: list[str] = []
    images = _Images(document, notes)
    uv = [_uv(document, piece, images) for piece in pieces]
    shown = [images.of(piece.entry) for piece in pieces]
    counts = [len(piece.faces) for piece in pieces]
    has_uv = any(np.isfinite(part).any() for part in uv)
    return Attributes(
        vertex=_vertex_data(document, pieces, n_vertices, notes),
        uv=np.concatenate(uv) if has_uv else None,
        textures=tuple(images.textures),
        texture_of_face=np.repeat(np.array(shown), counts) if images.textures else None,
        notes=tuple(notes),
    )


def _vertex_data(
    document: Document, pieces: list[_Primitive], n_vertices: int, notes: list[str]
) -> dict[str, Array]:
    """Colours and own attributes; what a piece lacks is no data there."""
    found: dict[str, list[tuple[int, Array]]] = {}
    owners = [piece for piece in pieces if piece.points is not None]
    for piece in owners:
        for key in piece.entry["attributes"]:
            if key != "COLOR_0" and not key.startswith("_"):
                continue
            values = _per_vertex(document, piece, key, *WIDTHS)
            short = key.removeprefix("_") or key
            if key == "COLOR_0":
                values, short = _colours(values, document.name), COLOUR
            elif values.shape[1] == 1:
                values = values[:, 0]
            found.setdefault(short, []).append((piece.first, values))
    arrays: dict[str, Array] = {}
    for key, parts in found.items():
        if len({(values.dtype, values.shape[1:]) for _, values in parts}) > 1:
            notes.append(f"{key!r} differs in type from part to part and was left out")
            continue
        if len(parts) == len(owners):
            arrays[key] = np.concatenate([values for _, values in parts])
            continue
        arrays[key] = nodata_like(parts[0][1], n_vertices)
        for first, values in parts:
            arrays[key][first : first + len(values)] = values
        notes.append(f"only {len(parts)} of {len(owners)} parts have {key!r}")
    return arrays


def _per_vertex(document: Document, piece: _Primitive, key: str, *shapes: str) -> Array:
    """An attribute of a piece that must have a row for each of its vertices."""
    values = document.accessor(piece.entry["attributes"][key], *shapes)
    if len(values) != piece.count:
        raise InputError(
            f"{document.name}: {key} has {len(values)} entries for {piece.count} vertices; "
            "re-export the mesh"
        )
    return values


def _colours(values: Array, name: str) -> Array:
    """Colours in uint8: sRGB, with alpha linear as everywhere."""
    if values.dtype.kind != "f" or values.shape[1] not in (3, 4):
        raise InputError(f"{name}: COLOR_0 does not hold colours; re-export the mesh")
    fractions = np.clip(np.nan_to_num(values.astype(np.float64)), 0, 1)
    linear = fractions[:, :3]
    fractions[:, :3] = np.where(
        linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055
    )
    return np.rint(255 * fractions).astype(np.uint8)


def _uv(document: Document, piece: _Primitive, images: "_Images") -> Array:
    """(m, 3, 2) texture coordinates of the corners of a piece, from the lower left."""
    binding = images.binding(piece.entry)
    channel = f"TEXCOORD_{int(binding.get('texCoord', 0))}"
    if piece.entry["attributes"].get(channel) is None:
        return np.full((len(piece.faces), 3, 2), np.nan)
    values = _per_vertex(document, piece, channel, "VEC2").astype(np.float64)
    placed = _placed(values, binding.get("extensions", {}).get("KHR_texture_transform", {}))
    return np.stack([placed[:, 0], 1 - placed[:, 1]], axis=1)[piece.faces]


def _placed(uv: Array, transform: dict[str, Any]) -> Array:
    """Texture coordinates scaled, rotated and moved as KHR_texture_transform says."""
    angle = float(transform.get("rotation", 0.0))
    placed = uv * np.array(transform.get("scale", [1.0, 1.0]), dtype=np.float64)
    if angle:
        cosine, sine = np.cos(angle), np.sin(angle)
        placed = placed @ np.array([[cosine, -sine], [sine, cosine]])
    return placed + np.array(transform.get("offset", [0.0, 0.0]), dtype=np.float64)


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
