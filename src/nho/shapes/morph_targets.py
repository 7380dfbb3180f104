"""A shape space as one GLB file: the mean, with a morph target for each component.

Weight 1 of a target is one standard deviation. Blender, three.js and others show them as sliders.
"""

from __future__ import annotations

import json
import struct

import numpy as np

from nho.shapes.space import ShapeSpace

_FLOAT, _UINT = 5126, 5125
_VERTICES, _INDICES = 34962, 34963


def morph_targets(space: ShapeSpace) -> bytes:
    """The bytes of the file."""
    blobs: list[bytes] = []
    views, accessors = [], []

    def add(array: np.ndarray, kind: int, target: int, bounds: bool) -> int:
        offset = sum(map(len, blobs))
        data = array.tobytes()
        blobs.append(data + bytes(-len(data) % 4))
        views.append({"buffer": 0, "byteOffset": offset, "byteLength": len(data), "target": target})
        about = {
            "bufferView": len(views) - 1,
            "componentType": kind,
            "count": len(array),
            "type": "SCALAR" if array.ndim == 1 else "VEC3",
        }
        if bounds:
            about |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        accessors.append(about)
        return len(accessors) - 1

    mean = add(space.model.mean.astype("<f4"), _FLOAT, _VERTICES, True)
    corners = add(space.faces.ravel().astype("<u4"), _UINT, _INDICES, False)
    deviations = np.sqrt(space.model.variances)
    targets = [
        {"POSITION": add((deviation * mode).astype("<f4"), _FLOAT, _VERTICES, True)}
        for deviation, mode in zip(deviations, space.model.modes, strict=True)
    ]
    names = [f"component {number + 1}" for number in range(len(targets))]
    primitive = {"attributes": {"POSITION": mean}, "indices": corners, "targets": targets}
    document = {
        "asset": {"version": "2.0", "generator": "nho"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "mean"}],
        "meshes": [
            {
                "primitives": [primitive],
                "weights": [0.0] * len(targets),
                "extras": {"targetNames": names},
            }
        ],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": sum(map(len, blobs))}],
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    binary = b"".join(blobs)
    total = 12 + 8 + len(text) + 8 + len(binary)
    head = struct.pack("<4sII", b"glTF", 2, total)
    return b"".join(
        [
            head,
            struct.pack("<I4s", len(text), b"JSON"),
            text,
            struct.pack("<I4s", len(binary), b"BIN\0"),
            binary,
        ]
    )
