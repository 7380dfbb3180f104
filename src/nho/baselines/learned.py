"""Learned methods as baselines: features and map of a network, without anchors.

They need torch (`pip install "nho[features]"`) and weights, see the setting ``weights``. The
networks themselves are in `nho.features`, which is imported on first use.
"""

from __future__ import annotations

from dataclasses import dataclass

from nho.answer import Answer
from nho.baselines.readout import answer_without_anchors
from nho.baselines.zoomout import zoomed_map
from nho.features.backend import require_torch
from nho.parallel import Workers
from nho.problem import Problem
from nho.progress import Progress, ProgressCallback
from nho.settings import Settings
from nho.stopwatch import Stopwatch
from nho.surface import SurfacePoints


@dataclass(frozen=True)
class Learned:
    """A solver for `nho.baselines.interface.Baseline`.

    Attributes
    ----------
    method : str
        A name in `nho.features.methods.METHODS`.
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
        from nho.features.pairs import distortion_of, features_of

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
    from nho.features.dpfm_anchors import solve

    return solve(problem, settings, pool, clock, progress)
