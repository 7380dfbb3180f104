"""Mesh files by their suffix: whatever is wrong with a file comes out as an InputError."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.io.meshes.clouds import read_e57, read_las, read_npy, read_pts, read_xyz
from nho.io.meshes.gltf import read_gltf
from nho.io.meshes.gltf_write import write_gltf
from nho.io.meshes.model import COLOUR, Array, Attributes, ParsedMesh, Written, uint8_colours
from nho.io.meshes.obj import read_obj, write_obj
from nho.io.meshes.off import read_off, write_off
from nho.io.meshes.ply import read_ply, write_ply
from nho.io.meshes.polygons import FloatArray, IntArray
from nho.io.meshes.stl import read_stl
from nho.io.meshes.vtk import read_vtk
from nho.io.meshes.vtp import read_vtp, write_vtp
from nho.runtime.atomic_file import write_whole
from nho.runtime.input_file import blaming, read_bytes

READERS: dict[str, Callable[[bytes, str, Path], ParsedMesh]] = {
    ".ply": read_ply,
    ".obj": read_obj,
    ".off": read_off,
    ".stl": read_stl,
    ".vtk": read_vtk,
    ".vtp": read_vtp,
    ".glb": read_gltf,
    ".gltf": read_gltf,
    ".xyz": read_xyz,
    ".pts": read_pts,
    ".npy": read_npy,
    ".las": read_las,
    ".laz": read_las,
    ".e57": read_e57,
}
Writer = Callable[[Array, Array, Attributes, str], Written]
ATTRIBUTE_WRITERS: dict[str, Writer] = {
    ".ply": write_ply,
    ".obj": write_obj,
    ".glb": write_gltf,
    ".vtp": write_vtp,
}
_WRITERS: dict[str, Writer] = {".ply": write_ply, ".off": write_off, ".obj": write_obj}
READABLE, WRITABLE = tuple(READERS), tuple(_WRITERS)


def read_surface(path: str | os.PathLike[str]) -> ParsedMesh:
    """The vertices and triangles of a mesh file, by its suffix.

    Raises
    ------
    InputError
        For everything that is wrong with the file, in one sentence that names it and a remedy.
    """
    return read_mesh_file(path, with_attributes=False)[0]


def read_mesh_file(
    path: str | os.PathLike[str], with_attributes: bool
) -> tuple[ParsedMesh, Attributes]:
    """The surface in a mesh file and, if they are asked for, the attributes on it."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise InputError(
            f"{path.name}: a mesh file ends in {', '.join(READABLE)}, not in {suffix!r}; "
            "give it the suffix of its real format or export it as PLY"
        )
    data = contents_of(path)
    try:
        # Overflow on the way (a double too large for a float, say) shows as a value that is
        # not finite, which the mesh refuses by its index.
        with np.errstate(all="ignore"), blaming(path):
            mesh = READERS[suffix](data, path.name, path.parent)
            return mesh, mesh.read_attributes() if with_attributes else Attributes()
    except InputError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        raise InputError(
            f"{path.name}: cannot be read as {suffix[1:].upper()} ({reason}); re-export the mesh, "
            "for example as PLY"
        ) from error


def contents_of(path: Path) -> bytes:
    """The bytes of a file that must not be empty."""
    data = read_bytes(path)
    if not data.strip(b" \t\r\n\0"):
        raise InputError(f"{path.name}: the file is empty; copy or export it again")
    return data


def write_arrays(
    path: str | os.PathLike[str],
    vertices: FloatArray,
    faces: IntArray,
    colors: npt.ArrayLike | None = None,
) -> None:
    """Write a triangle mesh; the suffix of `path` chooses the format.

    The file appears only when it is complete. All formats keep the order of the vertices and every
    bit of their coordinates.

    Parameters
    ----------
    vertices : (n, 3) float64; faces : (m, 3) int64.
    colors : (n, 3) or (n, 4), uint8 or float 0..1, optional.
    """
    path = Path(path)
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InputError(
            f"{path.name}: meshes are written as {', '.join(WRITABLE)}, not as {path.suffix!r}; "
            "choose one of these"
        )
    vertex = {} if colors is None else {COLOUR: _checked_colors(colors, len(vertices), path.name)}
    write_whole(path, writer(vertices, faces, Attributes(vertex), path.stem).content)


def _checked_colors(colors: npt.ArrayLike, n_vertices: int, name: str) -> Array:
    """Colours as uint8, from uint8 or from floats between 0 and 1."""
    array = np.asarray(colors)
    if array.ndim != 2 or array.shape[0] != n_vertices or array.shape[1] not in (3, 4):
        raise InputError(
            f"{name}: colours have shape {array.shape} but ({n_vertices}, 3) or ({n_vertices}, 4) "
            "is needed; give one colour per vertex"
        )
    known = uint8_colours(array) if array.dtype == np.uint8 or array.dtype.kind == "f" else None
    if known is None:
        raise InputError(f"{name}: colours must be uint8 or floats from 0 to 1; convert them")
    return known
