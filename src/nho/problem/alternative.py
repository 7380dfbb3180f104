"""Another place where a partial shape may lie, and its form on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nho.errors import InputError
from nho.geometry.surface import SurfacePoints

_ARRAYS = ("vertex_map", "face", "barycentric", "region")
_PREFIX = "alternative_"
STACKED = tuple(_PREFIX + name for name in _ARRAYS)  # all alternatives, one above the other


@dataclass(frozen=True)
class Alternative:
    """Another place where the partial shape may lie.

    Attributes
    ----------
    vertex_map, face, barycentric, region : arrays
        As in `MatchResult`.
    chance : float
        Probability that this is the right place.
    """

    vertex_map: np.ndarray
    face: np.ndarray
    barycentric: np.ndarray
    region: np.ndarray
    chance: float

    @property
    def points(self) -> SurfacePoints:
        """The dense map as points on the full mesh."""
        return SurfacePoints(self.face, self.barycentric)


def stacked(alternatives: Sequence[Alternative]) -> dict[str, np.ndarray]:
    """Their arrays for ``result.npz``; none if there are no alternatives."""
    if not alternatives:
        return {}
    return {
        _PREFIX + name: np.stack([getattr(each, name) for each in alternatives]) for name in _ARRAYS
    }


def unstacked(arrays: Mapping[str, np.ndarray], about: Any) -> tuple[Alternative, ...]:
    """Alternatives from the arrays of a stored result, and what ``result.json`` says of each."""
    found = []
    for number, entry in enumerate(about):
        own = {name: arrays[_PREFIX + name][number] for name in _ARRAYS}
        for name, array in own.items():
            if array.shape != arrays[name].shape or array.dtype.kind != arrays[name].dtype.kind:
                raise InputError(f"array {_PREFIX + name!r} of result.npz does not fit the map")
        found.append(Alternative(**own, chance=float(entry["chance"])))
    return tuple(found)
