"""Anchors: pairs of surface points, one on the partial shape and its partner on the full one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.io.landmarks import Files, LandmarkPairs, Landmarks, read_pairs, write_pairs
from nho.io.landmarks.placing import OPPOSITE_AXES, at_vertices, index_pairs, projected
from nho.io.landmarks.rows import POSITION, VERTEX, numbered

FEWEST = 3  # fewer pairs than this do not fix a place on a surface
_SAID = 10  # sentences of one kind
FLIPS = ("none", "partial", "full", "both")


@dataclass(frozen=True)
class Anchors:
    """``m`` pairs of matching points.

    Attributes
    ----------
    partial, full : SurfacePoints
        The pairs, row by row.
    names : tuple of str
        What a user calls them; numbers from 1 where they have no names.
    gaps : (m, 2) float array
        How far the points as given lay from the (partial, full) surfaces; zero for vertices.
    source : str
        File name, for messages.
    notes : tuple of str
        How they were read; they become notes of the match.
    indices : (m, 2) int array, optional
        Vertices that were given as such; -1 where a point was given otherwise.
    """

    partial: SurfacePoints
    full: SurfacePoints
    names: tuple[str, ...]
    gaps: np.ndarray
    source: str = "anchors"
    notes: tuple[str, ...] = ()
    indices: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def read(cls, files: Files, partial: Mesh, full: Mesh, flip: str = "none") -> Anchors:
        """The same as `nho.read_anchors`."""
        return cls.from_landmarks(read_pairs(files), partial, full, flip)

    @classmethod
    def from_landmarks(
        cls, pairs: LandmarkPairs, partial: Mesh, full: Mesh, flip: str = "none"
    ) -> Anchors:
        """Anchors from pairs of landmarks; points that are missing are left out with a note."""
        if flip not in FLIPS:
            raise InputError(f"flip is {flip!r}; choose {', '.join(FLIPS)}")
        pairs = pairs.complete()
        indices = np.stack([_indices(side) for side in (pairs.partial, pairs.full)], axis=1)
        _check_columns(indices, partial, full, pairs.names, pairs.source)
        notes = [*pairs.partial.notes, *pairs.full.notes, *pairs.notes]
        placed = []
        for side, mesh, given in (("partial", partial, pairs.partial), ("full", full, pairs.full)):
            flipped = flip in (side, "both")
            landmarks = given.flipped() if flipped else given
            notes += _axes_notes(landmarks, mesh, flipped)
            placed.append(landmarks.on(mesh, side))
        (on_partial, partial_gaps), (on_full, full_gaps) = placed
        return cls(
            on_partial,
            on_full,
            pairs.names,
            np.stack([partial_gaps, full_gaps], axis=1),
            pairs.source,
            tuple(dict.fromkeys(notes)),
            indices,
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
        _check_columns(pairs, partial, full, names, source)
        names = names or numbered(len(pairs))
        return cls(
            at_vertices(partial, pairs[:, 0], names, source),
            at_vertices(full, pairs[:, 1], names, source),
            names,
            np.zeros((len(pairs), 2)),
            source,
            indices=pairs,
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
        if len(partial_positions) != len(full_positions):
            raise InputError(
                f"{source}: {len(partial_positions)} positions on {partial.name} but "
                f"{len(full_positions)} on {full.name}; anchors come in pairs"
            )
        names = names or numbered(len(partial_positions))
        placed = []
        for side, mesh, given in (
            ("partial", partial, partial_positions),
            ("full", full, full_positions),
        ):
            positions = np.asarray(given, dtype=np.float64).reshape(-1, 3)
            placed.append(projected(mesh, positions, names, source, side=side))
        (on_partial, partial_gaps), (on_full, full_gaps) = placed
        return cls(on_partial, on_full, names, np.stack([partial_gaps, full_gaps], axis=1), source)

    def vertices(self, partial: Mesh, full: Mesh) -> np.ndarray:
        """(m, 2) vertices as they were given, or the nearest ones of other points."""
        nearest = self.partial.nearest_vertex(partial), self.full.nearest_vertex(full)
        given = np.full((len(self), 2), -1) if self.indices is None else self.indices
        return np.where(given >= 0, given, np.stack(nearest, axis=1))

    def landmarks(self, partial: Mesh, full: Mesh) -> LandmarkPairs:
        """The pairs as landmarks, to be written."""
        # Names that only count the rows are none.
        counted = self.names == numbered(len(self))
        names = () if counted else self.names
        return LandmarkPairs(
            Landmarks.at(partial, self.partial, names, self.source),
            Landmarks.at(full, self.full, names, self.source),
            self.names,
            source=self.source,
        )


def read_anchors(files: Files, partial: Mesh, full: Mesh, flip: str = "none") -> Anchors:
    """Read anchors from one file of pairs, or from two files of landmarks (partial, full).

    A CSV of pairs has the columns ``partial,full`` (vertex indices counted from 0) or
    ``partial_x, partial_y, partial_z, full_x, full_y, full_z`` (coordinates, projected to the
    surfaces), and optionally ``name``. All formats: docs/files.md.

    Parameters
    ----------
    files : path, or two paths
        The suffixes choose the formats.
    flip : {"none", "partial", "full", "both"}
        Where to negate x and y of the coordinates, for files in LPS and meshes in RAS.
    """
    return Anchors.read(files, partial, full, flip)


def write_anchors(
    files: Files,
    anchors: Anchors | np.ndarray,
    partial: Mesh | None = None,
    full: Mesh | None = None,
) -> tuple[str, ...]:
    """Write anchors to one file of pairs, or to two files of landmarks (partial, full).

    Parameters
    ----------
    anchors : Anchors, or (m, 2) int array of vertices
        In an array, a full index of -1 is a point still to be marked.
    partial, full : Mesh, optional
        Needed for `Anchors`, and where the format holds no vertices.

    Returns
    -------
    tuple of str
        What the format could not keep.
    """
    if not isinstance(anchors, Anchors):
        columns = np.transpose(anchors)
        own, other = (Landmarks.at_vertices(column, source="anchors") for column in columns)
        pairs = LandmarkPairs(own, other, own.names, source="anchors")
    elif partial is None or full is None:
        raise InputError("give both meshes, to write anchors that lie on them")
    else:
        pairs = anchors.landmarks(partial, full)
    return write_pairs(files, pairs, partial, full)


def first_few(sentences: Sequence[str]) -> list[str]:
    """Sentences of one kind about anchors; of many the first, and how many more there are."""
    more = len(sentences) - _SAID
    if more <= 0:
        return list(sentences)
    return [*sentences[:_SAID], f"the same holds for {more} more anchors"]


def _indices(landmarks: Landmarks) -> np.ndarray:
    """(m,) vertices that were given as such; -1 where a point was given otherwise."""
    return np.where(landmarks.kind == VERTEX, landmarks.vertex, -1)


def _check_columns(
    pairs: np.ndarray, partial: Mesh, full: Mesh, names: tuple[str, ...], source: str
) -> None:
    """Refuse (m, 2) vertices that fit the meshes only with the columns exchanged."""
    sizes = np.array([partial.n_vertices, full.n_vertices])
    # Off by one they count from 1, which is said elsewhere.
    if not len(pairs) or pairs.min() < 0 or (pairs <= sizes).all():
        return
    if (pairs[:, ::-1] < sizes).all():
        row, side = np.argwhere(pairs >= sizes)[0]
        raise InputError(
            f"{source}: anchor {(names or numbered(len(pairs)))[row]} refers to vertex "
            f"{pairs[row, side]} of {(partial, full)[side].name}, which has vertices 0 to "
            f"{sizes[side] - 1}; with the columns exchanged all would fit: give the vertex of "
            f"{partial.name} first, that of {full.name} second"
        )


def _axes_notes(landmarks: Landmarks, mesh: Mesh, flipped: bool) -> list[str]:
    """What was made of the axes that a file names; points on the surface do not prove them."""
    if not (landmarks.axes and (landmarks.kind == POSITION).any()):
        return []
    if flipped:
        before = OPPOSITE_AXES[landmarks.axes]
        return [f"{landmarks.source}: converted from {before} to {landmarks.axes} for {mesh.name}"]
    return [
        f"{landmarks.source}: its coordinates are in {landmarks.axes} and used unchanged, so "
        f"{mesh.name} must be in {landmarks.axes} too"
    ]
