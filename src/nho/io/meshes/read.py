"""One door for all mesh files: whatever is wrong with a file comes out as an InputError."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from nho.errors import InputError
from nho.io.meshes.gltf import read_gltf
from nho.io.meshes.obj import read_obj
from nho.io.meshes.off import read_off
from nho.io.meshes.ply import read_ply
from nho.io.meshes.polygons import FloatArray, IntArray
from nho.io.meshes.stl import read_stl
from nho.io.meshes.vtk import read_vtk
from nho.io.meshes.vtp import read_vtp

_READERS: dict[str, Callable[[bytes, str], tuple[FloatArray, IntArray]]] = {
    ".ply": read_ply,
    ".obj": read_obj,
    ".off": read_off,
    ".stl": read_stl,
    ".vtk": read_vtk,
    ".vtp": read_vtp,
}
READABLE = (*_READERS, ".glb", ".gltf")

Result = TypeVar("Result")


def read_arrays(path: str | os.PathLike[str]) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) float64 and triangles (m, 3) int64 of a mesh file, by its suffix.

    Raises
    ------
    InputError
        For everything that is wrong with the file, in one sentence that names it and a remedy.
    """
    return read_by_suffix(path, _arrays)


def _arrays(suffix: str, data: bytes, path: Path) -> tuple[FloatArray, IntArray]:
    if suffix in (".glb", ".gltf"):
        return read_gltf(data, path.name, path.parent)
    return _READERS[suffix](data, path.name)


def read_by_suffix(
    path: str | os.PathLike[str], read: Callable[[str, bytes, Path], Result]
) -> Result:
    """What ``read(suffix, bytes, path)`` makes of a mesh file; the door for all of them."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in READABLE:
        raise InputError(
            f"{path.name}: a mesh file ends in {', '.join(READABLE)}, not in {suffix!r}; "
            "rename it to what it is or export it as PLY"
        )
    data = contents_of(path)
    try:
        # Overflow on the way (a double too large for a float, say) shows as a value that is
        # not finite, which the mesh refuses by its index.
        with np.errstate(all="ignore"):
            return read(suffix, data, path)
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
    try:
        if path.is_dir():
            raise InputError(f"{path}: this is a folder; name a mesh file in it")
        if not path.exists():
            raise InputError(f"{path}: there is no such file; check the path")
        if not path.is_file():
            raise InputError(f"{path}: this is not a regular file; name a mesh file")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: the file cannot be opened ({error}); check its name and permissions"
        ) from error
    if not data.strip(b" \t\r\n\0"):
        raise InputError(f"{path.name}: the file is empty; copy or export it again")
    return data
