"""Files of points without faces: XYZ, PTS, NPY, LAS, LAZ and E57.

Points keep their order. Columns behind x, y and z are normals if there are three and their rows
have length one; other columns (colours, intensities) are left alone.
"""

from __future__ import annotations

import io
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from nho.errors import InputError
from nho.io.meshes.model import ParsedMesh
from nho.io.meshes.polygons import FloatArray

_UNIT = 1e-2  # how far from one the length of a normal may be


def read_xyz(data: bytes, name: str, folder: Path) -> ParsedMesh:
    """Text with a point a line; the numbers are separated by spaces, tabs or commas."""
    return _cloud(_table(data, name), name)


def read_pts(data: bytes, name: str, folder: Path) -> ParsedMesh:
    """Text like XYZ, the first line says how many points follow."""
    first, _, rest = data.lstrip().partition(b"\n")
    try:
        count = int(first)
    except ValueError:
        return _cloud(_table(data, name), name)  # some leave the count out
    rows = _table(rest, name)
    if len(rows) != count:
        raise InputError(
            f"{name}: its first line promises {count} points but {len(rows)} follow; copy or "
            "export it again"
        )
    return _cloud(rows, name)


def read_npy(data: bytes, name: str, folder: Path) -> ParsedMesh:
    """An array of (n, 3) points, or (n, 6) with normals."""
    rows = np.load(io.BytesIO(data), allow_pickle=False)
    if rows.ndim != 2 or rows.shape[1] < 3 or rows.dtype.kind not in "fiu":
        raise InputError(
            f"{name}: the array has type {rows.dtype} and shape {rows.shape} but points need "
            "numbers of shape (n, 3); save x, y and z"
        )
    return _cloud(rows.astype(np.float64), name)


def read_las(data: bytes, name: str, folder: Path) -> ParsedMesh:
    """LAS and LAZ, in the unit and the offset of their headers."""
    laspy = _package("laspy", name)
    points = laspy.read(io.BytesIO(data))
    return _cloud(np.asarray(points.xyz, dtype=np.float64), name)


def read_e57(data: bytes, name: str, folder: Path) -> ParsedMesh:
    """All scans of an E57 file, one after the other, in its common frame."""
    package = _package("pye57", name)
    file = package.E57(str(folder / name))  # its library opens files only by their names
    try:
        scans = [file.read_scan(i, ignore_missing_fields=True) for i in range(file.scan_count)]
    finally:
        file.close()
    axes = ("cartesianX", "cartesianY", "cartesianZ")
    rows = [np.column_stack([scan[axis] for axis in axes]) for scan in scans]
    return _cloud(np.concatenate(rows).astype(np.float64), name)


def _table(data: bytes, name: str) -> FloatArray:
    """(n, k) numbers out of lines of text."""
    try:
        return np.loadtxt(io.BytesIO(data.replace(b",", b" ")), ndmin=2, comments=("#", "//"))
    except ValueError as problem:
        reason = str(problem).splitlines()[0][:160]
        raise InputError(f"{name}: {reason}; every line needs x, y and z, in numbers") from None


def _cloud(rows: FloatArray, name: str) -> ParsedMesh:
    if rows.shape[1] < 3:
        raise InputError(f"{name}: it has {rows.shape[1]} numbers a line; points need x, y and z")
    points, normals = np.ascontiguousarray(rows[:, :3]), None
    if rows.shape[1] == 6:
        length = np.linalg.norm(rows[:, 3:], axis=1)
        if (np.abs(length - 1) < _UNIT).all():
            normals = np.ascontiguousarray(rows[:, 3:])
    return ParsedMesh(points, np.empty((0, 3), dtype=np.int64), normals=normals)


def _package(package: str, name: str) -> Any:
    """A package that reads a format; it belongs to the extra ``points``."""
    try:
        return import_module(package)
    except ModuleNotFoundError:
        raise InputError(
            f"{name}: {package} reads such files and is not installed; run "
            "`pip install 'nho[points]'`, or export it as PLY"
        ) from None
