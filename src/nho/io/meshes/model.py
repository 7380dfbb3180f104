"""What a mesh file holds: a surface, and the values, colours, labels and textures on it.

"No data" is NaN in floats, grey in colours, False in selections, the empty text, and one below zero
in labels (or below the least label, if that is smaller). Only a mask can distinguish such a colour,
label or selection from data.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.io.meshes.polygons import FloatArray, IntArray

Kind = Literal["scalar", "colour", "label", "selection"]
Array = npt.NDArray[Any]

COLOUR = "color"  # name of the colours in formats that have room for one colour per vertex
UV = "uv"  # name under which the texture coordinates are chosen
MASK = "transferred"  # selection of the places that have transferred data
GREY = 150  # of all three channels; the colour of unmatched points in every picture


@dataclass(frozen=True)
class Texture:
    """An image file: its name, and its bytes as they are."""

    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, eq=False)
class Attributes:
    """Data on the vertices, faces and corners of a mesh, in its own order.

    The type of an array says what it means (`kind_of`): floats are scalars or vectors, ``uint8``
    of three or four columns are sRGB colours, other whole numbers and texts are labels, and bools
    are selections.

    Attributes
    ----------
    vertex : dict of (n,) or (n, k) arrays
        By name, one row per vertex.
    face : dict of (m,) or (m, k) arrays
        By name, one row a triangle.
    uv : (m, 3, 2) float array, optional
        Texture coordinates of every corner of every triangle, (0, 0) = lower left of the image;
        NaN where a corner has none.
    textures : tuple of Texture
        The images.
    texture_of_face : (m,) int array, optional
        Which image a triangle shows; -1 = none. Without it, all show the first.
    notes : tuple of str
        What was in a file and could not be taken over, one sentence each.
    """

    vertex: Mapping[str, Array] = field(default_factory=dict)
    face: Mapping[str, Array] = field(default_factory=dict)
    uv: Array | None = None
    textures: tuple[Texture, ...] = ()
    texture_of_face: Array | None = None
    notes: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Everything there is, vertices first."""
        names = [*self.vertex, *(name for name in self.face if name not in self.vertex)]
        return (*names, *([UV] if self.uv is not None else []))

    def replace(self, **changes: Any) -> Attributes:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def only(self, names: Iterable[str], where: str) -> Attributes:
        """The named ones; a name that does not exist is an error which lists those that do."""
        chosen = set(names)
        for name in sorted(chosen):
            self.check_name(name, where)
        with_uv = UV in chosen
        return self.replace(
            vertex={name: array for name, array in self.vertex.items() if name in chosen},
            face={name: array for name, array in self.face.items() if name in chosen},
            uv=self.uv if with_uv else None,
            textures=self.textures if with_uv else (),
            texture_of_face=self.texture_of_face if with_uv else None,
        )

    def check_name(self, name: str, where: str) -> None:
        """Raise unless there is such an attribute."""
        known = self.names()
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3) or known
            rest = f"it has {', '.join(near)}" if near else "it has no attributes"
            raise InputError(f"{where}: there is no attribute {name!r}; {rest}")

    def merged(self, newer: Attributes) -> Attributes:
        """These and newer ones; of two with one name the newer stays."""
        textured = newer if newer.uv is not None else self
        return Attributes(
            vertex={**self.vertex, **newer.vertex},
            face={**self.face, **newer.face},
            uv=textured.uv,
            textures=textured.textures,
            texture_of_face=textured.texture_of_face,
            notes=(*self.notes, *newer.notes),
        )

    def check(self, n_vertices: int, n_faces: int, where: str) -> None:
        """Raise an `InputError` unless every array fits a mesh of this size."""
        for of, count, arrays in (
            ("vertex", n_vertices, self.vertex),
            ("face", n_faces, self.face),
        ):
            for name, array in arrays.items():
                if (
                    array.ndim not in (1, 2)
                    or len(array) != count
                    or array.dtype.kind not in "fiubU"
                ):
                    raise InputError(
                        f"{where}: attribute {name!r} has type {array.dtype} and shape "
                        f"{array.shape}, but one row of numbers, labels or bools for each {of} is "
                        f"needed ({count})"
                    )
        if self.uv is not None and self.uv.shape != (n_faces, 3, 2):
            raise InputError(
                f"{where}: the texture coordinates have shape {self.uv.shape}, but one pair for "
                f"every corner is needed ({n_faces}, 3, 2)"
            )
        shown = self.texture_of_face
        if shown is not None and (
            shown.shape != (n_faces,)
            or shown.dtype.kind not in "iu"
            or shown.min(initial=0) < -1
            or shown.max(initial=-1) >= len(self.textures)
        ):
            raise InputError(f"{where}: the textures of the faces do not fit the images it has")

    def textured_faces(self, n_faces: int) -> npt.NDArray[np.bool_]:
        """(m,) whether all three corners of a triangle have texture coordinates."""
        if self.uv is None:
            return np.zeros(n_faces, dtype=bool)
        return np.asarray(np.isfinite(self.uv).all(axis=(1, 2)))

    def texture_indices(self, n_faces: int) -> IntArray:
        """(m,) image that every triangle shows; -1 where it has none or no coordinates."""
        first = 0 if self.textures else -1
        shown = np.full(n_faces, first) if self.texture_of_face is None else self.texture_of_face
        return np.where(self.textured_faces(n_faces), shown, -1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class ParsedMesh:
    """The surface in a mesh file; what is on it is read only when asked for.

    Attributes
    ----------
    vertices : (n, 3) float64; faces : (m, 3) int64.
    read_attributes : reads the rest of the file.
    notes : what could not be read as it was meant, one sentence each.
    normals : (n, 3) float64, of the points of a cloud, which has no faces.
    """

    vertices: FloatArray
    faces: IntArray
    read_attributes: Callable[[], Attributes] = Attributes
    notes: tuple[str, ...] = ()
    normals: FloatArray | None = None


@dataclass
class Written:
    """A file ready to be written.

    Attributes
    ----------
    content : bytes of the file itself.
    beside : name and bytes of further files that belong to it (materials, images).
    notes : what the format has no room for, one sentence each.
    """

    content: bytes
    beside: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def kind_of(values: Array) -> Kind:
    """What an array of attributes means, by its type."""
    if values.dtype.kind == "b":
        return "selection"
    if values.dtype == np.uint8 and values.ndim == 2 and values.shape[1] in (3, 4):
        return "colour"
    return "scalar" if values.dtype.kind == "f" else "label"


def uint8_colours(channels: Array) -> Array | None:
    """Colours as uint8, from fractions 0..1 or integers 0..255; None if they are neither."""
    # A NaN fails both comparisons.
    if channels.dtype.kind == "f" and np.all((channels >= 0) & (channels <= 1)):
        return np.rint(channels.astype(np.float64) * 255).astype(np.uint8)
    if channels.dtype.kind in "iu" and np.all((channels >= 0) & (channels <= 255)):
        return channels.astype(np.uint8)
    return None


def with_nodata_value(values: Array) -> tuple[Array, object]:
    """The values in a type that can also say "no data", and the value that says so."""
    kind = kind_of(values)
    if kind == "scalar":
        return values, np.nan
    if kind == "colour":
        return values, np.array([GREY, GREY, GREY, 255][: values.shape[1]], dtype=np.uint8)
    if kind == "selection":
        return values, False
    if values.dtype.kind == "U":
        return values, ""
    least, largest = int(values.min(initial=0)), int(values.max(initial=0))
    fill = min(-1, least - 1)
    for wanted in (values.dtype, np.dtype(np.int32), np.dtype(np.int64)):
        limits = np.iinfo(wanted)
        if limits.min <= fill and largest <= limits.max:
            return values.astype(wanted), fill
    return values, 0  # no integer type has a value left: only the mask can say it


def nodata_like(values: Array, count: int) -> Array:
    """(count, ...) entries of the same kind, all of them "no data"."""
    typed, fill = with_nodata_value(values)
    return np.full((count, *values.shape[1:]), fill, dtype=typed.dtype)
