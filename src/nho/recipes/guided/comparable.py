"""Make both shapes comparable: one unit, one orientation, anchors that agree."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh, trusted_mesh
from nho.geometry.orientation import Orientation
from nho.geometry.sampling import farthest_points
from nho.problem.anchors import first_few
from nho.problem.preparation import Problem
from nho.recipes.guided.anchor_checks import (
    confirmed,
    confirmed_in_space,
    relative_scale,
    robust_scale,
    trusted,
)
from nho.recipes.guided.distance_evidence import AnchorDistances
from nho.runtime.parallel import SERIAL, Workers
from nho.settings import GuidedRecipe

_MOST_SOURCES = 100  # anchors that distances are measured from; more cost much and add little
_FEWEST_TO_JUDGE = 8  # anchors; fewer cannot outvote a wrong one
_FEWEST_TO_ORIENT = 15  # anchors; at fewer, the angles around them are mostly noise
_TOO_MUCH = 1.2  # areas of the full shape; poses and noise change an area by less
_OPPOSED = -0.3  # correlation of angles below which the shapes face opposite ways


@dataclass(frozen=True)
class ComparablePair:
    """Two shapes that can be compared, and distances from the anchors that can be trusted.

    Attributes
    ----------
    orientation : Orientation or None
        Which way round the shapes are, seen from near anchors, if that is wanted.
    scale : float
        Factor that brought the partial shape to the full one's unit; 1 if left alone.
    used : (m,) bool array
        Anchors of the problem that do not contradict the others.
    sources : (k,) int array
        Those of them (rows of the problem's) that distances are measured from.
    """

    partial: Mesh
    full: Mesh
    distances: AnchorDistances
    orientation: Orientation | None
    scale: float
    used: np.ndarray
    sources: np.ndarray
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def judging(self) -> bool:
        """Whether there are enough anchors to outvote wrong ones."""
        return len(self.used) >= _FEWEST_TO_JUDGE

    @property
    def suspects(self) -> np.ndarray:
        """Anchors (rows of the problem's) that are not used."""
        return np.flatnonzero(~self.used)

    def unconfirmed(self, wrong: np.ndarray) -> np.ndarray:
        """Those of the rows of `distances` that the other anchors do not confirm in space."""
        own, other = self.distances.anchors.T
        kept = ~np.isin(np.arange(len(own)), wrong)
        at = self.partial.vertices[own], self.full.vertices[other]
        return np.asarray(wrong[~confirmed_in_space(*at, kept)[wrong]])

    def without(self, wrong: np.ndarray, pool: Workers = SERIAL) -> ComparablePair:
        """The same without some of the anchors in use, as far as half of all stay.

        Parameters
        ----------
        wrong : (k,) int array
            Rows of `distances`, the worst first.
        """
        half = (len(self.used) + 1) // 2
        wrong = wrong[: max(0, self.used.sum() - half)]
        if not len(wrong):
            return self
        used = self.used.copy()
        used[self.sources[wrong]] = False
        right = used[self.sources]
        distances, orientation = self.distances.subset(right), None
        if self.orientation is not None:
            orientation = distances.orientation(self.partial, self.full, pool)
        return replace(
            self,
            used=used,
            sources=self.sources[right],
            distances=distances,
            orientation=orientation,
        )

    def named_suspects(self, problem: Problem) -> list[str]:
        """A sentence for every suspect, or the first few, in the user's order and numbering."""
        sentences = [
            f"anchor {problem.anchor_names[row]} (partial vertex {problem.given_anchors[row, 0]}, "
            f"full vertex {problem.given_anchors[row, 1]}) contradicts the others and was "
            "not used; correct or remove it"
            for row in sorted(problem.anchor_rows[self.suspects].tolist())
        ]
        return first_few(sentences)


def normalise_pair(
    problem: Problem, recipe: GuidedRecipe, pool: Workers = SERIAL
) -> ComparablePair:
    """Measure the distances and undo what differs only in the way the shapes were stored."""
    partial, full = problem.partial.mesh, problem.full.mesh
    sources = _sources(partial, problem.anchors)
    distances = AnchorDistances.measure(partial, full, problem.anchors[sources])
    notes: list[str] = []
    warnings: list[str] = []
    judging = len(distances.anchors) >= _FEWEST_TO_JUDGE
    scale = robust_scale(distances) if judging else relative_scale(distances)
    if not np.isfinite(scale):
        raise InputError(
            f"no two anchors are apart on both {partial.name} and {full.name}; spread them out"
        )
    # Distances between many anchors tell the scale more exactly.
    many = len(distances.anchors) >= _FEWEST_TO_ORIENT
    tolerance = np.log(recipe.unit_factor) / (2 if many else 1)
    scale = _as_unit(scale, tolerance)
    distances = distances.scaled_partial(scale)
    used = np.ones(len(problem.anchors), dtype=bool)
    if recipe.anchor_limit and judging:
        used[sources] = trusted(distances, recipe.anchor_limit)
        if not used.all():
            own, other = distances.anchors.T
            at = partial.vertices[own], full.vertices[other]
            used[sources] |= confirmed_in_space(*at, used[sources])
        sources, distances = sources[used[sources]], distances.subset(used[sources])
    exact = _as_unit(scale * relative_scale(distances), tolerance)  # without wrong anchors
    distances, scale = distances.scaled_partial(exact / scale), exact
    others = np.setdiff1d(np.flatnonzero(used), sources)
    if len(others) and recipe.anchor_limit:
        used[others] = confirmed(distances, problem.anchors[others])
    others = others[used[others]]
    distances = replace(distances, others=problem.anchors[others])
    if scale != 1:
        partial = partial.scaled(scale)
        notes.append(
            f"{partial.name} is larger or smaller than {full.name}, or in another unit: its "
            f"coordinates were multiplied by {scale:.4g}, as distances between the anchors tell"
        )
    if partial.area > _TOO_MUCH * full.area:
        warnings.append(
            f"the area of {partial.name} is {partial.area / full.area:.3g} times that of "
            f"{full.name}, of which it should be a part; if they were swapped, swap them back"
        )
    orientation = None
    if recipe.orientation_weight:
        orientation = distances.orientation(partial, full, pool)
    enough = len(distances.anchors) >= _FEWEST_TO_ORIENT
    if orientation is not None and enough and orientation.alike(distances.anchors) < _OPPOSED:
        orientation = orientation.flipped()
        partial = trusted_mesh(partial.vertices, partial.faces[:, ::-1], partial.name)
        warnings.append(
            f"the faces of {partial.name} and {full.name} are oriented oppositely at the anchors; "
            "those of one were flipped. If one shape is a mirror image, reflect it first"
        )
    said = tuple(notes), tuple(warnings)
    return ComparablePair(partial, full, distances, orientation, scale, used, sources, *said)


def _sources(partial: Mesh, anchors: np.ndarray) -> np.ndarray:
    """(k,) rows of the anchors to measure distances from: all, or farthest points of many.

    Every component of the partial shape has one.
    """
    if len(anchors) <= _MOST_SOURCES:
        return np.arange(len(anchors))
    vertices = anchors[:, 0]
    chosen = farthest_points(partial.vertices[vertices], _MOST_SOURCES)
    first_of_component = np.unique(partial.components[vertices], return_index=True)[1]
    missing = ~np.isin(
        partial.components[vertices[first_of_component]], partial.components[vertices[chosen]]
    )
    return np.sort(np.concatenate([chosen, first_of_component[missing]]))


def _as_unit(scale: float, tolerance: float) -> float:
    """The power of ten that an estimated scale stands for, if one is near: metres, millimetres."""
    unit = float(10.0 ** np.round(np.log10(scale)))
    return unit if abs(np.log(scale / unit)) < tolerance else scale
