"""Attributes of OBJ files: texture coordinates of the corners, colours of the vertices, images."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.io.attributes.materials import read_materials
from nho.io.attributes.model import COLOUR, Array, Attributes
from nho.io.attributes.shared import Surface, fans
from nho.io.meshes.obj import ObjSurface, read_surface
from nho.io.meshes.polygons import IntArray, triangulate, whole_numbers


def read_obj(data: bytes, name: str, folder: Path) -> Surface:
    """Vertices, triangles and attributes of an OBJ file."""
    surface = read_surface(data, name)
    vertices = surface.numbers(0, 3)
    faces = triangulate(surface.corners, surface.counts, len(vertices), name)
    polygon, corners = fans(surface.counts)
    notes: list[str] = []
    colours = _colours(surface)
    uv = _corner_uv(surface)
    textures, shown = read_materials(surface.rows, np.flatnonzero(surface.is_face), folder, notes)
    return (
        vertices,
        faces,
        Attributes(
            vertex={} if colours is None else {COLOUR: colours},
            uv=None if uv is None else uv[corners],
            textures=textures,
            texture_of_face=shown[polygon] if textures else None,
            notes=tuple(notes),
        ),
    )


def _colours(surface: ObjSurface) -> Array | None:
    """(n, 3) uint8 if every `v` line has three more numbers that can be colours."""
    if surface.columns.min() < 6:
        return None
    written = surface.numbers(3, 6)
    if np.all((written >= 0) & (written <= 1)):
        return np.rint(255 * written).astype(np.uint8)
    whole = whole_numbers(written)  # some programs write 0 to 255
    if whole is not None and np.all((whole >= 0) & (whole <= 255)):
        return whole.astype(np.uint8)
    return None


def _corner_uv(surface: ObjSurface) -> Array | None:
    """(corners, 2) texture coordinates, NaN where a corner has none; None if no corner has any."""
    rows = surface.rows
    is_texture = rows.starts_with(b"vt")
    flat, columns = rows.numbers_after_keyword(is_texture, b"vt")
    index = _texture_indices(
        surface, np.cumsum(is_texture, dtype=np.int64)[surface.is_face], len(columns)
    )
    if not (index >= 0).any():
        return None
    if columns.min() < 1:
        line = rows.line(int(np.flatnonzero(is_texture)[np.argmax(columns < 1)]))
        raise InputError(f"{rows.name}: line {line}: `vt` without numbers; re-export the mesh")
    begin = np.cumsum(columns) - columns
    pairs = np.full((len(columns) + 1, 2), np.nan)  # the last row is taken by index -1
    pairs[:-1, 0] = flat[begin]
    pairs[:-1, 1] = np.where(columns > 1, flat[np.minimum(begin + 1, len(flat) - 1)], 0.0)
    return pairs[index]


def _texture_indices(surface: ObjSurface, so_far: IntArray, n_textures: int) -> IntArray:
    """The `vt` of every corner from 0, out of OBJ's 1, 2, ... and -1, -2, ...; -1 = none."""
    rows = surface.rows
    written = rows.texture_fields(surface.is_face, b"f")
    numbers = whole_numbers(written)
    if numbers is None:
        wrong = ~(np.abs(written) < 2.0**53) | (written != np.floor(written))
    else:
        behind = np.repeat(so_far, surface.counts) + numbers
        index = np.where(numbers < 0, behind, numbers - 1)
        wrong = (index >= n_textures) | ((numbers < 0) & (index < 0))
        if not wrong.any():
            return index
    at = int(np.argmax(wrong))
    face = int(np.searchsorted(np.cumsum(surface.counts), at, side="right"))
    raise InputError(
        f"{rows.name}: line {rows.line(int(np.flatnonzero(surface.is_face)[face]))}: face {face} "
        f"refers to texture coordinate {written[at]:g} but there are {n_textures} (`vt` lines); "
        "re-export the mesh"
    )
