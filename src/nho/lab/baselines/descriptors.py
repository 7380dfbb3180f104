"""What a vertex looks like from nearby: descriptors for methods that work without anchors.

`shot` sees positions and normals in a ball and tells left from right, but a bend inside the ball
changes it. `wave_kernel_signature` sees the surface alone, so a bend does not change it, but a cut
does everywhere, and the two sides of a symmetric shape look the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from scipy.spatial import cKDTree

from nho.geometry.mesh import Mesh
from nho.geometry.spectrum import Basis
from nho.runtime.parallel import SERIAL, Workers

SHOT_RADIUS = 0.04  # of the ball, as a share of sqrt(area of the full shape), ...
SHOT_EDGES = 3.0  # ... but at least so many mean edges: on a coarse mesh the ball would be empty
_AZIMUTHS, _ELEVATIONS, _SHELLS = 8, 2, 2  # sectors of the ball
_COSINES = 10  # bins of the angle between normals
_FEWEST = 3  # vertices in the ball, the centre aside; fewer describe nothing
_ROWS = 512  # vertices described at a time
_ENERGIES = 100  # of the wave kernel signature
_SIGMA_STEPS = 7  # its spread, in steps between energies
_LEAST_RANGE = 1.0  # of its energies: on a single triangle all levels may be the same
_ZERO = 1e-8  # share of the largest eigenvalue below which one is zero up to rounding

# From (partial mesh, its basis, full mesh, its basis, workers) to one row of numbers a vertex, for
# either shape.
Describe = Callable[[Mesh, Basis, Mesh, Basis, Workers], tuple[np.ndarray, np.ndarray]]


def shot_of_both(
    partial: Mesh, partial_basis: Basis, full: Mesh, full_basis: Basis, workers: Workers = SERIAL
) -> tuple[np.ndarray, np.ndarray]:
    """SHOT of both shapes, with one radius; the bases play no part."""
    coarsest = max(partial.mean_edge_length, full.mean_edge_length)
    radius = max(SHOT_RADIUS * np.sqrt(full.area), SHOT_EDGES * coarsest)
    return shot(partial, radius, workers), shot(full, radius, workers)


def waves_of_both(
    partial: Mesh, partial_basis: Basis, full: Mesh, full_basis: Basis, workers: Workers = SERIAL
) -> tuple[np.ndarray, np.ndarray]:
    """Wave kernel signatures of both shapes, at the same energies.

    In units of the usual row of the full shape: free of scale, and about as long as rows of SHOT.
    """
    energies = wave_energies(full_basis)
    own, other = (wave_kernel_signature(one, energies) for one in (partial_basis, full_basis))
    usual = np.sqrt((other**2).sum(axis=1).mean())
    return own / usual, other / usual


def wave_energies(basis: Basis, count: int = _ENERGIES) -> np.ndarray:
    """(count,) logarithms of eigenvalues, evenly from the first that is not zero to the last.

    The ends are drawn in by two spreads, so that no Gaussian hangs over the edge of the spectrum.
    """
    levels = np.log(basis.eigenvalues[_positive(basis)])
    low, high = levels[0], max(levels[-1], levels[0] + _LEAST_RANGE)
    margin = 2 * _SIGMA_STEPS * (high - low) / (count - 1 + 4 * _SIGMA_STEPS)
    return np.linspace(low + margin, high - margin, count)


def wave_kernel_signature(basis: Basis, energies: np.ndarray) -> np.ndarray:
    """Wave kernel signature (Aubry et al. 2011): where a particle of given energy is found.

    ``sum_i phi_i(x)^2 w_i / sum_i w_i`` with ``w_i = exp(-(e - log lambda_i)^2 / 2 sigma^2)``.

    Parameters
    ----------
    basis : Basis
        Of the Laplacian; a change of unit shifts the logarithms of its eigenvalues.
    energies : (e,) float array
        Evenly spaced, see `wave_energies`. Take those of one shape for all that are compared.

    Returns
    -------
    (n, e) float array
        In units of 1 / area.
    """
    positive = _positive(basis)
    levels = np.log(basis.eigenvalues[positive])
    sigma = _SIGMA_STEPS * (energies[1] - energies[0])
    exponent = -((energies - levels[:, None]) ** 2) / (2 * sigma**2)
    # Less the largest of each energy: the same shares, and no underflow in a sparse spectrum.
    weight = np.exp(exponent - exponent.max(axis=0))
    signature: np.ndarray = basis.functions[:, positive] ** 2 @ (weight / weight.sum(axis=0))
    return signature


def _positive(basis: Basis) -> np.ndarray:
    positive: np.ndarray = basis.eigenvalues > _ZERO * basis.eigenvalues[-1]
    return positive


def shot(mesh: Mesh, radius: float, workers: Workers = SERIAL) -> np.ndarray:
    """Signatures of histograms of orientations (Tombari et al. 2010) at all vertices.

    In a frame of its own, the ball around a vertex has 32 sectors; each holds a histogram of the
    cosines between the normals there and the frame's third axis. A neighbour counts in the two
    nearest bins of each of the four quantities, by its distance to their centres.

    Parameters
    ----------
    radius : float
        Of the ball, in the unit of the mesh.

    Returns
    -------
    (n, 320) float array
        Rows of unit length; zero where the ball holds too few vertices.
    """
    tree = cKDTree(mesh.vertices)

    def block(rows: slice) -> np.ndarray:
        return _shot_of(mesh, np.arange(mesh.n_vertices)[rows], tree, radius)

    return np.concatenate(workers.over_rows(block, mesh.n_vertices, _ROWS))


def _shot_of(mesh: Mesh, centres: np.ndarray, tree: cKDTree, radius: float) -> np.ndarray:
    """(c, 320) signatures at some vertices."""
    balls = tree.query_ball_point(mesh.vertices[centres], radius, return_sorted=True)
    owner = np.repeat(np.arange(len(centres)), [len(ball) for ball in balls])
    near = np.concatenate(balls).astype(np.int64)
    others = near != centres[owner]
    owner, near = owner[others], near[others]
    offset = mesh.vertices[near] - mesh.vertices[centres[owner]]
    distance = np.linalg.norm(offset, axis=1)
    frame = _frames(owner, offset, radius - distance, len(centres))
    x, y, z = np.einsum("pij,pj->ip", frame[owner], offset)
    facing = np.einsum("pj,pj->p", frame[owner, 2], mesh.vertex_normals[near])

    sectors = (  # nearest two bins, and the share of the first, of each quantity
        _around(np.arctan2(y, x) / (2 * np.pi) * _AZIMUTHS, _AZIMUTHS),
        # From 0 at the lower pole to 1 at the upper one.
        _between((np.arctan2(z, np.hypot(x, y)) / np.pi + 0.5) * _ELEVATIONS - 0.5, _ELEVATIONS),
        _between(distance / radius * _SHELLS - 0.5, _SHELLS),
        _between((facing + 1) / 2 * (_COSINES - 1), _COSINES),
    )
    width = _AZIMUTHS * _ELEVATIONS * _SHELLS * _COSINES
    histogram = np.zeros(len(centres) * width)
    for (azimuth, a), (elevation, e), (shell, s), (cosine, c) in product(*map(_ends, sectors)):
        place = ((azimuth * _ELEVATIONS + elevation) * _SHELLS + shell) * _COSINES + cosine
        histogram += np.bincount(owner * width + place, a * e * s * c, minlength=len(histogram))
    rows = histogram.reshape(len(centres), width)
    rows[np.bincount(owner, minlength=len(centres)) < _FEWEST] = 0
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)


def _frames(owner: np.ndarray, offset: np.ndarray, weight: np.ndarray, count: int) -> np.ndarray:
    """(count, 3, 3) right-handed frames, axes as rows: most spread first, least spread last.

    Principal axes of the offsets, near ones weighted more; first and last point to the side where
    more of the weighted offsets lie.
    """
    total = np.bincount(owner, weight, minlength=count)
    covariance = np.zeros((count, 3, 3))
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        values = weight * offset[:, i] * offset[:, j]
        covariance[:, i, j] = covariance[:, j, i] = np.bincount(owner, values, minlength=count)
    covariance /= np.where(total > 0, total, 1)[:, None, None]
    axes = np.linalg.eigh(covariance)[1]
    first, last = (_pointing(axes[:, :, column], owner, offset, weight) for column in (2, 0))
    return np.stack([first, np.cross(last, first), last], axis=1)


def _pointing(
    axis: np.ndarray, owner: np.ndarray, offset: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """(count, 3) the axis or its opposite, whichever has more of the offsets on its side."""
    along = np.einsum("pj,pj->p", axis[owner], offset)
    balance = np.bincount(owner, weight * along, minlength=len(axis))
    return np.where(balance[:, None] < 0, -axis, axis)


_Bins = tuple[np.ndarray, np.ndarray, np.ndarray]


def _around(position: np.ndarray, count: int) -> _Bins:
    """Two nearest of ``count`` bins on a circle, their centres at whole numbers."""
    low = np.floor(position)
    first = low.astype(np.int64) % count
    return first, (first + 1) % count, 1 - (position - low)


def _between(position: np.ndarray, count: int) -> _Bins:
    """Two nearest of ``count`` bins in a row; beyond the last centre, that bin takes all."""
    position = np.clip(position, 0, count - 1)
    first = np.minimum(np.floor(position).astype(np.int64), count - 2)
    return first, first + 1, 1 - (position - first)


def _ends(bins: _Bins) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    first, second, share = bins
    yield first, share
    yield second, 1 - share
