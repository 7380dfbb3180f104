"""The part of a large mesh that the report draws, so that the file stays small enough to open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.geometry.coarsening import coarsened
from nho.geometry.mesh import Mesh
from nho.io.meshes.polygons import equal_points

_MOST = 60_000  # vertices a shape: a report of about ten megabytes
_SHOWN = 40_000  # about so many of a larger one, and in proportion where fewer are allowed


@dataclass(frozen=True)
class Shown:
    """What is drawn of a mesh.

    Attributes
    ----------
    vertex : (k,) int array
        Vertices of the mesh, ascending.
    faces : (f, 3) int array
        Triangles between them, as rows of ``vertex``.
    """

    vertex: np.ndarray
    faces: np.ndarray

    def row(self, vertices: np.ndarray | int) -> np.ndarray:
        """Rows of vertices that are drawn."""
        return np.searchsorted(self.vertex, vertices)


def too_large(mesh: Mesh, most: int | None = None) -> bool:
    """Is the mesh drawn in part only?"""
    return len(mesh.vertices) > (_MOST if most is None else most)


def shown(mesh: Mesh, keep: np.ndarray, most: int | None = None) -> Shown:
    """All of a mesh of ordinary size; of a larger one a coarse version with those to keep."""
    if not too_large(mesh, most):
        return Shown(np.arange(len(mesh.vertices)), mesh.faces)
    # Corners that lie on each other are one surface, which one of them stands for.
    first, group = equal_points(mesh.vertices)
    welded = Mesh(mesh.vertices[first], group[mesh.faces], mesh.name)
    count = _SHOWN if most is None else most * _SHOWN // _MOST
    coarse = coarsened(welded, count, group[keep])
    vertex = first[coarse.vertex]
    # A vertex to keep is drawn even if no triangle uses it, or another one stands for it.
    every = np.union1d(vertex, keep)
    return Shown(every, np.searchsorted(every, vertex)[coarse.mesh.faces])
