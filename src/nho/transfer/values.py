"""Data of a mesh at points on it: scalars are interpolated, labels never.

A point lies in a triangle with a weight for each corner. Scalars, vectors and colours are the
weighted mean of the corners. Labels and selections are what most of the weight says. Corners
without data do not count; if they have more than half of the weight, the point has no data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.io.attributes import Attributes, kind_of
from nho.io.meshes.model import nodata_like
from nho.io.meshes.polygons import whole_numbers

_ENOUGH = 0.5  # of the weight must be at corners with data


@dataclass(frozen=True)
class Carried:
    """Values that came from another mesh.

    Attributes
    ----------
    values : (n,) or (n, k) array
        Where nothing came: NaN, -1 for labels (one less than the least label if that is
        negative), "" for texts, False for selections, grey for colours.
    known : (n,) bool array
        Where something came.
    """

    values: np.ndarray
    known: np.ndarray


def vertex_data_at(
    points: SurfacePoints, mesh: Mesh, values: np.ndarray, known: np.ndarray | None = None
) -> Carried:
    """Vertex data (n,) or (n, k) of ``mesh`` at points on it.

    Parameters
    ----------
    known : (n,) bool array, optional
        Vertices that have data. Floats that are not finite are no data either way.
    """
    values, has_data = _checked(values, known, mesh.n_vertices, f"{mesh.name}: vertex data")
    corners = mesh.faces[points.face]
    weights = np.where(has_data[corners], np.nan_to_num(points.barycentric), 0.0)
    weights[points.face < 0] = 0
    total = weights.sum(axis=1)
    there = total >= _ENOUGH
    out = nodata_like(values, len(points))
    if kind_of(values) in ("label", "selection"):
        corner = _heaviest(values[corners[there]], weights[there])
        out[there] = values[corners[there, corner]]
    else:
        mean = _mean(values, has_data, corners[there], weights[there] / total[there, None])
        out[there] = np.rint(mean) if kind_of(values) == "colour" else mean
    return Carried(out, there)


def face_data_at(
    points: SurfacePoints, mesh: Mesh, values: np.ndarray, known: np.ndarray | None = None
) -> Carried:
    """Face data (m,) or (m, k) of ``mesh`` at points on it: that of the face around each."""
    values, has_data = _checked(values, known, mesh.n_faces, f"{mesh.name}: face data")
    there = (points.face >= 0) & has_data[points.face]
    out = nodata_like(values, len(points))
    out[there] = values[points.face[there]]
    return Carried(out, there)


def _mean(
    values: np.ndarray, has_data: np.ndarray, corners: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Weighted mean of the corners; a NaN at a corner without weight must not count."""
    columns = (1,) * (values.ndim - 1)
    finite = np.where(has_data.reshape(-1, *columns), values, 0).astype(np.float64)
    return np.asarray((weights.reshape(*weights.shape, *columns) * finite[corners]).sum(axis=1))


def _heaviest(labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(n,) corner whose label has most of the weights; of equals the one with the larger weight.

    ``labels`` are (n, 3) or (n, 3, k), ``weights`` (n, 3).
    """
    same = labels[:, :, None] == labels[:, None, :]
    if same.ndim == 4:
        same = same.all(axis=3)
    votes = (same * weights[:, None, :]).sum(axis=2)
    best = votes == votes.max(axis=1, keepdims=True)
    return np.asarray(np.where(best, weights, -1.0).argmax(axis=1))


def _checked(
    values: np.ndarray, known: np.ndarray | None, count: int, what: str
) -> tuple[np.ndarray, np.ndarray]:
    """The values, and which rows hold data."""
    values = np.asarray(values)
    if values.ndim not in (1, 2) or len(values) != count or values.dtype.kind not in "fiubU":
        raise InputError(
            f"{what} of type {values.dtype} and shape {values.shape} do not fit; give {count} rows "
            "of numbers, labels or bools"
        )
    has_data = np.ones(count, dtype=bool)
    if values.dtype.kind == "f":
        has_data = np.isfinite(values).reshape(count, -1).all(axis=1)
    if known is not None:
        known = np.asarray(known)
        if known.shape != (count,) or known.dtype != bool:
            raise InputError(f"{what}: the mask must be {count} bools")
        has_data = has_data & known
    return values, has_data


def as_labels(attributes: Attributes, names: Iterable[str], where: str) -> Attributes:
    """The same with some attributes as labels; they must be integers, NaN is no data (-1)."""
    return _changed(attributes, names, where, _labels)


def as_scalars(attributes: Attributes, names: Iterable[str], where: str) -> Attributes:
    """The same with some attributes as numbers to be interpolated."""
    return _changed(attributes, names, where, _scalars)


def _changed(
    attributes: Attributes,
    names: Iterable[str],
    where: str,
    change: Callable[[np.ndarray, str], np.ndarray],
) -> Attributes:
    chosen = set(names)
    for name in sorted(chosen):
        attributes.check_name(name, where)
        if name not in attributes.vertex and name not in attributes.face:
            raise InputError(f"{where}: {name!r} are texture coordinates and nothing else")
    groups = [
        {
            name: change(array, f"{where}: attribute {name!r}") if name in chosen else array
            for name, array in group.items()
        }
        for group in (attributes.vertex, attributes.face)
    ]
    return attributes.replace(vertex=groups[0], face=groups[1])


def _labels(values: np.ndarray, what: str) -> np.ndarray:
    if values.dtype.kind in "bU":
        return values
    if values.dtype.kind in "iu":  # bytes in three columns would pass for colours
        return values if values.dtype != np.uint8 else values.astype(np.int32)
    known = ~np.isnan(values)
    whole = whole_numbers(values[known])
    if whole is None:
        bad = values[known][values[known] != np.floor(values[known])]
        shown = f"{bad[0]:g}" if len(bad) else "a number that is too large"
        raise InputError(f"{what} holds {shown}; labels are whole numbers")
    labels = np.full(values.shape, min(-1, int(whole.min(initial=0)) - 1), dtype=np.int64)
    labels[known] = whole
    return labels


def _scalars(values: np.ndarray, what: str) -> np.ndarray:
    if values.dtype.kind == "U":
        raise InputError(f"{what} holds text, which cannot be averaged; leave it out of --scalars")
    return values if values.dtype.kind == "f" else values.astype(np.float64)
