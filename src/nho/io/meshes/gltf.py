"""glTF 2.0: .glb and .gltf, positions and triangles of the default scene.

The vertex order is the order of the file: nodes depth first as the scene lists them, in each node
the primitives in turn, in each primitive its POSITION accessor. Primitives of a node that share
one accessor (one mesh with several materials) share its vertices.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nho.errors import InputError
from nho.io.meshes.gltf_document import Document
from nho.io.meshes.polygons import FloatArray, IntArray, triangulate

_TRIANGLES, _STRIP, _FAN = 4, 5, 6
# Every corner and vertex takes a byte or more of the file, so that only a scene which places its
# meshes several times has more of them than bytes. A small file may; a large one would be endless.
_ALWAYS_USED = 300_000  # corners and vertices


@dataclass(frozen=True)
class Primitive:
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


def read_gltf(data: bytes, name: str, folder: Path) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3), with the transforms of the scene applied, and triangles (m, 3).

    Parameters
    ----------
    folder : where the buffers that a .gltf names are looked for.
    """
    return surface_of(list(primitives(Document(data, name, folder))), name)


def surface_of(pieces: list[Primitive], name: str) -> tuple[FloatArray, IntArray]:
    """All pieces as one surface."""
    if not any(len(piece.faces) for piece in pieces):
        raise InputError(f"{name}: there are no triangles in its scene; export a triangle mesh")
    points = [piece.points for piece in pieces if piece.points is not None]
    return np.concatenate(points), np.concatenate([piece.faces + piece.first for piece in pieces])


def primitives(document: Document) -> Iterator[Primitive]:
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
                per_face = np.full(len(triples), 3, dtype=np.int64)
                triples = triangulate(triples.reshape(-1), per_face, count, name)
            yield Primitive(primitive, first_point[accessor], count, points, triples)


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
    strip[1::2, 1:] = strip[1::2, :0:-1]  # every other triangle of a strip is turned over
    return strip
