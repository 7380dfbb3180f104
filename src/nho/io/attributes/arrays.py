"""Attributes in NPZ: arrays by name, with one row a vertex, or one a face.

The name of an array on faces begins with ``face_``. ``uv`` is (n, 2), one pair a vertex, or
(m, 3, 2), one a corner. ``vertices`` and ``faces`` are the mesh itself.
"""

from __future__ import annotations

import io
import zipfile

import numpy as np

from nho.errors import InputError
from nho.io.attributes.model import UV, Array, Attributes
from nho.runtime.npz import check_archive, read_array

_MESH = ("vertices", "faces")
_OF_FACE = "face_"
_TAKEN = (UV, "file", "allow_pickle")  # what `numpy.savez` would take for its own arguments


def read_npz(data: bytes, name: str, n_vertices: int, n_faces: int, faces: Array) -> Attributes:
    """Attributes of a mesh with (m, 3) faces out of an NPZ file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_archive(archive, len(data))
            found = {
                member.removesuffix(".npy"): read_array(archive, member)
                for member in archive.namelist()
                if member.endswith(".npy")
            }
    except Exception as problem:
        raise InputError(
            f"{name}: cannot be read as NPZ ({str(problem)[:200]}); save it with numpy.savez"
        ) from problem
    vertex: dict[str, Array] = {}
    face: dict[str, Array] = {}
    uv = None
    for key, array in found.items():
        if key in _MESH:
            continue
        if (
            key == UV
            and array.shape in ((n_vertices, 2), (n_faces, 3, 2))
            and array.dtype.kind == "f"
        ):
            uv = array[faces] if array.ndim == 2 else array
        elif key.startswith(_OF_FACE) and array.shape[:1] == (n_faces,):
            face[key.removeprefix(_OF_FACE)] = array
        elif array.shape[:1] == (n_vertices,):
            vertex[key] = array
        elif array.shape[:1] == (n_faces,):
            face[key] = array
        else:
            raise InputError(
                f"{name}: array {key!r} has shape {array.shape}, but the mesh has {n_vertices} "
                f"vertices and {n_faces} faces; give one row for each"
            )
    return Attributes(vertex, face, uv)


def npz_bytes(vertices: Array, faces: Array, attributes: Attributes) -> bytes:
    """Mesh and attributes as an NPZ file."""
    arrays: dict[str, Array] = {"vertices": vertices, "faces": faces}
    for prefix, of in (("", attributes.vertex), (_OF_FACE, attributes.face)):
        for key, array in of.items():
            name = prefix + key.replace("/", "_")
            while name in arrays or name in _TAKEN:
                name = f"data_{name}"
            arrays[name] = array
    if attributes.uv is not None:
        arrays[UV] = attributes.uv
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()
