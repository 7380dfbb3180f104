"""`find_anchors`: many proposals, a trial each, the best one kept."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from nho.anchor_search.likeness import unlikeness
from nho.anchor_search.proposals import CHOICES, proposals
from nho.anchor_search.survey import Survey, survey
from nho.anchor_search.trials import Trial, Trials
from nho.geometry.mesh import Mesh
from nho.geometry.surface import project
from nho.problem.anchors import Anchors
from nho.problem.preparation import MeshLike, Problem, as_mesh, prepare
from nho.progress import ProgressCallback
from nho.runtime.run import Run, started
from nho.settings import Settings

COUNT = 25  # anchors that are returned
_PLACES = 1200  # vertices of the coarse full shape; the partial one is as dense
_FEWEST_PLACES = 300  # of the partial shape, however small a part it is
_IMPROVED = 3  # of the trials, the best ones that differ
_ROUNDS, _ROUND_ANCHORS = 2, 20  # of improvement, and anchors in each
_DIFFERENT = 0.05  # mean distance between trials that differ
_RIVAL = 0.1  # mean distance from which another trial is another answer
_CLOSE = 1.25  # a rival whose score is within this factor is worth a warning
_SOURCE = "anchors found by nho"

_SHARES = (0.02, 1.2)  # of the full shape's area that a partial one in the same unit may have
_POOR = 0.2  # score from which other scales are tried
_CLEARLY = 0.6  # share of the score that another scale must come below
_SENSIBLE = (0.06, 1.1)  # shares of the area that other scales are tried for
_STEP = 1.2  # from scale to scale; the search itself forgives ten percent


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
        The largest component of each is looked at. In any unit: if they do not fit as they are,
        other scales are tried.
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
    partial, full = as_mesh(partial, "partial mesh"), as_mesh(full, "full mesh")
    with started(settings or Settings(), progress) as run:
        problem = prepare(partial, full, None)
        found = searched(problem, run)
    return _anchors(problem, found, partial, full, count)


def searched(problem: Problem, run: Run) -> Search:
    """The best placement over all proposals and, if need be, over scales."""
    seeker = _Seeker(problem, run)
    ratio = problem.partial.mesh.area / problem.full.mesh.area
    found = None
    unit = _plausible_unit(ratio)
    if unit:
        found = seeker.at(unit)
        if unit == 1 and found.trial.score <= _POOR:
            return found
    best = min(seeker.roughly(_scales(ratio)), key=lambda each: each.trial.score)
    # Another scale has to be clearly better: at a smaller one everything finds some place.
    if found is not None and best.trial.score > _CLEARLY * found.trial.score:
        return found
    return seeker.at(best.scale)


class _Seeker:
    """Places the partial shape on the full one, at any scale."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self._kind, self._run = run.settings.recipe.laplacian, run
        with run.stage("survey"):
            self._full = survey(problem.full.mesh, _PLACES, self._kind)
        self._partial = problem.partial.mesh

    def roughly(self, scales: np.ndarray) -> list[Search]:
        """One choice of places at each scale, nothing improved."""
        alone = copy(self)
        alone._run = Run(self._run.settings)
        with self._run.stage("scales", len(scales)) as stage:

            def attempt(scale: float) -> Search:
                found = alone.at(scale, 1, 0)
                stage.step()
                return found

            return self._run.pool.together(*[lambda each=each: attempt(each) for each in scales])

    def at(self, scale: float, choices: int = CHOICES, rounds: int = _ROUNDS) -> Search:
        """Propose, try and improve at one scale; ``choices`` are those of `proposals`."""
        mesh, full, pool = self._partial.scaled(scale), self._full, self._run.pool
        share = min(1.0, mesh.area / full.mesh.area)
        partial = survey(mesh, max(_FEWEST_PLACES, round(_PLACES * share)), self._kind)
        # Bodies bulge outwards: a surface that does not, beside one that does, is inside out.
        if partial.bulge * full.bulge < 0:
            partial = partial.turned_over()
        unlike = unlikeness(partial, full)
        trials = Trials(partial, full, unlike)
        sets = [each.anchors for each in proposals(partial, full, unlike, choices)]
        tried = self._tried(trials, sets)
        best = _different(trials, tried, _IMPROVED, _DIFFERENT)
        improved = pool.together(
            *[lambda each=each: trials.improved(each, rounds, _ROUND_ANCHORS) for each in best]
        )
        ranked = sorted(improved + tried, key=lambda each: each.score)
        two = _different(trials, ranked, 2, _RIVAL)
        return Search(ranked[0], two[1] if len(two) > 1 else None, partial, full, trials, scale)

    def _tried(self, trials: Trials, sets: list[np.ndarray]) -> list[Trial]:
        """A trial of every set of anchors, best first."""
        with self._run.stage("trials", len(sets)) as stage:

            def attempt(anchors: np.ndarray) -> Trial:
                trial = trials.of(anchors)
                stage.step()
                return trial

            found = self._run.pool.together(*[lambda each=each: attempt(each) for each in sets])
        return sorted(found, key=lambda each: each.score)


def _plausible_unit(ratio: float) -> float:
    """The power of ten, 1 if possible, that makes the partial shape a part of the full one by
    ``ratio``, that of their areas as given; 0 if there is none."""
    low, high = _SHARES
    for power in sorted(range(-8, 9), key=abs):
        if low <= ratio * 100.0**power <= high:
            return 10.0**power
    return 0.0


def _scales(ratio: float) -> np.ndarray:
    """Scales at which the partial shape would cover a sensible share of the full one."""
    low, high = np.log(_SENSIBLE) / 2
    count = int(np.ceil((high - low) / np.log(_STEP))) + 1
    return np.exp(np.linspace(low, high, count)) / np.sqrt(ratio)


def _different(trials: Trials, ranked: list[Trial], count: int, apart: float) -> list[Trial]:
    """The first trials, none of which lies within a mean distance of an earlier one."""
    kept: list[Trial] = []
    for trial in ranked:
        if all(trials.between(trial, other) > apart for other in kept):
            kept.append(trial)
            if len(kept) == count:
                break
    return kept


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
    if found.scale != 1:
        notes.append(
            f"they fit best with the coordinates of the partial shape times {found.scale:.3g}"
        )
    if found.doubtful:
        assert found.rival is not None
        notes.append(
            "another placement of the partial shape fits nearly as well (score "
            f"{found.rival.score:.3g} against {found.trial.score:.3g}, lower is better), as when "
            "left and right or front and back are hard to tell apart; three anchors decide it"
        )
    return notes
