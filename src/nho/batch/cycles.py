"""Cycles in a collection: two ways that should lead to the same points.

Either from a scan to the template and back, by a match of its own with the same anchors; or from a
scan to the next one, directly and by way of the template. The direct match finds its anchors by
shape alone, so that wrong anchors of a scan do not make both ways wrong alike. A scan that is part
of several bad cycles is the likely culprit; matches that are mirrored or turned round are known by
the motion between the two answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nho.batch.job import JobOutcome, one_line
from nho.batch.works import run_works
from nho.errors import NhoError
from nho.geometry.alignment import nearest_rotation
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.pipeline.matching import match
from nho.problem.result import MatchResult
from nho.runtime.atomic_file import write_whole
from nho.runtime.npz import load_arrays, npz_bytes
from nho.transfer import SurfaceMap, cycle_errors, load_for

_SURE = 0.9  # chance that a direct match lies right, from which it may speak against others
_FEWEST = 20  # points that both ways lead to
_FAR = 0.05  # sqrt(area): the ways differ by more than the maps are ever off
_MEMORY = 60  # bytes for one of a template's file
_BETTER = 0.5  # of the distance: so much must a motion explain to be named
NONE, MIRRORED, TURNED = "", "mirrored", "turned round"


@dataclass(frozen=True)
class Cycle:
    """Two ways from one scan to another.

    Attributes
    ----------
    first, second : str
        Names of the scans; the second is empty for the way to the template and back.
    error : float
        Median distance between where the ways lead, over the root of the area of the scan that
        they end on; NaN if they share too little, or if the direct way is in doubt itself.
    shared : float
        Share of the vertices of the first scan that both ways lead somewhere.
    flip : str
        ``"mirrored"`` or ``"turned round"`` if that explains most of the error, else empty.
    """

    first: str
    second: str
    error: float
    shared: float
    flip: str


@dataclass(frozen=True)
class CycleJob:
    """Two result folders with one template, or one and none, and the file for their cycle."""

    name: str
    first: Path
    second: Path | None
    out: Path
    memory: int

    def run(self) -> JobOutcome:
        """Match the scans and compare; whatever goes wrong is part of the outcome."""
        start, error = time.monotonic(), ""
        try:
            first, second = self.first, self.second
            found = there_and_back(first) if second is None else cycle_between(first, second)
            values = {"error": found.error, "shared": found.shared, "flip": found.flip}
            arrays = {name: np.array(value) for name, value in values.items()}
            write_whole(self.out, npz_bytes(arrays))
        except NhoError as problem:
            error = one_line(str(problem))
        return JobOutcome(self.name, time.monotonic() - start, error)

    def outcome(self) -> Cycle:
        """What `run` wrote."""
        stored = load_arrays(self.out)
        error, shared, flip = (stored[name].item() for name in ("error", "shared", "flip"))
        second = self.second.name if self.second else ""
        return Cycle(self.first.name, second, error, shared, str(flip))


def ring(folders: Sequence[Path], ways: int) -> list[tuple[Path, Path]]:
    """Every folder with the next one, and with later ones if more ways than one are wanted."""
    count = len(folders)
    pairs = [
        (folders[i], folders[(i + step) % count])
        for step in range(1, ways + 1)
        for i in range(count)
    ]
    return list({frozenset(pair): pair for pair in pairs if pair[0] != pair[1]}.values())


def there_and_back(folder: Path) -> Cycle:
    """Match the template to the scan as well, and come back."""
    there = _result(folder)
    used = np.setdiff1d(np.arange(len(there.anchors)), there.suspect_anchors)
    back = match(there.full, there.partial, there.anchors[used][:, ::-1])
    errors = cycle_errors(there, back)
    known = np.isfinite(errors)
    error = float(np.median(errors[known])) if known.sum() >= _FEWEST else float("nan")
    return Cycle(folder.name, "", error, float(known.mean()), NONE)


def cycle_between(first: Path, second: Path) -> Cycle:
    """Compare the direct way from one scan to another with the way through their template."""
    there, other = _result(first), _result(second)
    points = SurfaceMap(there, there.partial, there.full).vertices_on_full
    through = SurfaceMap(other, other.partial, other.full).to_partial(points)
    share = float((through.face >= 0).mean())
    if (through.face >= 0).sum() < _FEWEST:
        return Cycle(first.name, second.name, float("nan"), share, NONE)
    direct = match(there.partial, other.partial, "auto")
    if direct.status != "ok" or direct.chance < _SURE or direct.alternatives:
        return Cycle(first.name, second.name, float("nan"), share, NONE)
    return compared(first.name, second.name, direct, through, other.partial)


def compared(
    first: str, second: str, direct: MatchResult, through: SurfacePoints, other: Mesh
) -> Cycle:
    """The cycle of two maps from a scan to ``other``."""
    both = (direct.face >= 0) & (through.face >= 0)
    share = float(both.mean())
    if both.sum() < _FEWEST:
        return Cycle(first, second, float("nan"), share, NONE)
    at, goal = direct.points.positions(other)[both], through.positions(other)[both]
    unit = np.sqrt(other.area)
    error = float(np.median(np.linalg.norm(at - goal, axis=1)) / unit)
    return Cycle(first, second, error, share, _flip(at / unit, goal / unit, error))


def run_cycles(
    folders: Sequence[Path],
    store: Path,
    *,
    back: bool = True,
    ways: int = 0,
    jobs: int | None = None,
    scheduler: str | None = None,
    done: Callable[[JobOutcome, int], None] = lambda outcome, total: None,
) -> tuple[list[Cycle], dict[str, str]]:
    """To the template and back for every folder, and ``ways`` ways from each scan to others.

    Returns
    -------
    list of Cycle, and why others failed, by the name of their scan
    """
    pairs: list[tuple[Path, Path | None]] = [(folder, None) for folder in folders if back]
    pairs += ring(folders, ways)
    works = [
        CycleJob(
            f"{first.name} and {second.name if second else 'the template'}",
            first,
            second,
            store / f"cycle{number}.npz",
            _MEMORY * (first / "full.ply").stat().st_size,
        )
        for number, (first, second) in enumerate(pairs)
    ]
    failed: dict[str, str] = {}
    for outcome in run_works(works, store, jobs, scheduler):
        if outcome.error:
            failed[outcome.name] = outcome.error
        done(outcome, len(works))
    return [work.outcome() for work in works if work.name not in failed], failed


def _flip(at: np.ndarray, goal: np.ndarray, error: float) -> str:
    """The motion that explains most of the error between (n, 3) places, if one does."""
    if error < _FAR:
        return NONE
    arms, wanted = at - at.mean(axis=0), goal - goal.mean(axis=0)
    product = wanted.T @ arms
    turn = nearest_rotation(product)
    u, _, v = np.linalg.svd(product)
    mirror = u @ np.diag([1, 1, -np.sign(np.linalg.det(u @ v))]) @ v
    left = {
        name: float(np.median(np.linalg.norm(wanted - arms @ motion.T, axis=1)))
        for name, motion in ((TURNED, turn), (MIRRORED, mirror))
    }
    name = min(left, key=lambda each: left[each])
    return name if left[name] < _BETTER * error else NONE


def _result(folder: Path) -> MatchResult:
    """The result in a folder, with its meshes."""
    partial, full = (Mesh.read(folder / name) for name in ("partial.ply", "full.ply"))
    return replace(load_for(folder, partial, full), meshes=(partial, full))
