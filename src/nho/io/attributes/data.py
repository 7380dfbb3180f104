"""Attributes of a mesh in a file of their own: CSV, NPZ, or a text list of vertices."""

from __future__ import annotations

import os
from pathlib import Path

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.attributes.arrays import read_npz
from nho.io.attributes.lists import read_list
from nho.io.attributes.model import Attributes
from nho.io.attributes.tables import read_csv
from nho.io.meshes.read import contents_of

DATA_FILES = (".csv", ".npz", ".txt")


def read_data(path: str | os.PathLike[str], mesh: Mesh) -> Attributes:
    """Attributes of ``mesh`` from a CSV or NPZ file, or a selection from a text list of vertices.

    The rows must be in the order of the mesh; a selection is named after its file.
    """
    path = Path(path)
    suffix, sizes = path.suffix.lower(), (mesh.n_vertices, mesh.n_faces)
    if suffix not in DATA_FILES:
        raise InputError(
            f"{path.name}: data files end in {', '.join(DATA_FILES)}, not in {suffix!r}; "
            "rename it to what it is or export it as CSV"
        )
    data = contents_of(path)
    if suffix == ".txt":
        return read_list(data, path.name, mesh.n_vertices, path.stem)
    read = read_csv if suffix == ".csv" else read_npz
    attributes = read(data, path.name, *sizes, mesh.faces)
    attributes.check(*sizes, path.name)
    return attributes
