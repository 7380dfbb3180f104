"""Learned methods as baselines: features and map of a network, without anchors.

They need torch (`pip install "nho[learned]"`) and weights, see the setting ``checkpoints``. The
networks themselves are in `nho.learned`, which is imported on first use.
"""

from __future__ import annotations

from nho.geometry.surface import SurfacePoints
from nho.lab.baselines.readout import solution_without_anchors
from nho.lab.baselines.zoomout import zoomed_map
from nho.learned.backend import require_torch
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run
from nho.settings import PaperRecipe


def solve(problem: Problem, run: Run, network: str, zoomed: bool = False) -> Solution:
    """Map, confidence by local distortion, and the overlap where the network predicts it.

    Parameters
    ----------
    network : str
        A name in `nho.learned.methods.METHODS`.
    zoomed : bool
        Whether ZoomOut refines the map.
    """
    require_torch()
    from nho.learned.feature_anchors import distortion_of, features_of

    with run.stage("features"):
        features = features_of(network, problem, run)
    target = zoomed_map(problem, features.target, run) if zoomed else features.target
    # Half confidence where the paper's method stops to trust a match.
    distortion = distortion_of(problem, target)
    return solution_without_anchors(
        problem,
        SurfacePoints.at_vertices(problem.full.mesh, target),
        run.settings,
        region_score=features.overlap,
        confidence=2 ** (-distortion / PaperRecipe.distortion_threshold),
    )


def solve_from_features(problem: Problem, run: Run) -> Solution:
    """The paper's "Ours (DPFM)": the reciprocal loop with anchors from features."""
    require_torch()
    from nho.learned.feature_anchors import solve

    return solve(problem, run)
