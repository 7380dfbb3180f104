"""The JSON of a glTF 2.0 file and the bytes it points into."""

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from nho.errors import InputError, MissingFile
from nho.io.meshes.polygons import FloatArray, IntArray
from nho.runtime.input_file import read_bytes

COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_GLB_MAGIC, _JSON_CHUNK, _BIN_CHUNK = b"glTF", b"JSON", b"BIN\0"
_POSITIONS_COMPRESSED = ("KHR_draco_mesh_compression", "EXT_meshopt_compression")


class Document:
    """A glTF file; entries and accessors are checked when they are used."""

    def __init__(self, data: bytes, name: str, folder: Path) -> None:
        self.name, self.folder, self.length = name, folder, len(data)
        text, self.embedded = _split_glb(data, name) if data[:4] == _GLB_MAGIC else (data, None)
        try:
            self.json: Any = json.loads(text.decode("utf-8-sig"))
            version = str(self.json["asset"]["version"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{name}: it is neither binary glTF nor glTF JSON; export it as GLB or PLY"
            ) from error
        if not version.startswith("2"):
            raise InputError(f"{name}: glTF {version} is not supported; export it as glTF 2.0")
        for extension in self.json.get("extensionsRequired", []):
            if extension in _POSITIONS_COMPRESSED:
                raise InputError(
                    f"{name}: its meshes are compressed ({extension}); export it without"
                )
        self.buffers: dict[int, bytes] = {}

    def size(self) -> int:
        """Bytes of the file and of the buffers loaded so far."""
        return self.length + sum(map(len, self.buffers.values()))

    def item(self, kind: str, index: Any) -> dict[str, Any]:
        """Entry `index` of one of the lists of the document."""
        items = self.json.get(kind, [])
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(items):
            raise InputError(
                f"{self.name}: it refers to entry {index!r} of `{kind}` but there are {len(items)};"
                " re-export the mesh"
            )
        found: dict[str, Any] = items[index]
        return found

    def placed_meshes(self) -> list[tuple[int, FloatArray]]:
        """Every mesh in the default scene with its transform (4, 4), depth first.

        A file without scenes is a library of meshes: they are taken as they stand.
        """
        if not self.json.get("scenes"):
            return [(index, np.eye(4)) for index in range(len(self.json.get("meshes", [])))]
        scene = self.item("scenes", self.json.get("scene", 0))
        waiting = [(node, np.eye(4)) for node in reversed(scene.get("nodes", []))]
        placed, visited = [], set()
        while waiting:
            index, parent = waiting.pop()
            node = self.item("nodes", index)
            if index in visited:
                raise InputError(
                    f"{self.name}: node {index} stands in its scene twice; re-export the mesh"
                )
            visited.add(index)
            transform = parent @ _local_transform(node)
            if "mesh" in node:
                placed.append((node["mesh"], transform))
            waiting.extend((child, transform) for child in reversed(node.get("children", [])))
        return placed

    def accessor(self, index: Any, *shapes: str) -> npt.NDArray[np.generic]:
        """The values (count, width) of an accessor whose type is one of the shapes.

        Fractions that are stored as whole numbers ("normalized") come as floats.
        """
        accessor = self.item("accessors", index)
        if "sparse" in accessor or "bufferView" not in accessor:
            raise InputError(
                f"{self.name}: accessor {index} is sparse or compressed; export it without"
            )
        view = self.item("bufferViews", accessor["bufferView"])
        extensions = set(view.get("extensions", {})) & set(_POSITIONS_COMPRESSED)
        if extensions or accessor["type"] not in shapes:
            raise InputError(
                f"{self.name}: accessor {index} is not plain {' or '.join(shapes)} data; "
                "re-export the mesh"
            )
        item, width = np.dtype(COMPONENTS[accessor["componentType"]]), WIDTHS[accessor["type"]]
        row = item.itemsize * width
        count, stride = int(accessor["count"]), int(view.get("byteStride", row))
        buffer = self.buffer(view["buffer"])
        start, length = int(view.get("byteOffset", 0)), int(view["byteLength"])
        offset = int(accessor.get("byteOffset", 0))
        used = stride * (count - 1) + row if count > 0 else 0
        if (
            min(count, start, offset) < 0
            or stride < row
            or offset + used > length
            or start + length > len(buffer)
        ):
            raise InputError(
                f"{self.name}: accessor {index} with {count} entries does not fit its buffer of "
                f"{len(buffer)} bytes; copy or export it again"
            )
        values: npt.NDArray[np.generic] = np.ndarray(
            (count, width), item, buffer, start + offset, (stride, item.itemsize)
        ).copy()
        # Quantised positions are integers that the node's transform scales, or fractions of 1.
        if accessor.get("normalized") and item.kind != "f":
            return np.maximum(values.astype(np.float64) / np.iinfo(item).max, -1.0)
        return values

    def indices(self, index: Any) -> IntArray:
        """The (count,) vertex indices of an accessor."""
        values = self.accessor(index, "SCALAR")
        if values.dtype.kind != "u":
            raise InputError(f"{self.name}: vertex indices must be unsigned; re-export the mesh")
        return values.reshape(-1).astype(np.int64)

    def buffer(self, index: Any) -> bytes:
        """The bytes of a buffer, loaded once."""
        if index not in self.buffers:
            self.buffers[index] = self._load(self.item("buffers", index), index)
        return self.buffers[index]

    def _load(self, entry: dict[str, Any], index: int) -> bytes:
        uri = entry.get("uri")
        if uri is None:
            if index or self.embedded is None:
                raise InputError(f"{self.name}: buffer {index} is missing; export it as GLB")
            return self.embedded
        return self.linked(uri, "buffer")

    def linked(self, uri: str, what: str) -> bytes:
        """The bytes that a URI stands for: written in it, or in a file delivered with this one."""
        if uri.startswith("data:"):
            return base64.b64decode(uri.partition(",")[2], validate=True)
        path = self.folder / unquote(uri)
        # A mesh file must not make us read anything but the files delivered with it.
        if "://" in uri or not path.resolve().is_relative_to(self.folder.resolve()):
            raise InputError(
                f"{self.name}: its {what} {uri!r} is not beside it; export it as one GLB file"
            )
        try:
            return read_bytes(path)
        except MissingFile:
            raise InputError(
                f"{self.name}: its {what} {uri!r} is not there; copy it too, or export as GLB"
            ) from None


def _split_glb(data: bytes, name: str) -> tuple[bytes, bytes | None]:
    """The JSON text and the binary chunk of a GLB file."""
    total = int.from_bytes(data[8:12], "little")
    if len(data) < 20 or total > len(data):
        raise InputError(
            f"{name}: the file ends after {len(data)} of {total} bytes; copy or export it again"
        )
    chunks: dict[bytes, bytes] = {}
    at = 12
    while at + 8 <= total:
        length, kind = int.from_bytes(data[at : at + 4], "little"), data[at + 4 : at + 8]
        if at + 8 + length > total:
            raise InputError(f"{name}: a chunk is longer than the file; copy or export it again")
        chunks.setdefault(kind, data[at + 8 : at + 8 + length])
        at += 8 + length
    if _JSON_CHUNK not in chunks:
        raise InputError(f"{name}: its JSON chunk is missing; re-export the mesh")
    return chunks[_JSON_CHUNK], chunks.get(_BIN_CHUNK)


def _local_transform(node: dict[str, Any]) -> FloatArray:
    """The transform (4, 4) of a node, from its matrix or its translation, rotation, scale."""
    if "matrix" in node:
        return np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
    x, y, z, w = np.array(node.get("rotation", [0.0, 0.0, 0.0, 1.0]), dtype=np.float64)
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    transform = np.eye(4)
    transform[:3, :3] = rotation * np.array(node.get("scale", [1.0, 1.0, 1.0]), dtype=np.float64)
    transform[:3, 3] = np.array(node.get("translation", [0.0, 0.0, 0.0]), dtype=np.float64)
    return transform
