"""`find_anchors`: many proposals, a trial each, the best one kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nho.anchor_search.likeness import unlikeness
from nho.anchor_search.proposals import proposals
from nho.anchor_search.survey import Survey, survey
from nho.anchor_search.trials import Trial, Trials
from nho.anchors import Anchors
from nho.mesh import Mesh
from nho.parallel import Workers, workers
from nho.problem import MeshLike, Problem, as_mesh, prepare
from nho.progress import Progress, ProgressCallback, ignore
from nho.settings import Settings, preset
from nho.surface import project

COUNT = 25  # anchors that are returned
_PLACES = 1200  # vertices of the coarse full shape; the partial one is as dense
_FEWEST_PLACES = 300  # of the partial shape, however small a part it is
_IMPROVED = 3  # of the trials, the best ones that differ
_ROUNDS, _ROUND_ANCHORS = 2, 20  # of improvement, and anchors in each
_DIFFERENT = 0.05  # mean distance between trials that differ
_RIVAL = 0.1  # mean distance from which another trial is another answer
_CLOSE = 1.25  # a rival whose score is within this factor is worth a warning
_SOURCE = "anchors found by nho"


@dataclass(frozen=True)
class Search:
    """What a search came to.

    Attributes
    ----------
    trial : Trial
        The best.
    rival : Trial or None
        The best of those that place the partial shape elsewhere.
    partial, full : Survey
        The coarse shapes that trials speak of; the partial one in the unit of the full one.
    scale : float
        Unit of the partial shape in that of the full one.
    """

    trial: Trial
    rival: Trial | None
    partial: Survey
    full: Survey
    trials: Trials
    scale: float

    @property
    def doubtful(self) -> bool:
        """Would another placement do nearly as well?"""
        return self.rival is not None and self.rival.score < _CLOSE * self.trial.score


def find_anchors(
    partial: MeshLike,
    full: MeshLike,
    settings: Settings | None = None,
    progress: ProgressCallback | None = None,
    count: int = COUNT,
) -> Anchors:
    """Find anchors between a partial surface and a full one.

    Parameters
    ----------
    partial, full : Mesh, path, or pair of arrays (vertices (n, 3), faces (f, 3))
        The largest component of each is looked at.
    settings : Settings, optional
        ``threads`` and ``laplacian`` count.
    progress : callable, optional
        Called with a `Progress` after every step.
    count : int
        Anchors wanted, well spread over the partial shape.

    Returns
    -------
    Anchors
        Their notes say where another placement would do nearly as well.
    """
    settings = settings or preset("default")
    partial, full = as_mesh(partial, "partial mesh"), as_mesh(full, "full mesh")
    with workers(settings.threads) as pool:
        problem = prepare(partial, full, None)
        found = searched(problem, settings, pool, progress or ignore)
    return _anchors(problem, found, partial, full, count)


def searched(
    problem: Problem, settings: Settings, pool: Workers, progress: ProgressCallback
) -> Search:
    """Survey both shapes, propose, try, improve."""
    progress(Progress("survey", 0, 1))
    partial, full = pool.together(
        lambda: survey(problem.partial.mesh, _places(problem), settings.laplacian),
        lambda: survey(problem.full.mesh, _PLACES, settings.laplacian),
    )
    unlike = unlikeness(partial, full)
    progress(Progress("survey", 1, 1))
    proposed = list(proposals(partial, full, unlike))
    trials = Trials(partial, full, unlike)
    tried = _tried(trials, [each.anchors for each in proposed], pool, progress)
    best = _different(trials, tried, _IMPROVED, _DIFFERENT)
    improved = pool.together(
        *[lambda each=each: trials.improved(each, _ROUNDS, _ROUND_ANCHORS) for each in best]
    )
    ranked = sorted(improved + tried, key=lambda each: each.score)
    two = _different(trials, ranked, 2, _RIVAL)
    return Search(ranked[0], two[1] if len(two) > 1 else None, partial, full, trials, 1.0)


def _tried(
    trials: Trials, sets: list[np.ndarray], pool: Workers, progress: ProgressCallback
) -> list[Trial]:
    """A trial of every set of anchors, best first."""
    done = 0

    def attempt(anchors: np.ndarray) -> Trial:
        nonlocal done
        trial = trials.of(anchors)
        done += 1
        progress(Progress("trials", done, len(sets)))
        return trial

    found = pool.together(*[lambda each=each: attempt(each) for each in sets])
    return sorted(found, key=lambda each: each.score)


def _different(trials: Trials, ranked: list[Trial], count: int, apart: float) -> list[Trial]:
    """The first trials, none of which lies within a mean distance of an earlier one."""
    kept: list[Trial] = []
    for trial in ranked:
        if all(trials.between(trial, other) > apart for other in kept):
            kept.append(trial)
            if len(kept) == count:
                break
    return kept


def _places(problem: Problem) -> int:
    """Places that make the partial shape as dense as the full one."""
    partial, full = problem.partial.mesh, problem.full.mesh
    return max(_FEWEST_PLACES, round(_PLACES * min(1.0, partial.area / full.area)))


def _anchors(problem: Problem, found: Search, partial: Mesh, full: Mesh, count: int) -> Anchors:
    """The best trial as anchors between the meshes as given."""
    pairs = found.trials.good_places(found.trial, count)
    at = problem.partial.given_of_solver[found.partial.vertex[pairs[:, 0]]]
    # Coarse triangles lie a little beside the surface.
    places = found.trial.points[pairs[:, 0]].positions(found.full.mesh)
    nearest = project(problem.full.mesh, places)[0].nearest_vertex(problem.full.mesh)
    to = problem.full.given_of_solver[nearest]
    found_anchors = Anchors.from_vertices(partial, full, np.stack([at, to], axis=1), source=_SOURCE)
    return replace(found_anchors, notes=tuple(_notes(found, len(pairs))))


def _notes(found: Search, count: int) -> list[str]:
    notes = [f"{count} anchors were found automatically; look at the report before you trust them"]
    if found.doubtful:
        assert found.rival is not None
        notes.append(
            "another placement of the partial shape fits nearly as well (score "
            f"{found.rival.score:.3g} against {found.trial.score:.3g}, lower is better), as when "
            "left and right or front and back are hard to tell apart; three anchors decide it"
        )
    return notes
