"""Landmarks and pairs from files and to files; the suffix chooses the format."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.landmarks import (
    amira,
    ljson,
    meshlab,
    morphologika,
    own_json,
    pts,
    slicer,
    table,
    tps,
    wrap,
)
from nho.io.landmarks.pairing import LandmarkPairs, pair_up
from nho.io.landmarks.parsing import document_of, listed
from nho.io.landmarks.points import Landmarks
from nho.io.landmarks.rows import VERTEX
from nho.runtime.atomic_file import write_whole
from nho.runtime.input_file import SMALL, blaming, read_bytes

PathLike = str | Path
Files = PathLike | Sequence[PathLike]


@dataclass(frozen=True)
class Format:
    """One kind of file.

    Attributes
    ----------
    title : str
    read : from (content, name for messages) to landmarks.
    write : from landmarks, whose points are of a kind that the format holds, to content.
    kinds : kinds of points that it holds: ``"positions"``, ``"faces"``, ``"any"``, or
        ``"one kind"`` (all vertices or all positions).
    named : whether it holds names of points.
    """

    title: str
    read: Callable[[bytes, str], Landmarks]
    write: Callable[[Landmarks], bytes]
    kinds: str
    named: bool = True


def _from_json(parse: Callable[[Any, str], Landmarks]) -> Callable[[bytes, str], Landmarks]:
    return lambda data, name: parse(document_of(data, name), name)


def _parse_any(document: Any, name: str) -> Landmarks:
    """Any of the formats that are JSON; the content says which."""
    if own_json.holds_pairs(document):
        raise InputError(f"{name}: it holds pairs; a file of pairs is given alone")
    parse = own_json.parse
    if isinstance(document, dict) and "points" not in document:
        by_key = {"markups": slicer.parse_markups, "version": ljson.parse}
        parse = next((by_key[key] for key in by_key if key in document), wrap.parse)
    elif isinstance(document, list) and any(isinstance(entry, list) for entry in document):
        parse = wrap.parse
    return parse(document, name)


FORMATS = {
    ".csv": Format("CSV", table.read, table.write, "one kind"),
    ".json": Format("JSON", _from_json(_parse_any), own_json.write, "any"),
    ".mrk.json": Format(
        "3D Slicer", _from_json(slicer.parse_markups), slicer.write_markups, "positions"
    ),
    ".fcsv": Format("3D Slicer, older", slicer.read_fcsv, slicer.write_fcsv, "positions"),
    ".pp": Format("MeshLab", meshlab.read, meshlab.write, "positions"),
    ".ljson": Format("landmarker.io", _from_json(ljson.parse), ljson.write, "positions"),
    ".txt": Format("Faceform Wrap", wrap.read, wrap.write, "faces"),
    ".morphologika.txt": Format(
        "Morphologika", morphologika.read, morphologika.write_one, "positions", named=False
    ),
    ".tps": Format("TPS", tps.read, tps.write_one, "positions", named=False),
    ".pts": Format("Landmark Editor", pts.read, pts.write, "positions"),
    ".landmarkascii": Format("Amira", amira.read, amira.write, "positions", named=False),
}
READABLE = WRITABLE = tuple(FORMATS)
PAIR_FILES = (".csv", ".json")  # they hold both shapes


def read_landmarks(path: PathLike) -> Landmarks:
    """The points of one shape."""
    file = FORMATS[suffix_of(path)]
    with blaming(path):
        landmarks = file.read(read_bytes(path, SMALL), str(path))
    if not len(landmarks):
        raise InputError(f"{path}: there are no points in this file; mark matching points")
    return landmarks


def write_landmarks(
    path: PathLike, landmarks: Landmarks, mesh: Mesh | None = None
) -> tuple[str, ...]:
    """Write the points of one shape; the file appears only when it is complete.

    Parameters
    ----------
    mesh : Mesh, optional
        Needed where the format holds another kind of point than the landmarks do.

    Returns
    -------
    tuple of str
        What the format could not keep.
    """
    content, notes = _written(path, landmarks, mesh)
    _write(Path(path), content)
    return notes


def read_pairs(files: Files, unfinished: bool = False) -> LandmarkPairs:
    """Pairs of points from one file of pairs, or from two files of points (partial, full).

    Parameters
    ----------
    unfinished : bool
        Empty cells of a CSV are points still to be marked, for editors; else they are refused.
    """
    paths = _one_or_two(files)
    if len(paths) == 2:
        return pair_up(*map(read_landmarks, paths))
    path, name = paths[0], str(paths[0])
    with blaming(path):
        if suffix_of(path) == ".csv":
            return table.read_pairs(read_bytes(path, SMALL), name, unfinished)
        if holds_pairs(path):
            pairs = own_json.parse_pairs(document_of(read_bytes(path, SMALL), name), name)
            if not len(pairs):
                raise InputError(f"{path}: there are no pairs in this file; mark matching points")
            return pairs
    raise InputError(
        f"{path}: it holds the points of one shape; give two such files, first that of the partial "
        "shape, then that of the full one"
    )


def holds_pairs(path: PathLike) -> bool:
    """Whether a file is one of pairs, not of the points of one shape."""
    suffix = suffix_of(path)
    if suffix not in PAIR_FILES:
        return False
    with blaming(path):
        data = read_bytes(path, SMALL)
        if suffix == ".csv":
            return table.holds_pairs(data, str(path))
        return own_json.holds_pairs(document_of(data, str(path)))


def write_pairs(
    files: Files, pairs: LandmarkPairs, partial: Mesh | None = None, full: Mesh | None = None
) -> tuple[str, ...]:
    """Write pairs to one file of pairs (.csv, .json), or to two files of points (partial, full).

    Returns
    -------
    tuple of str
        What the formats could not keep.
    """
    paths = _one_or_two(files)
    if len(paths) == 2:
        if os.path.abspath(paths[0]) == os.path.abspath(paths[1]):
            raise InputError(f"{paths[0]}: both shapes would go to this file; give two names")
        # Both are made before one is written, so that a refusal leaves nothing behind.
        sides = ((pairs.partial, partial), (pairs.full, full))
        made = [_written(path, *side) for path, side in zip(paths, sides, strict=True)]
        for path, (content, _) in zip(paths, made, strict=True):
            _write(path, content)
        return (*made[0][1], *made[1][1])
    (path,), suffix = paths, suffix_of(paths[0])
    if suffix not in PAIR_FILES:
        raise InputError(
            f"{path}: a {FORMATS[suffix].title} file holds the points of one shape; give two files "
            f"or one with the suffix {' or '.join(PAIR_FILES)}"
        )
    if suffix == ".csv" and not all(map(_only_vertices, (pairs.partial, pairs.full))):
        sides_by_position = pairs.partial.by_position(partial), pairs.full.by_position(full)
        pairs = LandmarkPairs(*sides_by_position, pairs.names, pairs.notes, pairs.source)
    write = table.write_pairs if suffix == ".csv" else own_json.write_pairs
    _write(path, write(pairs))
    return ()


def suffix_of(path: PathLike) -> str:
    """The suffix that decides the format, in lower case."""
    name = Path(path).name.lower()
    for suffix in sorted(FORMATS, key=len, reverse=True):
        if name.endswith(suffix):
            return suffix
    raise InputError(
        f"{path}: landmarks are files with the suffix {', '.join(FORMATS)}; give one of these"
    )


def _written(
    path: PathLike, landmarks: Landmarks, mesh: Mesh | None
) -> tuple[bytes, tuple[str, ...]]:
    """The content of a file of one shape, and what it does not keep."""
    suffix = suffix_of(path)
    file = FORMATS[suffix]
    known = len(landmarks.notes)
    by_vertex = _only_vertices(landmarks) and not landmarks.facts
    if file.kinds == "positions" or (file.kinds == "one kind" and not by_vertex):
        landmarks = landmarks.by_position(mesh)
    elif file.kinds == "faces":
        landmarks = landmarks.by_face(mesh)
    notes = landmarks.notes[known:]
    gone = landmarks.missing_names()
    if gone and suffix == ".txt":
        notes += (f"{path}: points that are not set are left out ({listed(gone)})",)
    if landmarks.named and not file.named:
        notes += (f"{path}: {file.title} files hold no names; the points keep their order",)
    return file.write(landmarks), notes


def _only_vertices(landmarks: Landmarks) -> bool:
    return bool((landmarks.kind[landmarks.defined] == VERTEX).all())


def _one_or_two(files: Files) -> list[Path]:
    paths = [files] if isinstance(files, str | Path) else list(files)
    if not 1 <= len(paths) <= 2:
        raise InputError(
            f"{len(paths)} files of anchors were given; give one file of pairs, or two: first the "
            "points of the partial shape, then those of the full one"
        )
    return [Path(path) for path in paths]


def _write(path: Path, content: bytes) -> None:
    # A missing folder is more often a typo than a wish for a new one.
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; make it first")
    write_whole(path, content)
