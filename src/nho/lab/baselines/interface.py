"""The one interface of all baselines, and how a solver becomes one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from nho.errors import InputError
from nho.pipeline.matching import carried_back
from nho.problem.preparation import AnchorsLike, MeshLike, Problem, prepare
from nho.problem.result import MatchResult
from nho.problem.solution import Answer
from nho.progress import ProgressCallback, ignore
from nho.runtime.parallel import Workers, workers
from nho.runtime.stopwatch import Stopwatch
from nho.settings import Settings

Solve = Callable[[Problem, Settings, Workers, Stopwatch, ProgressCallback], Answer]


class Method(Protocol):
    """From two shapes, and anchors where the method uses them, to a result.

    Attributes
    ----------
    anchored : bool
        Whether it works from anchors. One that does not ignores those it is given, so that all
        methods can be called alike.
    learned : bool
        Whether it needs torch and weights (settings.weights).
    """

    @property
    def anchored(self) -> bool: ...

    @property
    def learned(self) -> bool: ...

    def __call__(
        self,
        partial: MeshLike,
        full: MeshLike,
        anchors: AnchorsLike | None,
        settings: Settings | None = None,
        progress: ProgressCallback | None = None,
    ) -> MatchResult: ...


@dataclass(frozen=True)
class Baseline:
    """A solver on repaired shapes at unit area as a `Method`: repair and way back as in `match`."""

    name: str
    solve: Solve
    anchored: bool = True
    learned: bool = False

    def __call__(
        self,
        partial: MeshLike,
        full: MeshLike,
        anchors: AnchorsLike | None,
        settings: Settings | None = None,
        progress: ProgressCallback | None = None,
    ) -> MatchResult:
        if anchors is None and self.anchored:
            raise InputError(f"baseline {self.name!r} works from anchors; give at least three")
        settings = settings or Settings()
        clock = Stopwatch()
        with clock.time("total"), workers(settings.threads) as pool:
            with clock.time("prepare"):
                problem = prepare(partial, full, anchors if self.anchored else None)
            answer = self.solve(problem, settings, pool, clock, progress or ignore)
        return carried_back(problem, answer, clock.seconds)
