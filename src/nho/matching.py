"""`match`: from two surfaces and a few anchors to region, dense map and confidence."""

from __future__ import annotations

import numpy as np

from nho.parallel import workers
from nho.problem import AnchorsLike, MeshLike, Problem, prepare
from nho.progress import Progress, ProgressCallback, ignore
from nho.reciprocal import ReciprocalLoop
from nho.result import MatchResult
from nho.settings import Settings, preset
from nho.shapes import analyse
from nho.stopwatch import Stopwatch
from nho.surface import SurfacePoints


def match(
    partial: MeshLike,
    full: MeshLike,
    anchors: AnchorsLike,
    settings: Settings | str | None = None,
    progress: ProgressCallback | None = None,
) -> MatchResult:
    """Match a partial surface to a full one.

    Parameters
    ----------
    partial, full : Mesh, path, or pair of arrays (vertices (n, 3), faces (f, 3))
    anchors : Anchors, path of a CSV, or (m, 2) int array
        Matching points, at least three; an array holds vertex indices (partial, full).
    settings : Settings or preset name, optional
        ``"default"`` if not given; ``"paper"`` follows the paper to the letter.
    progress : callable, optional
        Called with a `Progress` after every step.

    Returns
    -------
    MatchResult
        Map (partial -> full), confidence and region, in the vertex order given.
    """
    if settings is None or isinstance(settings, str):
        settings = preset(settings or "default")
    progress = progress or ignore
    clock = Stopwatch()
    with clock.time("total"), workers(settings.threads) as pool:
        with clock.time("prepare"):
            problem = prepare(partial, full, anchors)
        with clock.time("spectra"):
            progress(Progress("spectra", 0, 1))
            shapes = analyse(problem, settings, pool)
            progress(Progress("spectra", 1, 1))
        loop = ReciprocalLoop(shapes, problem.anchors, pool, progress)
        with clock.time("operator"):
            loop.run()
        with clock.time("refinement"):
            target, curve = loop.refined_map()
        distortion = loop.distortion(target)
    warnings = (*problem.warnings, *shapes.warnings, *loop.warnings)
    return _result(
        problem, loop, target, distortion, {**loop.curves, "refine": curve}, warnings, clock.seconds
    )


def _result(
    problem: Problem,
    loop: ReciprocalLoop,
    target: np.ndarray,
    distortion: np.ndarray,
    curves: dict[str, list[dict[str, float]]],
    warnings: tuple[str, ...],
    timings: dict[str, float],
) -> MatchResult:
    """Carry the solver's answer back to the meshes as given."""
    full = problem.full
    points = problem.given_points(SurfacePoints.at_vertices(full.mesh, target))
    # Half confidence at the distortion above which the method itself does not trust a match.
    confidence = 2 ** (-distortion / loop.settings.distortion_threshold)
    score = full.spread(loop.score(), 0.0)
    return MatchResult(
        vertex_map=problem.partial.spread(full.given_of_solver[target], -1),
        face=points.face,
        barycentric=points.barycentric,
        confidence=problem.partial.spread(confidence, 0.0),
        region=score > 0.5,
        region_score=score,
        anchors=problem.given_anchors,
        settings=loop.settings,
        status=loop.status,
        warnings=warnings,
        timings=timings,
        curves=curves,
    )
