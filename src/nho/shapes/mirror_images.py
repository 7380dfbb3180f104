"""Mirror images of shapes, as further shapes: a symmetric template has two for each scan.

What is seen on the left of one individual might as well have been seen on the right of another. So
components learn from both, and how the two sides of one shape differ has no preferred side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from nho.geometry.mesh import FloatArray, Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.symmetry import Symmetry

_ACROSS = np.array([-1.0, 1.0, 1.0])  # any plane will do, since the pose of a shape is left open


class Rows(Protocol):
    """An array that is read row by row, or what can be read like one."""

    def __len__(self) -> int:
        """How many rows there are."""

    def __getitem__(self, row: int, /) -> np.ndarray:
        """One of them."""


class Shapes(NamedTuple):
    """Shapes to learn from.

    Attributes
    ----------
    positions : rows of (p, 3) floats
    weights : rows of (p,) floats
    """

    positions: Rows
    weights: Rows


class _WithImages:
    """The n given arrays and then an image of each, made when it is asked for."""

    def __init__(self, given: np.ndarray, image: Callable[[np.ndarray], FloatArray]) -> None:
        self._given, self._image = given, image

    def __len__(self) -> int:
        return 2 * len(self._given)

    def __getitem__(self, row: int, /) -> np.ndarray:
        count = len(self._given)
        if not 0 <= row < 2 * count:
            raise IndexError(row)
        return np.asarray(
            self._given[row] if row < count else self._image(self._given[row - count])
        )


def with_mirror_images(
    shapes: np.ndarray, weights: np.ndarray, template: Mesh, symmetry: Symmetry | None
) -> Shapes:
    """(n, p, 3) shapes with (n, p) weights, and the mirror images of all if there is a symmetry."""
    if symmetry is None:
        return Shapes(shapes, weights)
    partner, faces = symmetry.partner, template.faces
    return Shapes(
        _WithImages(shapes, lambda shape: _mirrored(shape, partner, faces)),
        _WithImages(weights, lambda row: _weights_across(row, partner, faces)),
    )


def _mirrored(shape: np.ndarray, partner: SurfacePoints, faces: np.ndarray) -> FloatArray:
    """(p, 3) the mirror image of a shape, with every vertex where its partner was."""
    corners = np.asarray(shape, dtype=np.float64)[faces[partner.face]]
    return np.asarray((partner.barycentric[:, :, None] * corners).sum(axis=1) * _ACROSS)


def _weights_across(weights: np.ndarray, partner: SurfacePoints, faces: np.ndarray) -> FloatArray:
    """(p,) how well the partner of every vertex is known: as the worst of its corners."""
    corners = np.asarray(weights, dtype=np.float64)[faces[partner.face]]
    return np.asarray(np.where(partner.barycentric > 1e-9, corners, np.inf).min(axis=1))
