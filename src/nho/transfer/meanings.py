"""Attributes whose type does not tell what they mean: labels as floats, counts as labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from nho.errors import InputError
from nho.io.attributes import Attributes
from nho.io.meshes.polygons import whole_numbers


def as_labels(attributes: Attributes, names: Iterable[str], where: str) -> Attributes:
    """The same with some attributes as labels; their numbers must be whole, NaN is no data (-1)."""
    return _changed(attributes, names, where, _whole)


def as_scalars(attributes: Attributes, names: Iterable[str], where: str) -> Attributes:
    """The same with some attributes as numbers to be interpolated."""
    return _changed(attributes, names, where, _float)


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


def _whole(values: np.ndarray, what: str) -> np.ndarray:
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


def _float(values: np.ndarray, what: str) -> np.ndarray:
    if values.dtype.kind == "U":
        raise InputError(f"{what} holds words, which have no mean; leave them labels")
    return values if values.dtype.kind == "f" else values.astype(np.float64)
