"""How "no data" is written in each kind of array.

Floats are NaN. Labels are one below zero (or one below the least label, if that is smaller), texts
are empty, selections are False and colours are grey: what a label, a colour or a selection of no
data means, only a mask can tell.
"""

from __future__ import annotations

import numpy as np

from nho.io.attributes.model import Array, kind_of

GREY = 150  # of all three channels; the colour of unmatched points in every picture


def with_room_for_nothing(values: Array) -> tuple[Array, object]:
    """The values in a type that can also say "no data", and the value that says so."""
    kind = kind_of(values)
    if kind == "scalar":
        return values, np.nan
    if kind == "colour":
        return values, np.array([GREY, GREY, GREY, 255][: values.shape[1]], dtype=np.uint8)
    if kind == "selection":
        return values, False
    if values.dtype.kind == "U":
        return values, ""
    least, largest = int(values.min(initial=0)), int(values.max(initial=0))
    fill = min(-1, least - 1)
    for wanted in (values.dtype, np.dtype(np.int32), np.dtype(np.int64)):
        limits = np.iinfo(wanted)
        if limits.min <= fill and largest <= limits.max:
            return values.astype(wanted), fill
    return values, 0  # the largest of numbers: nothing is left but the mask


def empty_like(values: Array, count: int) -> Array:
    """(count, ...) entries of the same kind, all of them "no data"."""
    roomy, fill = with_room_for_nothing(values)
    return np.full((count, *values.shape[1:]), fill, dtype=roomy.dtype)
