"""Small readers that all data sets share; a fault is one sentence with file and remedy."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import IntArray, Mesh
from nho.runtime.input_file import LARGE, read_text
from nho.runtime.npz import load_arrays

GUIDE = "see docs/datasets.md"


def first_there(candidates: Iterable[Path]) -> Path | None:
    """The first path that exists."""
    return next((path for path in candidates if path.exists()), None)


def mesh_at(path: Path) -> Mesh:
    """A mesh of the data set."""
    _must_exist(path)
    return Mesh.read(path)


def lines_of(path: Path) -> list[str]:
    """The lines of a text file that are not empty."""
    _must_exist(path)
    return [line for line in read_text(path, LARGE).splitlines() if line.strip()]


def numbers_in(path: Path, columns: int) -> np.ndarray:
    """(n, columns) float array of a text file."""
    _must_exist(path)
    try:
        table = np.loadtxt(lines_of(path), ndmin=2)
    except ValueError as problem:
        raise InputError(f"{path}: is no table of numbers ({problem}); download it anew") from None
    if table.shape[1] != columns or not np.isfinite(table).all():
        raise InputError(f"{path}: expected {columns} numbers in every row; download it anew")
    return table


def indices_in(path: Path, columns: int = 1) -> IntArray:
    """(n,) or (n, columns) int array of a text file; ``2.279e+03`` is a whole number too."""
    table = numbers_in(path, columns)
    whole = np.floor(table)
    bad = np.flatnonzero((whole != table).any(axis=1))
    if len(bad):
        raise InputError(f"{path}: row {bad[0]} is not a whole number; download the file anew")
    found: IntArray = whole.astype(np.int64)
    return found[:, 0] if columns == 1 else found


def arrays_in(path: Path, *names: str) -> list[np.ndarray]:
    """The named arrays of an ``.npz`` file."""
    _must_exist(path)
    try:
        found = load_arrays(path, names)
    except Exception as problem:
        raise InputError(
            f"{path}: cannot be read as an .npz file ({problem}); copy it again"
        ) from problem
    missing = [name for name in names if name not in found]
    if missing:
        raise InputError(f"{path}: has no array {missing[0]!r}; {GUIDE}")
    return [found[name] for name in names]


def in_range(indices: np.ndarray, count: int, path: Path, of: str) -> np.ndarray:
    """The indices, if all of them are 0 ... count - 1; ``of`` says what they count."""
    bad = np.flatnonzero((indices < 0) | (indices >= count))
    if len(bad):
        raise InputError(
            f"{path}: row {bad[0]} names number {indices[bad[0]]} of {of}, which has 0 to "
            f"{count - 1} (counted from 0); do the two files belong together?"
        )
    return indices


def same_count(rows: int, wanted: int, path: Path, of: str) -> None:
    """Refuse a truth whose rows are not those of its shape."""
    if rows != wanted:
        raise InputError(
            f"{path}: has {rows} rows, but {of} asks for {wanted}; is it the truth of another pair?"
        )


def _must_exist(path: Path) -> None:
    if not path.exists():
        raise InputError(f"{path}: not found, though other files of its data set are; {GUIDE}")
