"""Anchors from files and to files."""

from __future__ import annotations

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.landmarks import Files, LandmarkPairs, Landmarks, write_pairs
from nho.problem.anchors import Anchors


def read_anchors(files: Files, partial: Mesh, full: Mesh, flip: str = "none") -> Anchors:
    """Read anchors from one file of pairs, or from two files of landmarks (partial, full).

    A CSV of pairs has the columns ``partial,full`` (vertex indices counted from 0) or
    ``partial_x, partial_y, partial_z, full_x, full_y, full_z`` (coordinates, projected to the
    surfaces), and optionally ``name``. All formats: docs/files.md.
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
        pairs = _pairs_of(np.asarray(anchors))
    elif partial is None or full is None:
        raise InputError("give both meshes, to write anchors that lie on them")
    else:
        pairs = anchors.landmarks(partial, full)
    return write_pairs(files, pairs, partial, full)


def _pairs_of(vertices: np.ndarray) -> LandmarkPairs:
    partial, full = (Landmarks.at_vertices(column, source="anchors") for column in vertices.T)
    return LandmarkPairs(partial, full, partial.names, source="anchors")
