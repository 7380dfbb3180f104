"""Anchors as the solver needs them: distinct, without contradictions, enough of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.repair import Repaired
from nho.problem.anchors import FEWEST, Anchors, first_few


@dataclass(frozen=True)
class DistinctAnchors:
    """Anchors without repetitions, and what is to be said of them.

    Attributes
    ----------
    pairs : (m, 2) int array
        Vertices as given.
    names : tuple of str
        What the user calls them.
    notes, warnings : lists of str
    """

    pairs: np.ndarray
    names: tuple[str, ...]
    notes: list[str]
    warnings: list[str]


def distinct_anchors(
    anchors: Anchors, partial: Mesh, full: Mesh, repaired: list[Repaired]
) -> DistinctAnchors:
    """Given vertices of distinct pairs: drop repeated ones, refuse contradictions and too few.

    Pairs are compared as the solver sees them: welded vertices are one.
    """
    repeated: list[str] = []
    shared: list[str] = []
    kept: dict[tuple[int, int], int] = {}  # solver pair -> row
    partner: dict[int, int] = {}  # solver vertex of the partial shape -> row
    given = anchors.vertices(partial, full)
    solver = np.stack(
        [done.solver_of_given[given[:, column]] for column, done in enumerate(repaired)], axis=1
    )
    names = anchors.names
    for row, (p, q) in enumerate(solver.tolist()):
        for vertex, mesh, index, done in zip(
            (p, q), (partial, full), given[row], repaired, strict=True
        ):
            if vertex < 0:
                why = "is a spike far off the surface"
                if not done.spikes[index]:
                    why = "belongs to degenerate faces or to a spike only"
                raise InputError(
                    f"{anchors.source}: anchor {names[row]} refers to vertex {index} of "
                    f"{mesh.name}, which {why}; pick another vertex"
                )
        if (p, q) in kept:
            first = kept[p, q]
            repeated.append(
                f"anchor {names[row]} repeats anchor {names[first]}; it is counted once"
            )
            continue
        if p in partner:
            first = partner[p]
            raise InputError(
                f"{anchors.source}: anchors {names[first]} and {names[row]} contradict each other: "
                f"both start at partial vertex {given[row, 0]}, one ends at full vertex "
                f"{given[first, 1]}, one at {given[row, 1]}; remove the wrong one"
            )
        kept[p, q] = partner[p] = row
    by_target: dict[int, int] = {}
    for (_, q), row in kept.items():
        if q in by_target:
            shared.append(
                f"anchors {names[by_target[q]]} and {names[row]} end at the same full vertex "
                f"{given[row, 1]}; both are kept"
            )
        by_target[q] = row
    if len(kept) < FEWEST:
        raise InputError(
            f"{anchors.source}: {len(kept)} distinct anchor{'s' * (len(kept) != 1)} given, at "
            f"least {FEWEST} are needed; mark more matching points"
        )
    rows = list(kept.values())
    notes = [*_gap_notes(anchors, partial, full), *first_few(repeated)]
    return DistinctAnchors(given[rows], tuple(names[row] for row in rows), notes, first_few(shared))


def _gap_notes(anchors: Anchors, partial: Mesh, full: Mesh) -> list[str]:
    """Say how far given coordinates had to be moved to reach the surfaces."""
    notes = []
    for column, mesh in enumerate((partial, full)):
        gaps = anchors.gaps[:, column]
        if len(gaps) and gaps.max() > 0:
            worst = int(np.argmax(gaps))
            notes.append(
                f"anchor points were projected to {mesh.name}: mean distance {gaps.mean():.4g}, "
                f"largest {gaps[worst]:.4g} (anchor {anchors.names[worst]})"
            )
    return notes
