"""Where bending begins: first maps from distances along the surface, and from a warp of space.

Distances do not mind how the pose changes, but holes, gaps and noise mislead them, and so does the
relief of a noisy scan. A thin-plate spline of the anchors minds the pose, and nothing else. Both
are bent, and the less distorted pose is kept. Where the spline itself stretches the surface much,
the pose has changed too much for it, and it is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.geometry.alignment import similarity
from nho.geometry.spline import splined
from nho.geometry.surface import project
from nho.recipes.guided.comparable import ComparablePair
from nho.recipes.guided.distance_evidence import first_map
from nho.runtime.run import Run
from nho.settings import GuidedRecipe

_STRETCH = 0.15  # median |log ratio| of edge lengths; a spline that does more is no start
Curvatures = tuple[np.ndarray, np.ndarray]  # relief of the partial and of the full shape


@dataclass(frozen=True)
class Start:
    """A map to bend from.

    Attributes
    ----------
    target : (n_partial,) int array
        Vertices of the full shape.
    relief : bool
        Like is drawn to like while the surface bends.
    """

    target: np.ndarray
    relief: bool


def starts(pair: ComparablePair, curvatures: Curvatures | None, run: Run) -> list[Start]:
    """All that are wanted, of which the best will be kept.

    With few anchors relief may mislead distances as well, so the map without it is tried, too.
    """
    recipe = run.recipe(GuidedRecipe)
    found = []
    if recipe.start != "spline":
        calibrate, weight = recipe.calibrate_distances, recipe.orientation_weight
        few = len(pair.distances.anchors) < recipe.many_anchors
        for of in [curvatures, None] if few and curvatures is not None else [curvatures]:
            target = first_map(pair.distances, pair.orientation, of, calibrate, weight, run.pool)
            found.append(Start(target, relief=True))
    if recipe.start != "distances":
        warped, stretch = warped_by_spline(pair)
        if not found or stretch < _STRETCH:
            target = project(pair.full, warped)[0].nearest_vertex(pair.full)
            found.append(Start(target, relief=False))
    return found


def warped_by_spline(pair: ComparablePair) -> tuple[np.ndarray, float]:
    """(n_partial, 3) positions after a spline of the anchors, and how much it stretches edges."""
    partial, full = pair.partial.vertices, pair.full.vertices
    own, other = pair.distances.anchors.T
    warped = splined(partial[own], full[other], partial)
    scale = similarity(partial[own], full[other])[0]
    return warped, stretch_between(scale * partial, warped, pair.partial.edges)


def stretch_between(before: np.ndarray, after: np.ndarray, edges: np.ndarray) -> float:
    """Median |log ratio| of edge lengths."""
    own, other = _edge_lengths(before, edges), _edge_lengths(after, edges)
    known = own > 0
    with np.errstate(divide="ignore"):  # an edge may collapse
        return float(np.median(np.abs(np.log(other[known] / own[known]))))


def _edge_lengths(positions: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(positions[edges[:, 0]] - positions[edges[:, 1]], axis=1))
