"""A piece of a shape and the shape, opened in a studio with true pairs."""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.synthetic import Cut
from nho.studio import Studio
from nho.studio.marks import Marks, mark_at


def true_marks(whole: Mesh, piece: Cut, count: int) -> Marks:
    """Complete pairs, spread over the piece."""
    own = np.linspace(0, piece.mesh.n_vertices - 1, count).astype(int)
    ends = (
        SurfacePoints.at_vertices(piece.mesh, own),
        SurfacePoints.at_vertices(whole, piece.vertex_of_parent[own]),
    )
    marks = Marks()
    for row in range(count):
        marks = marks.added(*(mark_at(points, row) for points in ends))
    return marks


def open_pair(studio: Studio, whole: Mesh, piece: Cut, count: int = 14) -> None:
    """Both meshes and some true pairs."""
    studio.session.open("partial", Mesh(piece.mesh.vertices, piece.mesh.faces, "scan.ply"))
    studio.session.open("full", Mesh(whole.vertices, whole.faces, "template.ply"))
    marks = true_marks(whole, piece, count)
    studio.session.change(lambda _: marks)
