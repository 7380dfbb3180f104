"""Learned methods as baselines: features and map of a network, without anchors.

They need torch (`pip install "nho[features]"`) and weights, see the setting ``weights``. The
networks themselves are in `nho.learned`, which is imported on first use.
"""

from __future__ import annotations

from dataclasses import dataclass

from nho.geometry.surface import SurfacePoints
from nho.lab.baselines.readout import answer_without_anchors
from nho.lab.baselines.zoomout import zoomed_map
from nho.learned.backend import require_torch
from nho.problem.preparation import Problem
from nho.problem.solution import Answer
from nho.progress import Progress, ProgressCallback
from nho.runtime.parallel import Workers
from nho.runtime.stopwatch import Stopwatch
from nho.settings import Settings


@dataclass(frozen=True)
class Learned:
    """A solver for `nho.lab.baselines.interface.Baseline`.

    Attributes
    ----------
    method : str
        A name in `nho.learned.methods.METHODS`.
    zoomed : bool
        Whether ZoomOut refines the map.
    """

    method: str
    zoomed: bool = False

    def __call__(
        self,
        problem: Problem,
        settings: Settings,
        pool: Workers,
        clock: Stopwatch,
        progress: ProgressCallback,
    ) -> Answer:
        """Map, confidence by local distortion, and the overlap where the network predicts it."""
        require_torch()
        from nho.learned.pairs import distortion_of, features_of

        with clock.time("features"):
            features = features_of(self.method, problem, settings, pool)
            progress(Progress("features", 1, 1))
        target = features.target
        if self.zoomed:
            target = zoomed_map(problem, target, settings, pool, clock, progress)
        # Half confidence where the paper's method stops to trust a match.
        distortion = distortion_of(problem, target, settings)
        return answer_without_anchors(
            problem,
            SurfacePoints.at_vertices(problem.full.mesh, target),
            settings,
            region_score=features.overlap,
            confidence=2 ** (-distortion / settings.distortion_threshold),
        )


def solve_from_features(
    problem: Problem,
    settings: Settings,
    pool: Workers,
    clock: Stopwatch,
    progress: ProgressCallback,
) -> Answer:
    """The paper's "Ours (DPFM)": the reciprocal loop with anchors from features."""
    require_torch()
    from nho.learned.dpfm_anchors import solve

    return solve(problem, settings, pool, clock, progress)
