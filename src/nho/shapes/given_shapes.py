"""Shapes as they are given to a shape space: checked, and vertices that stand for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.shapes.components import SPREAD

FEWEST = 4  # shapes, and part fits


class PartFit(NamedTuple):
    """A shape of a collection as it is fitted from a part of its scan.

    Attributes
    ----------
    positions : (p, 3) float array
        In the pose and unit that the shape has in the collection.
    weights : (p,) float array
        How well every vertex is known; 0 where the part of the scan has nothing.
    """

    positions: np.ndarray
    weights: np.ndarray


def checked_shapes(
    positions: np.ndarray | Sequence[np.ndarray],
    weights: np.ndarray | Sequence[np.ndarray] | None,
    names: Sequence[str],
    template: Mesh,
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """(n, p, 3) positions, (n, p) weights and n names that belong together."""
    shapes = positions if isinstance(positions, np.ndarray) else np.stack(positions)
    known = _weights(shapes, weights)
    names = tuple(names) or tuple(str(number) for number in range(len(shapes)))
    _check(shapes, known, names, template)
    return shapes, known, names


def checked_parts(
    parts: Mapping[str, PartFit], names: tuple[str, ...], rows: np.ndarray, count: int
) -> dict[int, PartFit]:
    """Part fits by the number of their shape, at some of ``count`` vertices."""
    if parts and len(parts) < FEWEST:
        raise InputError(
            f"{len(parts)} part fits do not tell how far they are off; give at least {FEWEST}"
        )
    for name, part in parts.items():
        if name not in names:
            raise InputError(f"there is a part fit of {name!r}, but no such shape; leave it out")
        if np.shape(part.positions) != (count, 3) or np.shape(part.weights) != (count,):
            raise InputError(
                f"{name}: its part fit has positions of the shape {np.shape(part.positions)}; give "
                f"all {count} vertices, with weights"
            )
    return {
        names.index(name): PartFit(part.positions[rows], part.weights[rows])
        for name, part in parts.items()
    }


def spread_vertices(areas: np.ndarray, count: int = SPREAD) -> np.ndarray:
    """So many vertices that stand for all, drawn by the area around them."""
    if len(areas) <= count:
        return np.arange(len(areas))
    used = int(np.count_nonzero(areas))
    random = np.random.default_rng(0)
    chosen = random.choice(len(areas), min(count, used), replace=False, p=areas)
    return np.sort(chosen)


def _weights(shapes: np.ndarray, weights: np.ndarray | Sequence[np.ndarray] | None) -> np.ndarray:
    if weights is None:
        return np.broadcast_to(np.float64(1.0), shapes.shape[:2])
    return weights if isinstance(weights, np.ndarray) else np.stack(weights)


def _check(shapes: np.ndarray, weights: np.ndarray, names: tuple[str, ...], template: Mesh) -> None:
    if shapes.ndim != 3 or shapes.shape[1:] != (template.n_vertices, 3):
        raise InputError(
            f"positions have the shape {shapes.shape}; {template.name} has {template.n_vertices} "
            f"vertices, so (n, {template.n_vertices}, 3) is needed"
        )
    if len(shapes) < FEWEST:
        raise InputError(
            f"a shape space of {len(shapes)} shapes says nothing; give at least {FEWEST}"
        )
    if weights.shape != shapes.shape[:2] or len(names) != len(shapes):
        raise InputError(
            f"there are {len(shapes)} shapes, but {len(names)} names and weights of the shape "
            f"{weights.shape}; give one name and one row of weights for each shape"
        )
    for name, row in zip(names, weights, strict=True):
        if not (np.isfinite(row).all() and row.min() >= 0 and row.max() > 0):
            raise InputError(f"{name}: weights must be 0 to 1 and not all 0; leave the shape out")
