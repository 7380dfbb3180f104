"""A mesh as an object of another library, with values at its vertices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh

COLOR = "nho_color"  # sRGB bytes; what the libraries show as colours of the vertices

PointData = Mapping[str, np.ndarray]


def to_trimesh(mesh: Mesh, data: PointData) -> Any:
    """A ``trimesh.Trimesh`` with its vertices in the same order."""
    trimesh = _imported("trimesh")
    made = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False, validate=False)
    made.vertex_attributes.update({name: np.array(values) for name, values in data.items()})
    if COLOR in data:
        made.visual.vertex_colors = data[COLOR]
    return made


def to_pyvista(mesh: Mesh, data: PointData) -> Any:
    """A ``pyvista.PolyData``; the values are its ``point_data``."""
    pyvista = _imported("pyvista")
    corners = np.column_stack([np.full(mesh.n_faces, 3), mesh.faces])
    made = pyvista.PolyData(np.array(mesh.vertices), corners.ravel())
    for name, values in data.items():
        made.point_data[name] = np.array(values)
    made.set_active_scalars(None)
    return made


def to_open3d(mesh: Mesh, data: PointData) -> Any:
    """An ``open3d.t.geometry.TriangleMesh``, since only the tensor kind holds values by name."""
    core, geometry = _imported("open3d.core"), _imported("open3d.t.geometry")
    made = geometry.TriangleMesh()
    made.vertex["positions"] = core.Tensor(np.array(mesh.vertices))
    made.triangle["indices"] = core.Tensor(np.array(mesh.faces))
    for name, values in data.items():
        column = values if values.ndim == 2 else values[:, None]
        made.vertex[name] = core.Tensor(np.array(column))
    if COLOR in data:
        made.vertex["colors"] = core.Tensor((data[COLOR] / 255).astype(np.float32))
    return made


def _imported(name: str) -> Any:
    """A library that only the caller needs."""
    from importlib import import_module

    library = name.partition(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as problem:
        if problem.name != library:
            raise
        raise InputError(f"{library} is not installed; run `pip install {library}`") from None
