"""What the attribute readers share: polygons cut into fans, types, files beside a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.io.attributes.model import Array, Attributes, Texture
from nho.io.meshes.polygons import FloatArray, IntArray, triangulate, whole_numbers

Surface = tuple[FloatArray, IntArray, Attributes]  # vertices (n, 3), faces (m, 3) and the rest


def fans(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Where triangles come from when polygons with these numbers of corners are cut into fans.

    Returns
    -------
    polygon : (m,) int, the polygon of every triangle.
    corners : (m, 3) int, its corners, counted through all polygons.
    """
    total = int(counts.sum())
    corners = triangulate(np.arange(total), counts, total, "fan")
    return np.repeat(np.arange(len(counts)), counts - 2), corners


def typed(values: Array, kind: str, what: str, name: str) -> Array:
    """Numbers in the type that their file announces, in the byte order of this machine."""
    wanted = np.dtype(kind).newbyteorder("=")
    if wanted.kind == "f" or values.dtype.kind in "iu":
        return values.astype(wanted)
    whole = whole_numbers(values)  # text: all numbers were read as doubles
    limits = np.iinfo(wanted)
    if whole is None or (len(whole) and (whole.min() < limits.min or whole.max() > limits.max)):
        raise InputError(
            f"{name}: {what} should hold whole numbers of type {wanted} but does not; "
            "correct the type or re-export the mesh"
        )
    return whole.astype(wanted)


def texture_beside(folder: Path, file: str, notes: list[str]) -> Texture | None:
    """An image that a mesh file names; None, and a note, if it was not delivered with it."""
    data = bytes_beside(folder, file, notes, "the texture")
    return None if data is None else Texture(Path(file.replace("\\", "/")).name, data)


def bytes_beside(folder: Path, file: str, notes: list[str], what: str) -> bytes | None:
    """A file in the folder of another; None, and a note, if it is not there."""
    if is_beside(folder, file):
        return (folder / file.replace("\\", "/")).read_bytes()
    notes.append(f"{what} {file!r} is not beside the mesh file and was left out")
    return None


def is_beside(folder: Path, file: str) -> bool:
    """Whether a file is delivered with another: nothing else may a mesh file make us read."""
    try:
        path = (folder / file.replace("\\", "/")).resolve()
        return path.is_relative_to(folder.resolve()) and path.is_file()
    except (OSError, ValueError):  # too long, or not a name at all
        return False
