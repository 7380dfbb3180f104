"""Attributes of PLY files: any scalar property of vertices and faces, and texture coordinates.

Texture coordinates are ``s, t`` (or ``u, v``, ``texture_u, texture_v``) of the vertices, or the
list ``texcoord`` of the faces with the image in ``texnumber``; images are named by comments
``TextureFile``.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.io.attributes.columns import joined
from nho.io.attributes.model import Array, Attributes
from nho.io.attributes.shared import Surface, fans, texture_beside, typed
from nho.io.meshes.ply import read_tables, surface_of
from nho.io.meshes.ply_header import Element, Lists, Table
from nho.io.meshes.polygons import IntArray, ragged, triangulate

_CORNERS = ("vertex_indices", "vertex_index")
_TEXTURE = re.compile(rb"^comment +TextureFile +(.+?)\s*$", re.IGNORECASE | re.MULTILINE)


def read_ply(data: bytes, name: str, folder: Path) -> Surface:
    """Vertices, triangles and attributes of a PLY file."""
    elements, tables = read_tables(data, name)
    vertices, polygons = surface_of(tables, name)
    faces = triangulate(polygons.flat, polygons.counts, len(vertices), name)
    polygon, corners = fans(polygons.counts)
    kinds = {element.name: element for element in elements}
    notes: list[str] = []

    vertex, uv_of_vertex = joined(_columns(kinds["vertex"], tables["vertex"], name, notes))
    for axis in "xyz":
        del vertex[axis]
    of_polygon = _columns(kinds["face"], tables["face"], name, notes)
    image = of_polygon.pop("texnumber", None)
    of_face, _ = joined(of_polygon)
    uv = _corner_uv(tables["face"].get("texcoord"), polygons.counts, corners, notes)
    if uv is None and uv_of_vertex is not None:
        uv = uv_of_vertex[faces]

    textures = []
    for found in _TEXTURE.findall(data.partition(b"end_header")[0].replace(b"\r", b"\n")):
        texture = texture_beside(folder, found.decode("utf-8", "replace"), notes)
        if texture is not None:
            textures.append(texture)
    face_values = {key: values[polygon] for key, values in of_face.items()}
    shown = _shown(image, polygon, len(textures), name)
    return (
        vertices,
        faces,
        Attributes(vertex, face_values, uv, tuple(textures), shown, tuple(notes)),
    )


def _columns(element: Element, table: Table, name: str, notes: list[str]) -> dict[str, Array]:
    """The scalar properties of an element in their own types."""
    columns: dict[str, Array] = {}
    for column in element.properties:
        values = table[column.name]
        if not isinstance(values, Lists):
            what = f"property {column.name!r} of `{element.name}`"
            columns[column.name] = typed(values, column.type, what, name)
        elif column.name not in (*_CORNERS, "texcoord"):
            notes.append(f"the list {column.name!r} of `{element.name}` was left out")
    return columns


def _corner_uv(
    lists: object, counts: IntArray, corners: IntArray, notes: list[str]
) -> Array | None:
    """(m, 3, 2) out of a list of 2 k numbers for every polygon of k corners, or of none."""
    if not isinstance(lists, Lists):
        return None
    there = lists.counts > 0
    if not np.array_equal(lists.counts[there], 2 * counts[there]):
        notes.append("the list 'texcoord' does not hold two numbers a corner and was left out")
        return None
    starts, first = np.cumsum(lists.counts) - lists.counts, np.cumsum(counts) - counts
    flat = np.full((int(counts.sum()), 2), np.nan)
    places = ragged(np.arange(len(flat)), first[there], counts[there])
    values = ragged(lists.flat, starts[there], lists.counts[there])
    flat[places] = values.astype(np.float64).reshape(-1, 2)
    return flat[corners]


def _shown(image: Array | None, polygon: IntArray, n_textures: int, name: str) -> IntArray | None:
    if image is None or n_textures < 2:
        return None
    if image.dtype.kind not in "iu" or image.min(initial=0) < -1 or image.max() >= n_textures:
        raise InputError(
            f"{name}: a face has `texnumber` {image.max()} but {n_textures} textures are named; "
            "re-export the mesh"
        )
    return image[polygon].astype(np.int64)
