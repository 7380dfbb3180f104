"""The one interface of all baselines, and how a solver becomes one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from nho.errors import InputError
from nho.pipeline.automatic_anchors import AUTO
from nho.pipeline.matching import match, to_result
from nho.problem.preparation import AnchorsLike, MeshLike, prepare
from nho.problem.result import MatchResult
from nho.problem.solution import Solver
from nho.progress import ProgressCallback
from nho.runtime.run import started
from nho.settings import Settings, preset


class Method(Protocol):
    """From two shapes, and anchors where the method uses them, to a result.

    A method that does not work from anchors ignores those it is given, so that all methods can be
    called alike.
    """

    @property
    def anchored(self) -> bool:
        """Whether it works from anchors."""
        ...

    @property
    def learned(self) -> bool:
        """Whether it needs torch and weights (setting ``checkpoints``)."""
        ...

    def __call__(
        self,
        partial: MeshLike,
        full: MeshLike,
        anchors: AnchorsLike | None,
        settings: Settings | None = None,
        progress: ProgressCallback | None = None,
    ) -> MatchResult:
        """Match as `nho.match` does."""
        ...


@dataclass(frozen=True)
class Baseline:
    """A solver on repaired shapes at unit area as a `Method`: repair and way back as in `match`."""

    name: str
    solver: Solver
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
        """Prepare, solve, and carry the solution back to the shapes as given."""
        if anchors is None and self.anchored:
            raise InputError(f"baseline {self.name!r} works from anchors; give at least three")
        with started(settings or Settings(), progress) as run:
            with run.clock.time("prepare"):
                problem = prepare(partial, full, anchors if self.anchored else None)
            solution = self.solver(problem, run)
        return to_result(problem, solution, run.clock.seconds)


@dataclass(frozen=True)
class Preset:
    """A preset of `nho.match` as a `Method`; without ``anchored`` it finds its own anchors."""

    name: str
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
        """Match with the preset, or with the settings given."""
        if not self.anchored:
            own = preset(self.name)
            if settings is not None:
                own = own.replace(threads=settings.threads, laplacian=settings.recipe.laplacian)
            return match(partial, full, AUTO, own, progress)
        if anchors is None:
            raise InputError(f"preset {self.name!r} works from anchors; give at least three")
        return match(partial, full, anchors, settings or preset(self.name), progress)
