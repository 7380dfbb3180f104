"""A mesh as the page draws it: where it is seen from, and its arrays as bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from nho.errors import InputError
from nho.geometry.coarsening import coarsened
from nho.geometry.geodesics import distances_from, unfolded_graph
from nho.geometry.mesh import FloatArray, IntArray, Mesh
from nho.geometry.surface import SurfacePoints
from nho.io.attributes import Attributes
from nho.report.own_look import own_colours
from nho.report.scene import DrawnPart, drawn_part
from nho.report.textures import DrawnTexture, drawn_texture
from nho.report.views import Frame, first_view, frame, framed
from nho.studio.marks import Mark, points_of
from nho.studio.picking import first_hit
from nho.studio.visibility import seen_from
from nho.transfer.textures import painted

_MOST_SHOWN = 300_000  # vertices; of a larger mesh, the page draws as much as a report
_COARSE = 2_500  # vertices that are drawn while the shape moves, where there is no graphics card


@dataclass(frozen=True, eq=False)
class ShownShape:
    """One of the two shapes as the page draws it.

    Attributes
    ----------
    version : int
        Another one for every mesh that is opened, so that pages know when to load it anew.
    attributes : Attributes
        What the file holds beside the surface: colours, labels, textures.
    path : Path, optional
        Where the file is; None if it came from the page.
    """

    mesh: Mesh
    version: int
    attributes: Attributes = field(default_factory=Attributes)
    path: Path | None = None

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
        """Vertices and the straight ways between them, along edges and across them."""
        return unfolded_graph(self.mesh)

    @cached_property
    def digest(self) -> str:
        """Hash of the mesh's content."""
        return self.mesh.digest()

    def array(self, name: str) -> bytes | None:
        """Little-endian numbers by name; None where there is no such array."""
        part = self.drawn
        if name == "own":
            return None if self.own_colours is None else self.own_colours.tobytes()
        if name == "positions":
            return framed(self.mesh.vertices[part.vertex], self.frame).astype("<f4").tobytes()
        whole = {"faces": part.faces, "number": part.vertex, "coarse": self._coarse_faces}
        if self.texture is not None:
            whole |= {"seamVertex": self.texture.vertex, "seamFaces": self.texture.faces}
            if name == "uv":
                return self.texture.uv.astype("<f4").tobytes()
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

    @cached_property
    def own_colours(self) -> np.ndarray | None:
        """(k, 3) uint8 colours that the file gives the vertices that are drawn; None = none.

        Of a texture, those at the vertices: for a shape that is drawn in part, or moves.
        """
        rows, about = self.drawn.vertex, self.attributes
        try:
            points = SurfacePoints.at_vertices(self.mesh, rows)
            return painted(points, self.mesh, about).values.astype(np.uint8)[:, :3]
        except InputError:  # no image, none that can be read, or no Pillow
            own = own_colours(about)
        return None if own is None else own[rows]

    @cached_property
    def _texture(self) -> tuple[DrawnTexture | None, str]:
        """The texture, and why there is none where the file has one."""
        if len(self.drawn.vertex) < len(self.mesh.vertices):
            return None, ""  # its triangles are not those of the file
        try:
            return drawn_texture(self.mesh, self.attributes), ""
        except InputError as problem:
            return None, str(problem)

    @property
    def texture(self) -> DrawnTexture | None:
        """The texture as the page draws it; None = there is none, or it cannot be shown."""
        return self._texture[0]

    @property
    def notes(self) -> str:
        """What was in the file and is not shown."""
        return "; ".join(filter(None, (*self.attributes.notes, self._texture[1])))

    @cached_property
    def seen_from(self) -> IntArray:
        """(n,) direction that every vertex is seen best from; -1 = it lies inside."""
        return seen_from(self.mesh)

    def distance(self, marks: tuple[Mark, Mark]) -> dict[str, float | None]:
        """Straight and along the surface, in the unit of the file; None = there is no way."""
        points = points_of(marks)
        start, end = points.positions(self.mesh)
        first, last = self.mesh.faces[points.face]
        ends = self.mesh.vertices
        table = distances_from(self.graph, first)[:, last]
        table = table + np.linalg.norm(ends[first] - start, axis=1)[:, None]
        table = table + np.linalg.norm(ends[last] - end, axis=1)
        straight = float(np.linalg.norm(end - start))
        same = points.face[0] == points.face[1]
        along = straight if same else max(straight, float(table.min()))
        return {"straight": straight, "along": along if np.isfinite(along) else None}

    def prepare(self) -> None:
        """Compute now what the first request for the shape would have to wait for."""
        self.described()
        _ = self.digest, self.graph, self._coarse_faces, self.seen_from

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
            "radius": self.frame[1],
            "painted": self.own_colours is not None,
            "coloured": self.own_colours is not None or self.texture is not None,
            "images": [
                {"name": image.name, "width": image.width, "height": image.height, "faces": count}
                for image, count in zip(self.texture.images, self.texture.counts, strict=True)
            ]
            if self.texture is not None
            else [],
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
