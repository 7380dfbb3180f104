"""`find_anchors`: many proposals, a placement by each, the best ones kept.

`more_anchors` is the same beside a few anchors that are given.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from nho.anchor_search.coarse_surface import NO_ANCHORS, CoarseSurface, unlikeness
from nho.anchor_search.placements import Placement, Placer
from nho.anchor_search.proposals import CHOICES, proposals, separated
from nho.geometry.mesh import Mesh
from nho.geometry.mesh_like import MeshLike, as_mesh
from nho.geometry.surface import project
from nho.problem.anchors import Anchors
from nho.problem.preparation import Problem, prepare
from nho.progress import ProgressCallback
from nho.recipes.guided.comparable import ComparablePair
from nho.runtime.run import Run, started
from nho.settings import Settings

COUNT = 25  # anchors that are returned
_PLACES = 1200  # vertices of the coarse full shape; the partial one is as dense
_FEWEST_PLACES = 300  # of the partial shape, however small a part it is
_CHOICES_BESIDE_GIVEN = _IMPROVED_BESIDE_GIVEN = 1  # given anchors leave little to choose
_IMPROVED = 3  # of the placements, the best ones that differ
_ROUND_ANCHORS = 20  # in every round of improvement
_DIFFERENT = 0.05  # mean distance between placements that differ
_RIVAL = 0.1  # mean distance from which another placement is a rival
_RIVALS = 2  # that are kept at most
_CLOSE = 1.6  # times the best score, within which a rival may be the right one
_DOUBTFUL = 1.25  # and within which a user is told
FOUND = "anchors were found automatically"
_SOURCE = "anchors found by nho"
_RIVAL_NOTE = (
    "another placement of the partial shape fits nearly as well, as when left and right or front "
    "and back are hard to tell apart; three anchors decide it"
)

_SHARES = (0.02, 1.2)  # of the full shape's area that a partial one in the same unit may have
_POOR = 0.2  # score from which other scales are tried
_CLEARLY = 0.6  # share of the score that another scale must come below
_SENSIBLE = (0.06, 1.1)  # shares of the area that other scales are tried for
_STEP = 1.2  # from scale to scale; the search itself forgives ten percent


@dataclass(frozen=True)
class SearchResult:
    """The best placements that a search found.

    Attributes
    ----------
    best : Placement
    rivals : list of Placement
        Those that place the partial shape elsewhere and score nearly as well, best first.
    partial, full : CoarseSurface
        What is placed; the partial one in the unit of the full one.
    scale : float
        Unit of the partial shape in that of the full one.
    """

    best: Placement
    rivals: list[Placement]
    partial: CoarseSurface
    full: CoarseSurface
    placer: Placer
    scale: float


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
        The largest component of each is used. In any unit: if they do not fit as they are, other
        scales are tried.
    settings : Settings, optional
        ``threads`` and ``laplacian`` count.
    progress : callable, optional
        Called with a `Progress` after every step.
    count : int
        Anchors wanted, far apart on the partial shape.

    Returns
    -------
    Anchors
        Their notes say where another placement would do nearly as well.
    """
    partial, full = as_mesh(partial, "partial mesh"), as_mesh(full, "full mesh")
    with started(settings or Settings(), progress) as run:
        problem = prepare(partial, full, None)
        found = searched(problem, run)
    anchors = _anchors(problem, found, found.best, count)
    doubtful = any(rival.score < _DOUBTFUL * found.best.score for rival in found.rivals)
    return replace(anchors, notes=(*anchors.notes, _RIVAL_NOTE)) if doubtful else anchors


def find_rivals(partial: Mesh, full: Mesh, run: Run) -> list[Anchors]:
    """Anchors of the best placement, then of those elsewhere that may be the right one."""
    problem = prepare(partial, full, None)
    return placed_anchors(problem, searched(problem, run))


def placed_anchors(problem: Problem, found: SearchResult) -> list[Anchors]:
    """Anchors of all placements, the best first."""
    return [_anchors(problem, found, each, COUNT) for each in (found.best, *found.rivals)]


def searched(problem: Problem, run: Run, all_rivals: bool = False) -> SearchResult:
    """The best placement over all proposals and, if need be, over scales.

    ``all_rivals``: however much worse their scores are.
    """
    meshes = problem.partial.mesh, problem.full.mesh
    search = _Search(*meshes, run, np.inf if all_rivals else _CLOSE)
    ratio = problem.partial.mesh.area / problem.full.mesh.area
    found = None
    unit = _plausible_unit(ratio)
    if unit:
        found = search.at(unit)
        if unit == 1 and found.best.score <= _POOR:
            return found
    best = min(search.roughly(_scales(ratio)), key=lambda each: each.best.score)
    # Another scale has to be clearly better: at a smaller one everything finds some place.
    if found is not None and best.best.score > _CLEARLY * found.best.score:
        return found
    return search.at(best.scale)


def more_anchors(pair: ComparablePair, run: Run) -> np.ndarray:
    """(k, 2) vertices: the anchors of a pair, and further ones that agree with them."""
    search = _Search(pair.partial, pair.full, run, 1.0, pair.distances.anchors)
    found = search.at(1.0, _CHOICES_BESIDE_GIVEN, _IMPROVED_BESIDE_GIVEN)
    pairs = found.placer.good_places(found.best, COUNT)
    return np.stack(
        [found.partial.vertex[pairs[:, 0]], _partners(found, found.best, pairs, pair.full)], axis=1
    )


class _Search:
    """Places the partial shape on the full one, at any scale."""

    def __init__(
        self, partial: Mesh, full: Mesh, run: Run, close: float, given: np.ndarray = NO_ANCHORS
    ) -> None:
        self._close = close  # times the best score, within which a rival is kept
        self._kind, self._run = run.settings.recipe.laplacian, run
        with run.stage("survey"):
            self._full = CoarseSurface.of(full, _PLACES, self._kind, given[:, 1])
        self._partial, self._given = partial, given

    def roughly(self, scales: np.ndarray) -> list[SearchResult]:
        """One choice of places at each scale, nothing improved."""
        alone = copy(self)
        alone._run = Run(self._run.settings)
        with self._run.stage("scales", len(scales)) as stage:

            def attempt(scale: float) -> SearchResult:
                found = alone.at(scale, 1, improve=0)
                stage.step()
                return found

            return self._run.pool.together(*[lambda each=each: attempt(each) for each in scales])

    def at(self, scale: float, choices: int = CHOICES, improve: int = _IMPROVED) -> SearchResult:
        """Propose, place and improve some at one scale; ``choices`` are those of `proposals`."""
        mesh, full, pool = self._partial.scaled(scale), self._full, self._run.pool
        share = min(1.0, mesh.area / full.mesh.area)
        count = max(_FEWEST_PLACES, round(_PLACES * share))
        partial = CoarseSurface.of(mesh, count, self._kind, self._given[:, 0])
        places = [of.places(self._given[:, column]) for column, of in enumerate((partial, full))]
        given = np.stack(places, axis=1)
        # Bodies bulge outwards: a surface that does not, beside one that does, is inside out.
        if not len(given) and partial.bulge * full.bulge < 0:
            partial = partial.flipped()
        unlike = unlikeness(partial, full)
        placer = Placer(partial, full, unlike, given)
        sets = [each.anchors for each in proposals(partial, full, unlike, choices, given)]
        placed = self._placed(placer, sets)
        best = separated(placed, placer.between, _DIFFERENT, improve) if improve else []
        improved = pool.together(
            *[lambda each=each: placer.improved(each, _ROUND_ANCHORS) for each in best]
        )
        ranked = sorted(improved + placed, key=lambda each: each.score)
        first, *others = separated(ranked, placer.between, _RIVAL, 1 + _RIVALS)
        rivals = [each for each in others if each.score < self._close * first.score]
        return SearchResult(first, rivals, partial, full, placer, scale)

    def _placed(self, placer: Placer, sets: list[np.ndarray]) -> list[Placement]:
        """Placements by every set of anchors, best first."""
        with self._run.stage("trials", len(sets)) as stage:

            def attempt(anchors: np.ndarray) -> Placement:
                placement = placer.place(anchors)
                stage.step()
                return placement

            found = self._run.pool.together(*[lambda each=each: attempt(each) for each in sets])
        return sorted(found, key=lambda each: each.score)


def _plausible_unit(ratio: float) -> float:
    """The power of ten, 1 if possible, that makes the partial shape a part of the full one.

    ``ratio`` is that of their areas as given; 0 if there is none.
    """
    low, high = _SHARES
    for power in sorted(range(-8, 9), key=abs):
        if low <= ratio * 100.0**power <= high:
            return 10.0**power
    return 0.0


def _scales(ratio: float) -> np.ndarray:
    """Scales at which the partial shape would cover a sensible share of the full one."""
    low, high = np.log(_SENSIBLE) / 2
    count = int(np.ceil((high - low) / np.log(_STEP))) + 1
    return np.asarray(np.exp(np.linspace(low, high, count)) / np.sqrt(ratio))


def _anchors(problem: Problem, found: SearchResult, placement: Placement, count: int) -> Anchors:
    """A placement as anchors between the meshes as given."""
    pairs = found.placer.good_places(placement, count)
    at = problem.partial.given_of_solver[found.partial.vertex[pairs[:, 0]]]
    to = problem.full.given_of_solver[_partners(found, placement, pairs, problem.full.mesh)]
    shapes = problem.partial.given, problem.full.given
    anchors = Anchors.from_vertices(*shapes, np.stack([at, to], axis=1), source=_SOURCE)
    return replace(anchors, notes=tuple(_notes(found, len(pairs))))


def _partners(
    found: SearchResult, placement: Placement, pairs: np.ndarray, full: Mesh
) -> np.ndarray:
    """(k,) vertices of the full shape where some places come to lie."""
    # Coarse triangles lie a little beside the surface.
    places = placement.points[pairs[:, 0]].positions(found.full.mesh)
    return project(full, places)[0].nearest_vertex(full)


def _notes(found: SearchResult, count: int) -> list[str]:
    notes = [f"{count} {FOUND}; look at the report before you trust them"]
    if found.scale != 1:
        notes.append(
            f"they fit best with the coordinates of the partial shape times {found.scale:.3g}"
        )
    return notes
