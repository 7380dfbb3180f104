"""Distances to the anchors, then ZoomOut (Melzi et al. 2019) in natural (Neumann) bases.

k modes of the partial shape meet k / ratio modes of the full one, ratio being the partial shape's
share of the area: by Weyl's law that many oscillate as fast.
"""

from __future__ import annotations

import numpy as np

from nho.answer import Answer
from nho.baselines.anchor_distance import distance_map
from nho.baselines.readout import answer_of
from nho.correspondence import nearest_rows
from nho.parallel import Workers
from nho.problem import Problem
from nho.progress import Progress, ProgressCallback
from nho.settings import Settings
from nho.spectrum import laplacian, neumann_basis
from nho.stopwatch import Stopwatch
from nho.surface import SurfacePoints

_FIRST, _LAST, _STEP = 50, 100, 5  # modes of the partial shape
_MOST = 200  # modes of the full shape, however small the part


def solve(
    problem: Problem,
    settings: Settings,
    pool: Workers,
    clock: Stopwatch,
    progress: ProgressCallback,
) -> Answer:
    """The map of distances, refined through growing numbers of modes."""
    target = distance_map(problem, pool, clock, progress)
    target = zoomed_map(problem, target, settings, pool, clock, progress)
    return answer_of(problem, SurfacePoints.at_vertices(problem.full.mesh, target), settings)


def zoomed_map(
    problem: Problem,
    target: np.ndarray,
    settings: Settings,
    pool: Workers,
    clock: Stopwatch,
    progress: ProgressCallback,
) -> np.ndarray:
    """(n_partial,) vertex map after going to and fro between map and functional map."""
    partial, full = problem.partial.mesh, problem.full.mesh
    ratio = min(1.0, partial.area / full.area)
    with clock.time("spectra"):
        operator = laplacian(partial, settings.laplacian)
        phi = neumann_basis(operator, _LAST).functions
        most = min(_MOST, round(_LAST / ratio))
        psi = neumann_basis(laplacian(full, settings.laplacian), most).functions
        progress(Progress("spectra", 1, 1))
    with clock.time("zoomout"):
        available = phi.shape[1]
        dimensions = range(min(_FIRST, available), min(_LAST, available) + 1, _STEP)
        for number, k in enumerate(dimensions, start=1):
            partner = min(psi.shape[1], round(k / ratio))
            matrix = (operator.mass[:, None] * phi[:, :k]).T @ psi[target, :partner]
            target = nearest_rows(phi[:, :k], psi[:, :partner] @ matrix.T, pool)
            progress(Progress("zoomout", number, len(dimensions)))
    return target
