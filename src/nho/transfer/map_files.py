"""The map itself as a file: a table, or a sparse matrix for NumPy, MATLAB, Julia and R."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

from nho.errors import InputError
from nho.problem.result import MatchResult
from nho.runtime.atomic_file import write_whole
from nho.transfer.carry import Transfer

MAP_FILES = (".csv", ".npz", ".mtx")


def check_map_file(path: Path) -> None:
    """Raise for a file name whose suffix stands for no format, before any work is done."""
    if path.suffix.lower() not in MAP_FILES:
        raise InputError(
            f"{path.name}: a map is written as {', '.join(MAP_FILES)}, not as {path.suffix!r}; "
            "choose one of these"
        )
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError(f"{path}: cannot be written; give a file name in a folder that exists")


def write_map(path: str | Path, carry: Transfer, result: MatchResult) -> None:
    """Write where every vertex of the target lies on the source.

    ``.csv`` has a row for each vertex of the target: the face of the source, its weights, the
    nearest vertex (NA = no partner), the confidence and the probability of a partner. ``.npz``
    (`scipy.sparse.load_npz`) and ``.mtx`` (MatrixMarket) hold `Transfer.matrix`.
    """
    path = Path(path)
    check_map_file(path)
    stream = io.BytesIO()
    if path.suffix.lower() == ".csv":
        stream.write(_table(carry, result).encode())
    elif path.suffix.lower() == ".npz":
        sp.save_npz(stream, carry.matrix())
    else:
        comment = f"{carry.source.name} to {carry.target.name}"
        scipy.io.mmwrite(stream, carry.matrix(), comment=comment, precision=17)
    write_whole(path, stream.getvalue())


def _table(carry: Transfer, result: MatchResult) -> str:
    places = carry.vertex_places
    nearest = places.nearest_vertex(carry.source)
    told = [result.confidence, result.overlap]
    if carry.target is carry.map.full:
        told = [places.interpolate(carry.source, values) for values in told]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    weights_head = ["weight_0", "weight_1", "weight_2"]
    writer.writerow(["vertex", "face", *weights_head, "nearest", "confidence", "overlap"])
    rows = zip(
        places.face.tolist(),
        places.barycentric.tolist(),
        nearest.tolist(),
        np.nan_to_num(told).T.tolist(),
        strict=True,
    )
    for vertex, (face, weights, near, chances) in enumerate(rows):
        place = ["NA"] * 5 if face < 0 else [face, *map(repr, weights), near]
        writer.writerow([vertex, *place, *map(repr, chances)])
    return text.getvalue()
