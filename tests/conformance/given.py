"""What a class is made of, and the clean pair that every class is a variation of.

The clean pair is a closed bumpy sphere and a piece of it. Its answer is known, so the answer of
every variation can be held against it through the vertices they share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import Cut, bumpy_sphere, cut_by_plane

REFUSED, REPAIRED, WARNED, ACCEPTED = "refused", "repaired", "warned", "accepted"
OUTCOMES = (REFUSED, REPAIRED, WARNED, ACCEPTED)

WHOLE = bumpy_sphere(2, seed=3)
PIECE = cut_by_plane(WHOLE, np.array([0.2, 0.5, 1.0]), keep_area=0.8)


def anchors_of(cut: Cut, count: int = 16) -> np.ndarray:
    """(count, 2) true pairs, spread over the piece."""
    chosen = sample_vertices(cut.mesh, count)
    return np.stack([chosen, cut.vertex_of_parent[chosen]], axis=1)


PAIRS = anchors_of(PIECE)


@dataclass(frozen=True)
class Shape:
    """A mesh as a user has it: arrays, or the bytes of a file.

    Attributes
    ----------
    place : (n,) int array
        Vertex of this shape for every vertex of the clean one; -1 = it is not there.
    twins : (k, 2) int array
        Vertices of this shape that are one point and must have one answer.
    left_out : (k,) int array
        Vertices of this shape that cannot have an answer.
    file : bytes or None
        What the file holds; None = arrays, written as binary PLY where a file is wanted.
    name : str
        Of the file, without folder; "" = the usual one.
    """

    vertices: Any
    faces: Any
    place: np.ndarray
    twins: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), dtype=int))
    left_out: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))
    file: bytes | None = None
    name: str = ""


def clean_piece() -> Shape:
    """The clean partial shape."""
    return same_order(PIECE.mesh.vertices.copy(), PIECE.mesh.faces.copy(), len(PIECE.mesh.vertices))


def clean_whole() -> Shape:
    """The clean full shape."""
    return same_order(WHOLE.vertices.copy(), WHOLE.faces.copy(), len(WHOLE.vertices))


def same_order(vertices: Any, faces: Any, n: int, **more: Any) -> Shape:
    """A shape whose first ``n`` vertices are the clean ones."""
    return Shape(vertices, faces, np.arange(n), **more)


@dataclass(frozen=True)
class Given:
    """All that is given to one match.

    Attributes
    ----------
    anchors : (m, 2) array; or a CSV file as text, bytes or a name that does not exist (Path); or
        files by name (dict): one of pairs, or two of landmarks
    cut : Cut
        The clean pair that this one is a variation of.
    out : str
        Output folder.
    """

    partial: Shape = field(default_factory=clean_piece)
    full: Shape = field(default_factory=clean_whole)
    anchors: Any = None
    cut: Cut = PIECE
    out: str = "result"

    def pairs(self) -> Any:
        """The anchors as given, or the clean ones in the numbering of the shapes."""
        if self.anchors is not None:
            return self.anchors
        pairs = PAIRS if self.cut is PIECE else anchors_of(self.cut)
        return np.stack([self.partial.place[pairs[:, 0]], self.full.place[pairs[:, 1]]], axis=1)


@dataclass(frozen=True)
class Case:
    """One class: how it is made, what comes of it, and what the user is told.

    Attributes
    ----------
    name : str
        As in the table of docs/input.md.
    outcome : str
        One of OUTCOMES.
    words : tuple of str
        Parts of the message: the index where there is one, the finding, the remedy.
    told : str
        What happens, in words, as in the table.
    culprit : str
        ``"partial"``, ``"full"``, ``"anchors"`` or ``"pair"``: what the message is about.
    arrays_only : bool
        No file can hold this.
    error : float
        Mean distance of interior images from the truth that is allowed, in mean edges.
    paper : bool
        Try the paper's recipe as well.
    strained : bool
        The shapes do not fit, so the place may be doubted besides.
    """

    name: str
    outcome: str
    make: Callable[[], Given]
    words: tuple[str, ...]
    told: str
    culprit: str = "partial"
    arrays_only: bool = False
    error: float = 0.1
    paper: bool = False
    strained: bool = False
