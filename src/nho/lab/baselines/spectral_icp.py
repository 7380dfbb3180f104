"""From a functional map to a vertex map and on to functions that ask for more of the same.

The functional map takes functions on the partial shape to functions on the full one. A peak at a
partial vertex has the coefficients ``phi(p)``, so its image lies at the full vertex q whose
``psi(q)`` is nearest to ``C phi(p)``.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.geodesics import distances_from, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.operator.correspondence import nearest_rows
from nho.runtime.parallel import SERIAL, Workers

_LEAST_GAIN = 1e-3  # share of the misfit that another round must save


def refined(
    matrix: np.ndarray,
    partial: np.ndarray,
    full: np.ndarray,
    partial_masses: np.ndarray,
    rounds: int,
    workers: Workers = SERIAL,
) -> tuple[np.ndarray, np.ndarray]:
    """Alternate closest points in the spectral domain and the isometry that fits them best.

    Parameters
    ----------
    matrix : (k, r) float array
        Functional map to start from, r <= k.
    partial : (n_partial, r) float array
        Basis functions, one a column.
    full : (n_full, k) float array
    partial_masses : (n_partial,) float array
        Weight of every partial vertex in the fit.
    rounds : int
        At most.

    Returns
    -------
    (k, r) float array
        With orthonormal columns, but for the given one if no round improved on it.
    (n_partial,) int array
        Full vertex of every partial vertex.
    """
    weighted = partial_masses[:, None] * partial

    def matched(candidate: np.ndarray) -> tuple[np.ndarray, float]:
        image = partial @ candidate.T
        target = nearest_rows(image, full, workers)
        return target, float(partial_masses @ np.linalg.norm(image - full[target], axis=1))

    target, misfit = matched(matrix)
    for _ in range(rounds):
        left, _, right = np.linalg.svd(full[target].T @ weighted, full_matrices=False)
        candidate = left @ right
        candidate_target, candidate_misfit = matched(candidate)
        if candidate_misfit >= misfit:
            break
        gain = 1 - candidate_misfit / misfit
        matrix, target, misfit = candidate, candidate_target, candidate_misfit
        if gain < _LEAST_GAIN:
            break
    return matrix, target


def peaks(
    partial: Mesh, full: Mesh, target: np.ndarray, count: int, decay: float
) -> tuple[np.ndarray, np.ndarray]:
    """(n_partial, count) and (n_full, count) peaks ``exp(-decay d)`` at scattered matches.

    Distances d run along edges; ``decay`` is in units of 1 / length of the meshes.
    """
    chosen = sample_vertices(partial, min(count, partial.n_vertices), "euclidean")
    return (
        np.exp(-decay * distances_from(edge_graph(partial), chosen)).T,
        np.exp(-decay * distances_from(edge_graph(full), target[chosen])).T,
    )
