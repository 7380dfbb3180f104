"""Whether the files of a stored result can be computed with, and fit each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nho.errors import InputError

if TYPE_CHECKING:
    from nho.problem.result import MatchResult


def check_description(result: MatchResult) -> None:
    """Raise unless what came from JSON can be computed with and fits the arrays."""
    n_partial, n_full = len(result.vertex_map), len(result.region)
    curves = list(result.curves.values())
    fits = {
        "anchors": bool(((result.anchors >= 0) & (result.anchors < (n_partial, n_full))).all()),
        "anchor_names": len(result.anchor_names) in (0, len(result.anchors)),
        "suspect_anchors": all(0 <= row < len(result.anchors) for row in result.suspect_anchors),
        "next_anchor": result.next_anchor == -1 or 0 <= result.next_anchor < n_partial,
        "scale": 0 < result.scale < float("inf"),
        "chance": 0 <= result.chance <= 1,
        "alternatives": all(0 <= each.chance <= 1 for each in result.alternatives),
        "timings": all(isinstance(seconds, int | float) for seconds in result.timings.values()),
        "curves": all(isinstance(curve, list) for curve in curves)
        and all(isinstance(step, dict) for curve in curves for step in curve),
    }
    for name, fit in fits.items():
        if not fit:
            raise InputError(
                f"{name!r} in result.json is invalid or contradicts result.npz; run the match again"
            )


def check_arrays(arrays: dict[str, np.ndarray], names: Sequence[str]) -> None:
    """Raise unless the arrays have the kinds and shapes of the contract."""
    for name in names:
        if name not in arrays or arrays[name].ndim == 0:
            raise InputError(f"array {name!r} of result.npz is missing; run the match again")
    n_partial, n_full = arrays["vertex_map"].shape[0], arrays["region"].shape[0]
    shapes = {
        "vertex_map": ("i", (n_partial,)),
        "face": ("i", (n_partial,)),
        "barycentric": ("f", (n_partial, 3)),
        "confidence": ("f", (n_partial,)),
        "overlap": ("f", (n_partial,)),
        "region": ("b", (n_full,)),
        "region_score": ("f", (n_full,)),
    }
    for name, (kind, shape) in shapes.items():
        if arrays[name].dtype.kind != kind or arrays[name].shape != shape:
            raise InputError(
                f"array {name!r} of result.npz has type {arrays[name].dtype} and shape "
                f"{arrays[name].shape}, expected type {kind!r} and shape {shape}; run the match "
                "again"
            )
    if len(arrays["vertex_map"]) and arrays["vertex_map"].max() >= n_full:
        raise InputError("vertex_map points beyond the full mesh; run the match again")
    for name in ("vertex_map", "face"):
        if (arrays[name] < -1).any():
            raise InputError(f"{name} has an index below -1; run the match again")
