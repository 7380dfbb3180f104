"""Anchors: pairs of surface points, one on the partial shape and its partner on the full one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.mesh import Mesh
from nho.surface import SurfacePoints, project

FEWEST = 3  # fewer pairs than this do not fix a place on a surface


@dataclass(frozen=True)
class Anchors:
    """``m`` pairs of matching points.

    Attributes
    ----------
    partial, full : SurfacePoints
        The pairs, row by row.
    names : tuple of str
        For messages and files; defaults to the row numbers.
    gaps : (m, 2) float array
        How far the points as given lay from the (partial, full) surfaces; zero for vertices.
    source : str
        File name, for messages.
    """

    partial: SurfacePoints
    full: SurfacePoints
    names: tuple[str, ...]
    gaps: np.ndarray
    source: str = "anchors"

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def from_vertices(
        cls,
        partial: Mesh,
        full: Mesh,
        pairs: np.ndarray,
        names: tuple[str, ...] = (),
        source: str = "anchors",
    ) -> Anchors:
        """Anchors from (m, 2) vertex indices (partial, full), counted from 0."""
        pairs = _as_pairs(pairs, names, source)
        names = names or tuple(str(row) for row in range(len(pairs)))
        for column, mesh in enumerate((partial, full)):
            _check_range(pairs[:, column], mesh, names, source)
        return cls(
            SurfacePoints.at_vertices(partial, pairs[:, 0]),
            SurfacePoints.at_vertices(full, pairs[:, 1]),
            names,
            np.zeros((len(pairs), 2)),
            source,
        )

    @classmethod
    def from_positions(
        cls,
        partial: Mesh,
        full: Mesh,
        partial_positions: np.ndarray,
        full_positions: np.ndarray,
        names: tuple[str, ...] = (),
        source: str = "anchors",
    ) -> Anchors:
        """Anchors from (m, 3) coordinates on each shape, projected to its surface."""
        columns, gaps = [], []
        if len(partial_positions) != len(full_positions):
            raise InputError(
                f"{source}: {len(partial_positions)} positions on {partial.name} but "
                f"{len(full_positions)} on {full.name}; anchors come in pairs"
            )
        names = names or tuple(str(row) for row in range(len(partial_positions)))
        for mesh, positions in ((partial, partial_positions), (full, full_positions)):
            positions = np.asarray(positions, dtype=np.float64).reshape(-1, 3)
            # A NaN fails the comparison; beyond the square root of the largest number, squares of
            # distances overflow.
            near = np.abs(positions) < np.sqrt(np.finfo(np.float64).max) / 1024
            bad = np.flatnonzero(~near.all(axis=1))
            if len(bad):
                raise InputError(
                    f"{source}: anchor {names[bad[0]]} has no finite position on {mesh.name}; "
                    "correct or remove it"
                )
            points, gap = project(mesh, positions)
            _check_gaps(gap, mesh, names, source)
            columns.append(points)
            gaps.append(gap)
        return cls(columns[0], columns[1], names, np.stack(gaps, axis=1), source)

    def vertices(self, partial: Mesh, full: Mesh) -> np.ndarray:
        """(m, 2) nearest vertices of the pairs."""
        return np.stack(
            [self.partial.nearest_vertex(partial), self.full.nearest_vertex(full)], axis=1
        )


def _as_pairs(pairs: object, names: tuple[str, ...], source: str) -> np.ndarray:
    try:
        array = np.asarray(pairs)
    except ValueError:
        raise InputError(f"{source}: anchors must be pairs of vertex indices") from None
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(
            f"{source}: anchors must be an (m, 2) array of vertex indices (partial, full), "
            f"not of shape {array.shape}"
        )
    if array.dtype.kind not in "iu":
        whole = np.zeros(array.shape, dtype=bool)
        if array.dtype.kind == "f":
            whole = (np.abs(array) < 2.0**53) & (array == np.floor(array))
        if not whole.all():
            row = int(np.flatnonzero(~whole.all(axis=1))[0])
            raise InputError(
                f"{source}: anchor {names[row] if names else row} is "
                f"{tuple(array[row].tolist())}, not a pair of vertex indices; give whole numbers"
            )
    return array.astype(np.int64)


def _check_range(vertices: np.ndarray, mesh: Mesh, names: tuple[str, ...], source: str) -> None:
    bad = np.flatnonzero((vertices < 0) | (vertices >= len(mesh.vertices)))
    if len(bad):
        raise InputError(
            f"{source}: anchor {names[bad[0]]} refers to vertex {vertices[bad[0]]} of {mesh.name}, "
            f"which has vertices 0 to {len(mesh.vertices) - 1}; indices count from 0"
        )
    loose = np.flatnonzero(~np.isin(vertices, mesh.faces))
    if len(loose):
        raise InputError(
            f"{source}: anchor {names[loose[0]]} refers to vertex {vertices[loose[0]]} of "
            f"{mesh.name}, which belongs to no face; pick a vertex on the surface"
        )


def _check_gaps(gap: np.ndarray, mesh: Mesh, names: tuple[str, ...], source: str) -> None:
    """Refuse points far off the surface: another unit or axis convention, almost surely."""
    size = float(np.linalg.norm(np.ptp(mesh.vertices, axis=0)))
    far = int(np.argmax(gap)) if len(gap) else 0
    if len(gap) and gap[far] > 0.1 * size:
        raise InputError(
            f"{source}: anchor {names[far]} lies {gap[far]:.4g} away from {mesh.name}, which is "
            f"only {size:.4g} across; check units (mm or m) and axes (LPS or RAS)"
        )
