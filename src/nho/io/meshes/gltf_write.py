"""GLB files with attributes: one mesh, its faces grouped by the image they show.

A glTF vertex has one pair of texture coordinates. Where corners differ, the vertex is repeated
behind all others, so that vertex i of the mesh is vertex i of the file. Coordinates are single
precision in glTF.
"""

import json
import struct
from typing import Any

import numpy as np

from nho.errors import InputError
from nho.io.meshes.columns import as_numbers
from nho.io.meshes.gltf_document import COMPONENTS, WIDTHS
from nho.io.meshes.model import Array, Attributes, Written, kind_of
from nho.io.meshes.textures import image_suffix

_COMPONENTS = {np.dtype(kind).name: number for number, kind in COMPONENTS.items()}
_OWN = ("int8", "uint8", "int16", "uint16", "float32")  # what own attributes may be made of
_SHAPES = {width: shape for shape, width in WIDTHS.items()}
_VERTICES, _INDICES = 34962, 34963
_MIME = {".png": "image/png", ".jpg": "image/jpeg"}


def write_gltf(vertices: Array, faces: Array, attributes: Attributes, _stem: str) -> Written:
    """The bytes of a GLB file, images included."""
    largest = float(np.abs(vertices).max(initial=0))
    if largest > float(np.finfo(np.float32).max):
        raise InputError(
            f"coordinates up to {largest:.3g} do not fit into glTF, whose numbers are single "
            "precision; write PLY, OBJ or VTP, or choose another unit"
        )
    notes: list[str] = []
    kinds = [image_suffix(texture) for texture in attributes.textures]
    if not set(kinds) <= set(_MIME):
        notes.append("glTF holds PNG and JPEG images only: left out the texture")
        attributes = attributes.replace(textures=(), texture_of_face=None)
    corners, origin, uv = _split_at_seams(faces, attributes.uv, len(vertices))
    if len(origin) > len(vertices):
        notes.append(
            f"{len(origin) - len(vertices)} vertices at texture seams are repeated at the end"
        )
    binary = _Binary()
    shared = {"POSITION": binary.add(vertices.astype(np.float32)[origin], bounds=True)}
    for name, values in _attributes(attributes, notes).items():
        shared[name] = binary.add(values[origin], fractions=name == "COLOR_0")
    shown = attributes.texture_indices(len(faces))
    textured = None
    if uv is not None:
        textured = binary.add(np.column_stack([uv[:, 0], 1 - uv[:, 1]]).astype(np.float32))
    primitives = []
    has_uv = attributes.textured_faces(len(faces))
    for image, with_uv in sorted(set(zip(shown.tolist(), has_uv.tolist()))):
        chosen = corners[(shown == image) & (has_uv == with_uv)]
        primitive: dict[str, Any] = {
            "attributes": {**shared, **({"TEXCOORD_0": textured} if with_uv else {})},
            "indices": binary.add(chosen.reshape(-1).astype(np.uint32), indices=True),
        }
        if image >= 0:
            primitive["material"] = image
        primitives.append(primitive)
    if len(primitives) > 1:
        notes.append("the faces are grouped by the image they show")
    return Written(_glb(binary, primitives, attributes), {}, notes)


def _attributes(attributes: Attributes, notes: list[str]) -> dict[str, Array]:
    """Vertex data under glTF names."""
    found: dict[str, Array] = {}
    for name, values in attributes.vertex.items():
        if kind_of(values) == "colour" and "COLOR_0" not in found:
            fractions = values / 255.0
            encoded = fractions[:, :3]
            fractions[:, :3] = np.where(
                encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4
            )
            found["COLOR_0"] = np.rint(65535 * fractions).astype(np.uint16)
            continue
        numbers = as_numbers(values, _OWN, name)
        if numbers is None or (values.ndim == 2 and values.shape[1] not in _SHAPES):
            notes.append(f"glTF cannot store text or wide vectors: left out {name}")
            continue
        if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
            notes.append(f"glTF has no NaN: {name} is 0 where there are no data")
            numbers = np.where(np.isfinite(numbers), numbers, np.float32(0))
        found[f"_{name}"] = numbers
    if attributes.face:
        notes.append(f"glTF has no data on faces: left out {', '.join(attributes.face)}")
    return found


def _split_at_seams(
    faces: Array, uv: Array | None, n_vertices: int
) -> tuple[Array, Array, Array | None]:
    """Corners of faces, the vertex each new vertex is a copy of, and its texture coordinates."""
    if uv is None:
        return faces, np.arange(n_vertices), None
    known = np.isfinite(uv).all(axis=2).reshape(-1)
    keys = np.column_stack([faces.reshape(-1).astype(np.float64), uv.reshape(-1, 2)])[known]
    distinct, inverse = np.unique(keys, axis=0, return_inverse=True)
    owner = distinct[:, 0].astype(np.int64)
    first = np.r_[True, owner[1:] != owner[:-1]]  # the first pair of a vertex stays with it
    index = np.where(first, owner, n_vertices + np.cumsum(~first) - 1)
    origin = np.r_[np.arange(n_vertices), owner[~first]]
    of_vertex = np.zeros((len(origin), 2))
    of_vertex[index] = distinct[:, 1:]
    corners = faces.reshape(-1).copy()
    corners[known] = index[inverse.reshape(-1)]
    return corners.reshape(-1, 3), origin, of_vertex


class _Binary:
    """The binary chunk of a file, with the views and accessors that describe it."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def view(self, raw: bytes, target: int | None = None, stride: int | None = None) -> int:
        entry: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(raw)}
        if target is not None:
            entry["target"] = target
        if stride is not None:
            entry["byteStride"] = stride
        self.data += raw + bytes(-len(raw) % 4)
        self.views.append(entry)
        return len(self.views) - 1

    def add(
        self,
        values: Array,
        *,
        bounds: bool = False,
        indices: bool = False,
        fractions: bool = False,
    ) -> int:
        """A new accessor; rows of vertex data begin at multiples of four bytes, as glTF asks."""
        rows = values.reshape(len(values), -1)
        raw = np.ascontiguousarray(rows, dtype=rows.dtype.newbyteorder("<")).view(np.uint8)
        stride = None
        if not indices and raw.shape[1] % 4:
            raw = np.pad(raw, ((0, 0), (0, -raw.shape[1] % 4)))
            stride = raw.shape[1]
        view = self.view(raw.tobytes(), _INDICES if indices else _VERTICES, stride)
        entry: dict[str, Any] = {
            "bufferView": view,
            "componentType": _COMPONENTS[rows.dtype.name],
            "count": len(rows),
            "type": _SHAPES[rows.shape[1]],
        }
        if fractions:
            entry["normalized"] = True
        if bounds:
            entry["min"], entry["max"] = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
        self.accessors.append(entry)
        return len(self.accessors) - 1


def _glb(binary: _Binary, primitives: list[dict[str, Any]], attributes: Attributes) -> bytes:
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "nho"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": primitives}],
    }
    if attributes.textures:
        document["images"] = [
            {
                "bufferView": binary.view(texture.data),
                "mimeType": _MIME[image_suffix(texture)],
            }
            for texture in attributes.textures
        ]
        every = range(len(attributes.textures))
        document["textures"] = [{"source": number} for number in every]
        document["materials"] = [
            {
                "pbrMetallicRoughness": {
                    "baseColorTexture": {"index": number},
                    "metallicFactor": 0,
                    "roughnessFactor": 1,
                }
            }
            for number in every
        ]
    document["accessors"], document["bufferViews"] = binary.accessors, binary.views
    document["buffers"] = [{"byteLength": len(binary.data)}]
    text = json.dumps(document, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I", len(text)) + b"JSON" + text
    chunks += struct.pack("<I", len(binary.data)) + b"BIN\0" + bytes(binary.data)
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks
