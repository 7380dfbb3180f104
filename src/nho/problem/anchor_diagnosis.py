"""What is probably wrong with all anchors at once, told from the anchors alone.

Between right anchors, distances along the two surfaces are alike but for the unit. Where they are
not, a few mistakes that people make are tried: indices that count from 1, columns exchanged, rows
shifted by one. One that explains the distances is named, and so are mirrored anchors, and anchors
that leave most of the partial shape open: all in one place, or on a line.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nho.geometry.alignment import similarity
from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.sampling import farthest_points
from nho.problem.preparation import Problem
from nho.problem.prepared_shape import PreparedShape

# How they were chosen: docs/decisions.md.
_MOST = 25  # anchors that are compared; more tell the same
_FEWEST = 5  # fewer fit nearly anything
_UNLIKE = 0.2  # disagreement of distances above which an explanation is sought
_EXPLAINED = 0.35  # of that disagreement; no explanation leaves more
_MIRRORED = 0.15, 0.3  # misfit of a mirror image: in extents of the anchors, in misfits without it
_ONE_PLACE = 0.1  # share of the area
_LINE = 0.06, 0.05  # width of a line: in lengths of it, in widths of the shape
_FLOOR = 0.01  # median distances: two anchors at one place have no infinite ratio


def diagnose(problem: Problem) -> list[str]:
    """What the anchors look like, each with its remedy; nothing if they look right.

    Distances are measured on the solver's meshes, coarse ones if the given ones are large.
    """
    if len(problem.anchors) < 3:
        return []
    rows = np.arange(len(problem.given_anchors))
    if len(rows) > _MOST:
        on_partial = problem.partial.solver_of_given[problem.given_anchors[:, 0]]
        rows = np.sort(farthest_points(problem.partial.mesh.vertices[on_partial], _MOST))
    partial, full = _Side(problem.partial), _Side(problem.full)
    own, other = problem.given_anchors[rows].T
    found = []
    if len(rows) >= _FEWEST:
        found += _misread(problem, rows, partial, full) or _mirrored(partial, full, own, other)
    return [*found, *_leaving_much_open(partial, own)]


class _Side:
    """Distances and places of given vertices on the mesh that the solver sees."""

    def __init__(self, shape: PreparedShape) -> None:
        self.shape, self.mesh = shape, shape.mesh
        self._graph = edge_graph(shape.mesh)

    def solver(self, given: np.ndarray) -> np.ndarray | None:
        """The solver's vertices, or None if one of them is not there."""
        of_given = self.shape.solver_of_given
        if given.min() < 0 or given.max() >= len(of_given) or of_given[given].min() < 0:
            return None
        return np.asarray(of_given[given])

    def distances(self, given: np.ndarray) -> np.ndarray | None:
        """(k, n) distances from k given vertices, or None if one of them is not there."""
        sources = self.solver(given)
        return None if sources is None else distances_from(self._graph, sources)

    def between(self, given: np.ndarray) -> np.ndarray | None:
        """(k, k) distances between them."""
        distances = self.distances(given)
        return None if distances is None else distances[:, self.solver(given)]

    def places(self, given: np.ndarray) -> np.ndarray:
        """(k, 3) positions."""
        return np.asarray(self.mesh.vertices[self.solver(given)])


def _misread(problem: Problem, rows: np.ndarray, partial: _Side, full: _Side) -> list[str]:
    """The mistake that explains the distances, if they need and have an explanation."""
    own, other = problem.given_anchors[rows].T
    given = _disagreement(partial.between(own), full.between(other))
    if not _UNLIKE < given < np.inf:
        return []
    left = {
        said: _disagreement(partial.between(own), full.between(other))
        for said, own, other in _readings(problem, rows)
    }
    said = min(left, key=lambda reading: left[reading])
    if left[said] > _EXPLAINED * given:
        return []
    return [f"{said} (distances between the anchors then agree far better)"]


def _readings(problem: Problem, rows: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """What may have been meant: a sentence, and the vertices on either shape."""
    own, other = problem.given_anchors[rows].T
    partial, full = problem.partial.given.name, problem.full.given.name
    if problem.anchors_by_index:
        counted = "of the anchors seem to count from 1, not from 0: subtract 1 from each"
        yield f"the indices {counted}", own - 1, other - 1
        yield f"the indices on {partial} {counted}", own - 1, other
        yield f"the indices on {full} {counted}", own, other - 1
        yield (
            "the columns of the anchors seem to be exchanged: give the vertex of "
            f"{partial} first, that of {full} second",
            *(other, own),
        )
    for step, neighbour in ((1, "next"), (-1, "previous")):
        yield (
            "the rows of the anchors seem to be shifted by one: the point on "
            f"{full} of each belongs to the {neighbour} row; look for a point that is missing or "
            "given twice",
            own,
            problem.given_anchors[(rows - step) % len(problem.given_anchors), 1],
        )


def _disagreement(own: np.ndarray | None, other: np.ndarray | None) -> float:
    """Median deviation of log(d_full / d_partial) from its median; inf if there is little to say.

    Scattered distances have about a half, right anchors a tenth. A fifth of them may be wrong.
    """
    if own is None or other is None:
        return np.inf
    own, other = (table[np.triu_indices(len(table), 1)] for table in (own, other))
    linked = np.isfinite(own) & np.isfinite(other)
    if linked.mean() < 0.5:
        return np.inf
    own, other = (pairs[linked] + _FLOOR * np.median(pairs[linked]) for pairs in (own, other))
    if not (own.min() > 0 and other.min() > 0):  # most of them at one place
        return np.inf
    ratios = np.log(other / own)
    deviation = np.abs(ratios - np.median(ratios))
    return float(max(np.median(deviation), np.finfo(np.float32).eps))


def _mirrored(partial: _Side, full: _Side, own: np.ndarray, other: np.ndarray) -> list[str]:
    """Whether a mirror image fits the anchors, where the shapes are nearly rigid, and else none."""
    start, goal = partial.places(own), full.places(other)

    def misfit(start: np.ndarray) -> float:
        scale, rotation, shift = similarity(start, goal)
        gaps = scale * start @ rotation.T + shift - goal
        return float(np.linalg.norm(gaps) / np.linalg.norm(goal - goal.mean(axis=0)))

    if len({tuple(place) for place in goal.tolist()}) < _FEWEST:  # one place fits anything
        return []
    plain, mirrored = misfit(start), misfit(start * [-1, 1, 1])
    most, share = _MIRRORED
    if mirrored > min(most, share * plain):
        return []
    return [
        f"the anchors on {partial.mesh.name} look like the mirror image of those on "
        f"{full.mesh.name}: if left and right were exchanged, exchange them back; if one shape is "
        "a mirror image, reflect it first"
    ]


def _leaving_much_open(partial: _Side, own: np.ndarray) -> list[str]:
    """Whether all anchors lie in one place or on a line of the partial shape."""
    distances, mesh = partial.distances(own), partial.mesh
    if distances is None:
        return []
    between = distances[:, partial.solver(own)]
    reach = distances.min(axis=0)
    farthest = partial.shape.given_of_solver[np.where(np.isfinite(reach), reach, -1).argmax()]
    remedy = f"mark more, for example at partial vertex {farthest}, which is far from all of them"
    centre = int(between.max(axis=1).argmin())
    around = mesh.vertex_areas[distances[centre] <= between[centre].max()].sum() / mesh.area
    if around < _ONE_PLACE:
        share = f"{100 * around:.0f} %" if around >= 0.01 else "less than 1 %"
        return [
            f"all anchors lie in one place, on {share} of the area of {mesh.name}, so the answer "
            f"elsewhere is little more than a guess; {remedy}"
        ]
    if not np.isfinite(between).all():  # several components
        return []
    # Classical scaling: extents along and across of the anchors, laid out flat.
    squares = between**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    across, along = np.sqrt(np.maximum(np.linalg.eigvalsh(-centred / 2)[-2:], 0))
    width = mesh.area / between.max()
    if across < _LINE[0] * along and across / np.sqrt(len(own)) < _LINE[1] * width:
        return [
            f"all anchors lie nearly on a line of {mesh.name}, so its two sides can hardly be told "
            f"apart; {remedy}"
        ]
    return []
