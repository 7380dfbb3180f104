"""Pairs of vertex indices, from whatever array holds them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nho.errors import InputError


def index_pairs(pairs: object, names: Sequence[str], source: str) -> np.ndarray:
    """(m, 2) int64 vertex indices (partial, full); ``names`` are for the message and may be ()."""
    try:
        array = np.asarray(pairs)
    except ValueError:
        raise InputError(f"{source}: anchors must be pairs of vertex indices") from None
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(
            f"{source}: anchors must be an (m, 2) array of vertex indices (partial, full), "
            f"not of shape {array.shape}"
        )
    if array.dtype.kind not in "iu":
        whole = np.zeros(array.shape, dtype=bool)
        if array.dtype.kind == "f":
            whole = (np.abs(array) < 2.0**53) & (array == np.floor(array))
        if not whole.all():
            row = int(np.flatnonzero(~whole.all(axis=1))[0])
            raise InputError(
                f"{source}: anchor {names[row] if len(names) else row} is "
                f"{tuple(array[row].tolist())}, not a pair of vertex indices; give whole numbers"
            )
    return array.astype(np.int64)
