"""What all methods have in common: two shapes and anchors in, a result out."""

from __future__ import annotations

from dataclasses import dataclass

from nho.errors import InputError
from nho.geometry.mesh_like import MeshLike
from nho.lab.baselines.packages import require
from nho.pipeline.automatic_anchors import AUTO
from nho.pipeline.matching import match, to_result
from nho.problem.preparation import AnchorsLike, prepare
from nho.problem.result import MatchResult
from nho.problem.solution import Solver
from nho.progress import ProgressCallback
from nho.runtime.run import started
from nho.settings import Settings, preset


@dataclass(frozen=True)
class Method:
    """From two shapes, and anchors where the method uses them, to a result.

    Attributes
    ----------
    solver : Solver or None
        Works on repaired shapes at unit area; None = `nho.match` with the preset of this name or,
        if not ``anchored``, with preset ``default`` and anchors of its own.
    anchored : bool
        Whether it works from anchors; one that does not ignores those it is given, so that all
        methods can be called alike.
    learned : bool
        Whether it needs torch and weights (setting ``checkpoints``).
    needs : str
        What ``pip install`` takes to get the package that it calls; empty = none.
    """

    name: str
    solver: Solver | None = None
    anchored: bool = True
    learned: bool = False
    needs: str = ""

    def __call__(
        self,
        partial: MeshLike,
        full: MeshLike,
        anchors: AnchorsLike | None,
        settings: Settings | None = None,
        progress: ProgressCallback | None = None,
    ) -> MatchResult:
        """Match as `nho.match` does: repair and way back to the shapes as given are the same."""
        if self.needs:
            require(self.needs, self.name)
        if not self.anchored:
            anchors = None
        elif anchors is None:
            kind = "preset" if self.solver is None else "baseline"
            raise InputError(f"{kind} {self.name!r} works from anchors; give at least three")
        if self.solver is None:
            if anchors is not None:
                return match(partial, full, anchors, settings or preset(self.name), progress)
            own = preset("default")
            if settings is not None:
                own = own.replace(threads=settings.threads, laplacian=settings.recipe.laplacian)
            return match(partial, full, AUTO, own, progress)
        with started(settings or Settings(), progress) as run:
            with run.clock.time("prepare"):
                problem = prepare(partial, full, anchors)
            solution = self.solver(problem, run)
        return to_result(problem, solution, run.clock.seconds)
