"""Rows of a file, collected one by one: points as a reader finds them, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nho.errors import InputError
from nho.io.landmarks.parsing import clean_name
from nho.io.landmarks.placing import WEIGHT_ERROR

VERTEX, FACE, POSITION, MISSING = "vertex", "face", "position", ""
_SENTINELS = (-999.0, -9999.0)  # in all three coordinates: programs' customs for "not there"


class _Row(NamedTuple):
    """A point; see `Landmarks`."""

    name: str
    kind: str
    vertex: int = -1
    face: int = -1
    barycentric: Sequence[float] = (np.nan,) * 3
    position: Sequence[float] = (np.nan,) * 3


def numbered(count: int) -> tuple[str, ...]:
    """Names of points that have none: numbers from 1."""
    return tuple(str(number) for number in range(1, count + 1))


class Rows:
    """Collects the rows of a file for `Landmarks.of`, and refuses what no point can be.

    Parameters
    ----------
    source : file name.
    axes : ``"LPS"``, ``"RAS"`` or ``""``.
    shape : ``"partial"`` or ``"full"`` where the file holds both, for messages.
    """

    def __init__(self, source: str, axes: str = "", shape: str = "") -> None:
        self.source, self.axes = source, axes
        self._where = f" on the {shape} shape" if shape else ""
        self.notes: list[str] = []
        self._rows: list[_Row] = []
        self._named = False

    def __len__(self) -> int:
        return len(self._rows)

    def _add(self, row: _Row) -> None:
        self._named |= bool(clean_name(row.name))
        self._rows.append(row._replace(name=self._shown(row.name)))

    def _shown(self, name: str) -> str:
        return clean_name(name) or str(len(self) + 1)

    def missing(self, name: str) -> None:
        """Add a point that is named but not there."""
        self._add(_Row(name, MISSING))

    def vertex(self, name: str, index: int) -> None:
        """Add a vertex, counted from 0."""
        self._add(_Row(name, VERTEX, vertex=index))

    def face(self, name: str, index: int, weights: Sequence[float]) -> None:
        """Add a place in a face."""
        array = np.array(weights, dtype=np.float64)
        inside = np.isfinite(array).all() and array.min() >= -WEIGHT_ERROR
        if not inside or abs(array.sum() - 1) > WEIGHT_ERROR:
            shown = ", ".join(f"{weight:.6g}" for weight in array.tolist())
            raise InputError(
                f"{self.source}: anchor {self._shown(name)} has the weights {shown} in its face"
                f"{self._where}, which are negative or do not sum to 1; correct or remove it"
            )
        self._add(_Row(name, FACE, face=index, barycentric=weights))

    def position(self, name: str, xyz: Sequence[float]) -> None:
        """Add coordinates; three NaNs or the same sentinel three times mean that it is missing."""
        array = np.array(xyz, dtype=np.float64)
        if np.isnan(array).all() or any((array == sentinel).all() for sentinel in _SENTINELS):
            self.missing(name)
            return
        if not np.isfinite(array).all():
            shown = ", ".join(f"{value:.6g}" for value in array.tolist())
            raise InputError(
                f"{self.source}: anchor {self._shown(name)} has no finite position{self._where} "
                f"({shown}); correct or remove it"
            )
        self._add(_Row(name, POSITION, position=xyz))

    @property
    def names(self) -> tuple[str, ...]:
        """The names; the number of the row, from 1, where there is none."""
        return tuple(row.name for row in self._rows)

    @property
    def named(self) -> bool:
        """Whether any row came with a name."""
        return self._named

    def columns(self) -> dict[str, np.ndarray]:
        """All rows as arrays; see `Landmarks`."""
        rows = self._rows
        return {
            "kind": np.array([row.kind for row in rows], dtype="<U8"),
            "vertex": np.array([row.vertex for row in rows], dtype=np.int64),
            "face": np.array([row.face for row in rows], dtype=np.int64),
            "barycentric": _triples([row.barycentric for row in rows]),
            "position": _triples([row.position for row in rows]),
        }


def _triples(values: list[Sequence[float]]) -> np.ndarray:
    return np.array(values, dtype=np.float64).reshape(-1, 3)
