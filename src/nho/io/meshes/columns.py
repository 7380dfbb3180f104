"""Arrays in files: the types a format has, and the names of columns that belong together.

PLY and CSV have no vectors. Colours are ``red, green, blue[, alpha]`` there, texture coordinates
``s, t`` or ``u, v``, and any other vector is ``name_0, name_1, ...``.
"""

import re
from collections.abc import Iterable, Mapping

import numpy as np

from nho.errors import InputError
from nho.io.meshes.model import COLOUR, Array, Attributes, kind_of, uint8_colours
from nho.io.meshes.polygons import whole_numbers

CHANNELS = ("red", "green", "blue", "alpha")
_UV_PAIRS = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"))
_NORMAL = ("nx", "ny", "nz")
UV_NAMES = ("uv", "TCoords", "Texture Coordinates", "TextureCoordinates")  # in VTK and VTP
CORNER_UV = "corner_uv"  # six numbers per cell: what nho writes where a vertex has several


def to_declared_type(values: Array, kind: str, what: str, name: str) -> Array:
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


def as_numbers(values: Array, kinds: Iterable[str], name: str) -> Array | None:
    """The values in the first of some types that holds them all; None if they are words.

    A float becomes a smaller float only if there is no other.
    """
    if values.dtype.kind == "U":
        return None
    if values.dtype.kind == "b":
        return values.astype(np.uint8)
    own = values.dtype.newbyteorder("=")
    allowed = [np.dtype(kind) for kind in kinds]
    if own in allowed:
        return values
    if own.kind == "f":
        floats = [kind for kind in allowed if kind.kind == "f"]
        return values.astype(next((k for k in floats if k.itemsize > own.itemsize), floats[-1]))
    least, largest = int(values.min(initial=0)), int(values.max(initial=0))
    for kind in allowed:
        if kind.kind in "iu" and np.iinfo(kind).min <= least and largest <= np.iinfo(kind).max:
            return values.astype(kind)
    raise InputError(
        f"attribute {name!r} has numbers from {least} to {largest}, which this format has no "
        "room for; write .npz or .csv"
    )


def left_out(names: Iterable[str], what: str) -> list[str]:
    """A note about attributes that a format cannot hold."""
    lost = ", ".join(names)
    return [f"{what}: left out {lost}"] if lost else []


def with_uv(
    vertex: dict[str, Array], face: dict[str, Array], faces: Array, notes: Iterable[str]
) -> Attributes:
    """Attributes of a VTK or VTP file, with texture coordinates taken out of its arrays."""
    uv = None
    corner = face.get(CORNER_UV)
    if corner is not None and corner.dtype.kind == "f" and corner.shape[1:] == (6,):
        uv = face.pop(CORNER_UV).astype(np.float64).reshape(-1, 3, 2)
    for name in UV_NAMES:
        found = vertex.get(name)
        if found is not None and found.dtype.kind == "f" and found.shape[1:] in ((2,), (3,)):
            of_vertex = vertex.pop(name)[:, :2].astype(np.float64)
            uv = of_vertex[faces] if uv is None else uv
    return Attributes(vertex, face, uv, notes=tuple(notes))


def uv_of_vertices(faces: Array, uv: Array | None, n_vertices: int) -> Array | None:
    """(n, 2) texture coordinates, one per vertex; None if there are none or corners differ."""
    if uv is None:
        return None
    of_vertex = np.full((n_vertices, 2), np.nan)
    of_vertex[faces.ravel()] = uv.reshape(-1, 2)
    same = np.array_equal(of_vertex[faces], uv, equal_nan=True)
    return of_vertex if same else None


def columns_to_arrays(columns: Mapping[str, Array]) -> tuple[dict[str, Array], Array | None]:
    """Arrays by name, and texture coordinates (n, 2) if there are any.

    Normals are left out: they belong to the pose of a surface, not to its points.
    """
    left = {name: values for name, values in columns.items() if name not in _NORMAL}
    arrays: dict[str, Array] = {}
    uv = None
    colours = _colours(left)
    if colours is not None:
        arrays[COLOUR] = colours
        left = {name: values for name, values in left.items() if name not in CHANNELS}
    for pair in _UV_PAIRS:
        if uv is None and all(name in left and left[name].dtype.kind == "f" for name in pair):
            uv = np.column_stack([left.pop(name) for name in pair]).astype(np.float64)
    vectors = _vectors(left)
    in_vector = {part for parts in vectors.values() for part in parts}
    for name, values in left.items():
        if name in vectors:
            parts = [left[part] for part in vectors[name]]
            arrays[name.removesuffix("_0")] = np.column_stack(parts)
        elif name not in in_vector:
            arrays[name] = values
    return arrays, uv


def _colours(columns: Mapping[str, Array]) -> Array | None:
    """(n, 3) or (n, 4) uint8, if the columns are there and hold colours."""
    names = [name for name in CHANNELS if name in columns]
    if names[:3] != list(CHANNELS[:3]):
        return None
    return uint8_colours(np.column_stack([columns[name] for name in names]))


def _vectors(columns: Mapping[str, Array]) -> dict[str, list[str]]:
    """Columns name_0, name_1, ... of one type, by the first of them."""
    found: dict[str, list[str]] = {}
    for name in columns:
        base = name.removesuffix("_0")
        if base in ("", name) or base in columns:
            continue
        parts: list[str] = []
        while f"{base}_{len(parts)}" in columns:
            parts.append(f"{base}_{len(parts)}")
        if len(parts) > 1 and len({columns[part].dtype for part in parts}) == 1:
            found[name] = parts
    return found


def arrays_to_columns(
    arrays: Mapping[str, Array], uv: Array | None, uv_names: tuple[str, str], own: Iterable[str]
) -> dict[str, Array]:
    """One-dimensional columns by name: the inverse of `columns_to_arrays`.

    Parameters
    ----------
    uv : (n, 2) texture coordinates, if there are any, and the names of their columns.
    own : names that the format itself uses; an attribute of that name gets another.
    """
    columns: dict[str, Array] = {}
    first_colour = next((name for name in arrays if kind_of(arrays[name]) == "colour"), None)
    if first_colour is not None:
        columns.update(zip(CHANNELS, arrays[first_colour].T))
    if uv is not None:
        columns.update(zip(uv_names, uv.T))
    taken = {*own, *CHANNELS, *columns}
    for name, values in arrays.items():
        if name == first_colour:
            continue
        wide = values[:, None] if values.ndim == 1 else values
        for number, column in enumerate(wide.T):
            short = re.sub(r"\s+", "_", name.strip()) or "data"
            key = short if values.ndim == 1 else f"{short}_{number}"
            while key in taken:
                key = f"data_{key}"
            taken.add(key)
            columns[key] = column
    return columns
