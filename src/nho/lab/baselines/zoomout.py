"""ZoomOut (Melzi et al. 2019) for a part of a shape, in natural (Neumann) bases.

Vertex map and functional map alternate, with more modes every time. k modes of the partial shape
meet k / ratio modes of the full one, ratio being the partial shape's share of the area: by Weyl's
law that many oscillate as fast. It starts from the anchors alone (``"zoomout"``), or from the map
of distances to them (``"anchor-distance+zoomout"``).

The original is for two whole shapes, where a change of unit cancels. Here it enters by the ratio,
so a part in another unit than its full shape is matched in the wrong modes; one unit of both, be
it any, changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.geometry.spectrum import laplacian, neumann_basis
from nho.geometry.surface import SurfacePoints
from nho.lab.baselines.anchor_distance import distance_map
from nho.lab.baselines.readout import solution_of
from nho.operator.correspondence import align, nearest_rows
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run

# Modes of the partial shape. Fewer than 50 to start with would throw away what a map of distances
# knows.
_FIRST, _LAST, _STEP = 50, 100, 5
_MOST = 200  # modes of the full shape, however small the part
# Modes fitted at the anchors, a share of their number (measured in docs/baselines.md). With fewer,
# the fit cannot tell limbs apart; with more, it bends between the anchors.
_MODES_PER_ANCHOR = 0.8


def solve_from_anchors(problem: Problem, run: Run) -> Solution:
    """A functional map fitted at the anchors, refined through growing numbers of modes."""
    bases = _bases_of(problem, run)
    first = min(_FIRST, bases.count, max(3, round(_MODES_PER_ANCHOR * len(problem.anchors))))
    own, other = problem.anchors.T
    # Least squares; of least norm where the full shape has more modes than there are anchors.
    modes, partners = bases.first(first)
    target = nearest_rows(modes, partners @ align(partners[other], modes[own]), run.pool)
    target = _zoomed(bases, target, first, run)
    return solution_of(problem, SurfacePoints.at_vertices(problem.full.mesh, target), run.settings)


def solve_from_distances(problem: Problem, run: Run) -> Solution:
    """The map of distances to the anchors, refined through growing numbers of modes."""
    target = distance_map(problem, run)
    target = zoomed_map(problem, target, run)
    return solution_of(problem, SurfacePoints.at_vertices(problem.full.mesh, target), run.settings)


def zoomed_map(problem: Problem, target: np.ndarray, run: Run) -> np.ndarray:
    """(n_partial,) a good vertex map, refined from 50 modes on."""
    bases = _bases_of(problem, run)
    return _zoomed(bases, target, min(_FIRST, bases.count), run)


@dataclass(frozen=True)
class _Bases:
    """Modes of both shapes.

    Attributes
    ----------
    partial : (n_partial, k) float array
    full : (n_full, k') float array
    mass : (n_partial,) float array
    ratio : float
        The partial shape's share of the area, at most 1.
    """

    partial: np.ndarray
    full: np.ndarray
    mass: np.ndarray
    ratio: float

    @property
    def count(self) -> int:
        """Modes of the partial shape that there are."""
        return int(self.partial.shape[1])

    def first(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The first ``count`` modes of the partial shape, and as many of the full as meet them."""
        return self.partial[:, :count], self.full[:, : round(count / self.ratio)]


def _bases_of(problem: Problem, run: Run) -> _Bases:
    partial, full = problem.partial.mesh, problem.full.mesh
    ratio = min(1.0, partial.area / full.area)
    with run.stage("spectra"):
        operator = laplacian(partial, run.settings.recipe.laplacian)
        phi = neumann_basis(operator, _LAST).functions
        most = min(_MOST, round(_LAST / ratio))
        psi = neumann_basis(laplacian(full, run.settings.recipe.laplacian), most).functions
    return _Bases(phi, psi, operator.mass, ratio)


def _zoomed(bases: _Bases, target: np.ndarray, first: int, run: Run) -> np.ndarray:
    """(n_partial,) vertex map after going to and fro between map and functional map."""
    dimensions = range(first, min(_LAST, bases.count) + 1, _STEP)
    with run.stage("zoomout", len(dimensions)) as stage:
        for count in dimensions:
            modes, partners = bases.first(count)
            matrix = (bases.mass[:, None] * modes).T @ partners[target]
            target = nearest_rows(modes, partners @ matrix.T, run.pool)
            stage.step()
    return target
