"""Anchors: pairs of surface points, one on the partial shape and its partner on the full one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.io.landmarks import Files, LandmarkPairs, Landmarks, read_pairs
from nho.io.landmarks.indices import index_pairs
from nho.io.landmarks.placing import at_vertices, projected
from nho.io.landmarks.points import OPPOSITE_AXES, POSITION

FEWEST = 3  # fewer pairs than this do not fix a place on a surface
FLIPS = ("none", "partial", "full", "both")


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
    notes : tuple of str
        What a user should know of how they were read; they become warnings of the match.
    """

    partial: SurfacePoints
    full: SurfacePoints
    names: tuple[str, ...]
    gaps: np.ndarray
    source: str = "anchors"
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def read(cls, files: Files, partial: Mesh, full: Mesh, flip: str = "none") -> Anchors:
        """Anchors from a file of pairs, or from two files (partial, full) of landmarks.

        Parameters
        ----------
        files : path, or two paths
            The suffixes choose the formats: see docs/files.md.
        flip : {"none", "partial", "full", "both"}
            Where to negate x and y of the coordinates, for files in LPS and meshes in RAS.
        """
        return cls.from_landmarks(read_pairs(files), partial, full, flip)

    @classmethod
    def from_landmarks(
        cls, pairs: LandmarkPairs, partial: Mesh, full: Mesh, flip: str = "none"
    ) -> Anchors:
        """Anchors from pairs of landmarks; points that are missing are left out with a note."""
        if flip not in FLIPS:
            raise InputError(f"flip is {flip!r}; choose {', '.join(FLIPS)}")
        pairs = pairs.complete()
        notes = [*pairs.partial.notes, *pairs.full.notes, *pairs.notes]
        points, gaps = [], []
        for side, mesh, landmarks in (
            ("partial", partial, pairs.partial),
            ("full", full, pairs.full),
        ):
            flipped = flip in (side, "both")
            if flipped:
                landmarks = landmarks.flipped()
            notes += _axes_notes(landmarks, mesh, flipped)
            placed, gap = landmarks.on(mesh, side)
            points.append(placed)
            gaps.append(gap)
        return cls(
            points[0],
            points[1],
            pairs.names,
            np.stack(gaps, axis=1),
            pairs.source,
            tuple(dict.fromkeys(notes)),
        )

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
        pairs = index_pairs(pairs, names, source)
        names = names or tuple(str(row) for row in range(len(pairs)))
        return cls(
            at_vertices(partial, pairs[:, 0], names, source),
            at_vertices(full, pairs[:, 1], names, source),
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
        for side, mesh, given in (
            ("partial", partial, partial_positions),
            ("full", full, full_positions),
        ):
            positions = np.asarray(given, dtype=np.float64).reshape(-1, 3)
            points, gap = projected(mesh, positions, names, source, side=side)
            columns.append(points)
            gaps.append(gap)
        return cls(columns[0], columns[1], names, np.stack(gaps, axis=1), source)

    def vertices(self, partial: Mesh, full: Mesh) -> np.ndarray:
        """(m, 2) nearest vertices of the pairs."""
        return np.stack(
            [self.partial.nearest_vertex(partial), self.full.nearest_vertex(full)], axis=1
        )

    def landmarks(self, partial: Mesh, full: Mesh) -> LandmarkPairs:
        """The pairs as landmarks, to be written."""
        # Names that only count the rows are none.
        counted = self.names == tuple(str(row) for row in range(len(self)))
        names = () if counted else self.names
        return LandmarkPairs(
            Landmarks.at(partial, self.partial, names, self.source),
            Landmarks.at(full, self.full, names, self.source),
            self.names,
            source=self.source,
        )


def _axes_notes(landmarks: Landmarks, mesh: Mesh, flipped: bool) -> list[str]:
    """What was made of the axes that a file names; points on the surface do not prove them."""
    if not (landmarks.axes and (landmarks.kind == POSITION).any()):
        return []
    if flipped:
        before = OPPOSITE_AXES[landmarks.axes]
        return [f"{landmarks.source}: turned from {before} to {landmarks.axes} for {mesh.name}"]
    return [
        f"{landmarks.source}: its coordinates are {landmarks.axes} and taken as they stand, so "
        f"{mesh.name} must be in {landmarks.axes} too"
    ]
