"""Landmarks in the files of other programs, and anchors made of them.

Four functions; the suffix of a file chooses its format (see docs/files.md):

``read_landmarks(path) -> Landmarks``
    The points of one shape.
``write_landmarks(path, landmarks, mesh=None) -> notes``
    The points of one shape; ``mesh`` is needed where the format holds another kind of point
    (coordinates, faces) than the landmarks do. The notes say what was not kept.
``read_pairs(files, unfinished=False) -> LandmarkPairs``
    Pairs of points: from one file of pairs, or from (file of the partial shape, file of the full
    shape). ``pairs.partial`` and ``pairs.full`` are `Landmarks`, row by row, and may miss points.
``write_pairs(files, pairs, partial=None, full=None) -> notes``
    The same the other way round; names and points inside faces are kept where the format can.

``read_specimens(path) -> Specimens`` and ``write_specimens(path, specimens)``
    The same landmarks on many shapes, in one file.

`Landmarks` come from a mesh with ``Landmarks.at(mesh, points, names)`` and go to it with
``landmarks.on(mesh)``; `pair_up(partial, full)` pairs two lists;
`nho.Anchors.read(files, partial, full)` makes anchors of files.
"""

from nho.io.landmarks.files import (
    FORMATS,
    PAIR_FILES,
    READABLE,
    WRITABLE,
    Files,
    holds_pairs,
    read_landmarks,
    read_pairs,
    suffix_of,
    write_landmarks,
    write_pairs,
)
from nho.io.landmarks.pairing import LandmarkPairs, pair_up
from nho.io.landmarks.parsing import clean_name
from nho.io.landmarks.points import Landmarks
from nho.io.landmarks.specimens import Specimens, read_specimens, write_specimens

__all__ = [
    "FORMATS",
    "PAIR_FILES",
    "READABLE",
    "WRITABLE",
    "Files",
    "LandmarkPairs",
    "Landmarks",
    "Specimens",
    "clean_name",
    "holds_pairs",
    "pair_up",
    "read_landmarks",
    "read_pairs",
    "read_specimens",
    "suffix_of",
    "write_landmarks",
    "write_pairs",
    "write_specimens",
]
