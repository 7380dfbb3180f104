"""`Landmarks`: named points of one shape, as a file gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.io.landmarks.placing import (
    FLIP,
    OPPOSITE_AXES,
    at_vertices,
    in_faces,
    projected,
)
from nho.io.landmarks.rows import FACE, MISSING, POSITION, VERTEX, Rows

_COLUMNS = ("kind", "vertex", "face", "barycentric", "position")


@dataclass(frozen=True)
class Landmarks:
    """``n`` points of one shape; a point is a vertex, a place in a face, coordinates, or missing.

    Attributes
    ----------
    names : numbers from 1 where the file has none.
    kind : (n,) str, what holds of each row: ``"vertex"``, ``"face"``, ``"position"`` or ``""``
        (missing).
    vertex : (n,) int, counted from 0.
    face : (n,) int, counted from 0, after polygons are split into triangles.
    barycentric : (n, 3) float, weights of the face's corners.
    position : (n, 3) float, as written in the file.
    named : whether the names come from the file.
    axes : ``"LPS"``, ``"RAS"`` or ``""``: what the file says of its coordinates.
    notes : what a user should know.
    source : file name, for messages.
    facts : further values of every row, by name: columns of a table, a description elsewhere.
    """

    names: tuple[str, ...]
    kind: np.ndarray
    vertex: np.ndarray
    face: np.ndarray
    barycentric: np.ndarray
    position: np.ndarray
    named: bool = True
    axes: str = ""
    notes: tuple[str, ...] = ()
    source: str = "landmarks"
    facts: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, rows: np.ndarray | slice) -> Landmarks:
        names = tuple(np.array(self.names, dtype=object)[rows])
        columns = {key: getattr(self, key)[rows] for key in _COLUMNS}
        facts = {key: values[rows] for key, values in self.facts.items()}
        return replace(self, names=names, **columns, facts=facts)

    @property
    def defined(self) -> np.ndarray:
        """(n,) bool: the point is there."""
        return np.asarray(self.kind != MISSING)

    def missing_names(self) -> list[str]:
        """The names of the points that are not there."""
        return [name for name, there in zip(self.names, self.defined, strict=True) if not there]

    def named_positions(self) -> list[tuple[str, list[float] | None]]:
        """Name and coordinates of every point; None for one that is missing."""
        rows = zip(self.names, self.position.tolist(), self.defined, strict=True)
        return [(name, place if there else None) for name, place, there in rows]

    def described(self) -> list[str]:
        """The facts of every point in words, such as ``status predicted, error_68 0.12``."""
        columns = [[_shown(name, value) for value in of] for name, of in self.facts.items()]
        if not columns:
            return [""] * len(self)
        return [", ".join(filter(None, row)) for row in zip(*columns, strict=True)]

    @classmethod
    def of(cls, rows: Rows) -> Landmarks:
        """The rows of a file."""
        columns = rows.columns()
        return cls(
            names=rows.names,
            kind=columns["kind"],
            vertex=columns["vertex"],
            face=columns["face"],
            barycentric=columns["barycentric"],
            position=columns["position"],
            named=rows.named,
            axes=rows.axes,
            notes=tuple(rows.notes),
            source=rows.source,
        )

    @classmethod
    def at(
        cls,
        mesh: Mesh,
        points: SurfacePoints,
        names: Sequence[str] = (),
        source: str = "landmarks",
    ) -> Landmarks:
        """Points on a mesh; face -1 = missing, and a weight of exactly 1 is a vertex."""
        rows = Rows(source)
        weights = np.nan_to_num(points.barycentric)
        for i, face in enumerate(points.face.tolist()):
            name = names[i] if len(names) else ""
            if face < 0:
                rows.missing(name)
            elif weights[i].max() == 1:
                rows.vertex(name, int(mesh.faces[face, weights[i].argmax()]))
            else:
                rows.face(name, face, weights[i].tolist())
        return cls.of(rows)

    @classmethod
    def at_vertices(
        cls, vertices: np.ndarray, names: Sequence[str] = (), source: str = "landmarks"
    ) -> Landmarks:
        """(n,) vertices, counted from 0; an index below 0 is a missing point."""
        rows = Rows(source)
        for i, vertex in enumerate(np.asarray(vertices).tolist()):
            name = names[i] if len(names) else ""
            if vertex < 0:
                rows.missing(name)
            else:
                rows.vertex(name, vertex)
        return cls.of(rows)

    def on(self, mesh: Mesh, side: str = "") -> tuple[SurfacePoints, np.ndarray]:
        """The points on a mesh (face -1 = missing), and how far each had to be moved.

        Parameters
        ----------
        side : str
            ``"partial"`` or ``"full"``, for the remedy in messages.
        """
        names = np.array(self.names, dtype=object)
        out = SurfacePoints.none(len(self))
        gaps = np.zeros(len(self))
        for kind in (VERTEX, FACE, POSITION):
            rows = self.kind == kind
            if not rows.any():
                continue
            chosen = tuple(names[rows])
            if kind == VERTEX:
                points = at_vertices(mesh, self.vertex[rows], chosen, self.source)
            elif kind == FACE:
                weights = self.barycentric[rows]
                points = in_faces(mesh, self.face[rows], weights, chosen, self.source)
            else:
                points, gaps[rows] = projected(
                    mesh, self.position[rows], chosen, self.source, self.axes, side
                )
            out.face[rows], out.barycentric[rows] = points.face, points.barycentric
        return out, gaps

    def by_position(self, mesh: Mesh | None) -> Landmarks:
        """The same with every point as coordinates; a mesh is needed for vertices and faces."""
        other = self.defined & (self.kind != POSITION)
        if not other.any():
            return self
        if mesh is None:
            raise InputError(
                f"{self.source}: its points are vertices or faces; give the mesh that they belong "
                "to, so that coordinates can be written"
            )
        position = self.position.copy()
        position[other] = self[other].on(mesh)[0].positions(mesh)
        return replace(self, kind=np.where(other, POSITION, self.kind), position=position)

    def by_face(self, mesh: Mesh | None) -> Landmarks:
        """The same with every point in a face; a mesh is needed for vertices and coordinates."""
        other = self.defined & (self.kind != FACE)
        if not other.any():
            return self
        if mesh is None:
            raise InputError(
                f"{self.source}: its points are not given by faces; give the mesh that they "
                "belong to, so that faces can be written"
            )
        face, barycentric = self.face.copy(), self.barycentric.copy()
        points, gaps = self[other].on(mesh)
        face[other], barycentric[other] = points.face, points.barycentric
        notes = self.notes
        if gaps.max() > 0:
            notes += (f"points were projected to {mesh.name}: largest distance {gaps.max():.4g}",)
        kind = np.where(other, FACE, self.kind)
        return replace(self, kind=kind, face=face, barycentric=barycentric, notes=notes)

    def flipped(self) -> Landmarks:
        """The same with x and y of the coordinates negated: LPS becomes RAS and the reverse."""
        self._check_coordinates("flip")
        return replace(self, position=self.position * FLIP, axes=OPPOSITE_AXES[self.axes])

    def scaled(self, factor: float) -> Landmarks:
        """The same in another unit."""
        self._check_coordinates("scale")
        return replace(self, position=self.position * factor)

    def _check_coordinates(self, what: str) -> None:
        if not (self.kind == POSITION).any():
            raise InputError(
                f"{self.source}: there are no coordinates to {what}, the points are vertices or "
                "faces; leave that option out"
            )


def _shown(name: str, value: object) -> str:
    if isinstance(value, float):  # NumPy's is one, too
        return "" if np.isnan(value) else f"{name} {value:.4g}"
    return f"{name} {value}"
