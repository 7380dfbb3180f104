"""Two lists of landmarks to pairs: by name, or else by order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nho.errors import InputError
from nho.io.landmarks.parsing import listed
from nho.io.landmarks.points import Landmarks

_ENOUGH = 3  # equal names from which on names pair; fewer fix no place on a surface


@dataclass(frozen=True)
class LandmarkPairs:
    """Landmarks of two shapes, row by row.

    Attributes
    ----------
    partial, full : of equal length; either may miss points.
    names : of the pairs.
    notes : how they were paired, and what was left out.
    source : file names, for messages.
    """

    partial: Landmarks
    full: Landmarks
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    source: str = "landmarks"

    def __len__(self) -> int:
        return len(self.names)

    def complete(self) -> LandmarkPairs:
        """Only the pairs with both points; a note names the others."""
        notes = self.notes
        for side, shape in ((self.partial, "partial"), (self.full, "full")):
            if gone := side.missing_names():
                notes += (
                    f"{side.source}: {len(gone)} of {_points(len(side))} on the {shape} shape not "
                    f"set, left out ({listed(gone)})",
                )
        rows = self.partial.defined & self.full.defined
        names = tuple(np.array(self.names, dtype=object)[rows])
        return replace(
            self, partial=self.partial[rows], full=self.full[rows], names=names, notes=notes
        )


def pair_up(partial: Landmarks, full: Landmarks) -> LandmarkPairs:
    """Pair by name if three or more names are in both lists, else by order."""
    source = f"{partial.source} and {full.source}"
    shared = set(partial.names) & set(full.names)
    unnamed = [side.source for side in (partial, full) if not side.named]
    twice = [(side.source, name) for side in (partial, full) for name in _repeated(side.names)]
    if unnamed:
        why = f"{unnamed[0]} has no names"
    elif twice:
        why = f"{twice[0][0]} has the name {twice[0][1]!r} twice"
    elif len(shared) < _ENOUGH:
        why = f"{len(shared) or 'no'} name{'s' * (len(shared) != 1)} in both files"
    else:
        return _by_name(partial, full, shared, source)
    return _by_order(partial, full, why, source)


def _by_name(partial: Landmarks, full: Landmarks, shared: set[str], source: str) -> LandmarkPairs:
    names = tuple(name for name in partial.names if name in shared)
    place = {name: row for row, name in enumerate(full.names)}
    rows = np.array([row for row, name in enumerate(partial.names) if name in shared], dtype=int)
    partners = np.array([place[name] for name in names], dtype=int)
    notes: tuple[str, ...] = ()
    for side in (partial, full):
        left = [name for name in side.names if name not in shared]
        if left:
            notes += (
                f"{side.source}: {_points(len(left))} without a partner of the same name, left "
                f"out ({listed(left)})",
            )
    return LandmarkPairs(partial[rows], full[partners], names, notes, source)


def _by_order(partial: Landmarks, full: Landmarks, why: str, source: str) -> LandmarkPairs:
    if len(partial) != len(full):
        raise InputError(
            f"{partial.source} has {_points(len(partial))} and {full.source} has "
            f"{_points(len(full))}, and {why}; give partners the same name, or as many points in "
            "the same order"
        )
    if partial.named and full.named:
        # The order must not put apart what the names bring together.
        place = {name: row for row, name in enumerate(full.names)}
        for row, (name, other) in enumerate(zip(partial.names, full.names, strict=True)):
            if name != other and name in place:
                raise InputError(
                    f"{source}: {why}, and the order does not fit, since {name!r} is point {row} "
                    f"in one and point {place[name]} in the other; give partners the same name"
                )
    names = partial.names if partial.named or not full.named else full.names
    note = f"{source}: paired by order, since {why}"
    return LandmarkPairs(partial, full, names, (note,), source)


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _points(count: int) -> str:
    return f"{count} point{'s' * (count != 1)}"
