"""A mesh as the page draws it: where it is seen from, and its arrays as bytes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from nho.geometry.coarsening import coarsened
from nho.geometry.geodesics import edge_graph
from nho.geometry.mesh import FloatArray, IntArray, Mesh
from nho.report.scene import DrawnPart, drawn_part
from nho.report.views import Frame, first_view, frame, framed
from nho.studio.marks import Mark, points_of
from nho.studio.picking import first_hit

_MOST_SHOWN = 300_000  # vertices; of a larger mesh, the page draws as much as a report
_COARSE = 2_500  # vertices that are drawn while the shape moves, where there is no graphics card


@dataclass(frozen=True, eq=False)
class ShownShape:
    """One of the two shapes as the page draws it.

    Attributes
    ----------
    version : int
        Another one for every mesh that is opened, so that pages know when to load it anew.
    """

    mesh: Mesh
    version: int

    @cached_property
    def view(self) -> FloatArray:
        """Rotation to the first view."""
        return first_view(self.mesh)

    @cached_property
    def frame(self) -> Frame:
        """Centre and radius of the ball that the page shows."""
        return frame(self.mesh, self.view)

    @cached_property
    def drawn(self) -> DrawnPart:
        """What the page draws of the mesh."""
        whole = len(self.mesh.vertices) <= _MOST_SHOWN
        return drawn_part(self.mesh, np.array([], dtype=np.int64), _MOST_SHOWN if whole else None)

    @cached_property
    def graph(self) -> sp.csr_matrix:
        """Vertices and edges, with their lengths."""
        return edge_graph(self.mesh)

    @cached_property
    def digest(self) -> str:
        """Hash of the mesh's content."""
        return self.mesh.digest()

    def array(self, name: str) -> bytes | None:
        """Little-endian numbers by name; None where there is no such array."""
        part = self.drawn
        if name == "positions":
            return framed(self.mesh.vertices[part.vertex], self.frame).astype("<f4").tobytes()
        whole = {"faces": part.faces, "number": part.vertex, "coarse": self._coarse_faces}
        return whole[name].astype("<u4").tobytes() if name in whole else None

    @cached_property
    def _coarse_faces(self) -> IntArray:
        """Few triangles between vertices that are drawn, for while the shape moves; or none."""
        part = self.drawn
        if len(part.vertex) <= 1.5 * _COARSE:
            return np.empty((0, 3), dtype=np.int64)
        whole = Mesh(self.mesh.vertices[part.vertex], part.faces, self.mesh.name)
        coarse = coarsened(whole, _COARSE, np.array([], dtype=np.int64))
        return coarse.vertex[coarse.mesh.faces]

    def prepare(self) -> None:
        """Compute now what the first request for the shape would have to wait for."""
        self.described()
        _ = self.digest, self.graph, self._coarse_faces

    def hit(self, origin: FloatArray, direction: FloatArray) -> Mark | None:
        """The point under the pointer; the ray is in the page's coordinates."""
        centre, radius = self.frame
        return first_hit(self.mesh, origin * radius + centre, direction * radius)

    def described(self) -> dict[str, object]:
        """What the page says of the shape."""
        return {
            "name": self.mesh.name,
            "vertices": len(self.mesh.vertices),
            "faces": len(self.mesh.faces),
            "version": self.version,
            "rotation": self.view.tolist(),
            "inPart": len(self.drawn.vertex) < len(self.mesh.vertices),
        }

    def described_mark(self, mark: Mark) -> dict[str, object]:
        """A mark for the page: what the user wants to know, and where to draw it."""
        point = points_of([mark])
        position = point.positions(self.mesh)
        return {
            "vertex": int(point.nearest_vertex(self.mesh)[0]),
            "face": mark.face,
            "barycentric": list(mark.barycentric),
            "position": position[0].tolist(),
            "at": framed(position, self.frame)[0].tolist(),
            "normal": self.mesh.face_normals[mark.face].tolist(),
        }
