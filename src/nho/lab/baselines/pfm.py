"""Partial Functional Maps (Rodola et al., Computer Graphics Forum 2017), written anew.

A functional map from the partial shape to the full one and a region on the full one are found
alternately. The map has to carry descriptors of the partial shape to those of the region; its
matrix is near a slanted diagonal, for by Weyl's law the j-th eigenfunction of the part oscillates
as fast as number ``j area(full) / area(part)`` of the full shape. The region has to have the part's
area and a short boundary. At the end all is done once more with peaks at matched points as
descriptors.

It uses no anchors. Where the original says nothing or differs from the paper, its public code was
followed. On purpose differently here:

- The weights mean nothing without a unit: the original asks for surfaces of 15,000 to 20,000 square
  units. Here the pair is scaled so that the full shape has such an area.
- L-BFGS instead of conjugate gradients, edge-graph distances instead of fast marching, and matched
  vertices weigh as much as their area, so that a finer mesh does not count more.
- Balls of descriptors hold at least a few edges, so that coarse meshes are described as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial as with_arguments

import numpy as np
from scipy.optimize import minimize

from nho.geometry.mesh import FloatArray, Mesh
from nho.geometry.spectrum import Basis, laplacian, neumann_basis
from nho.geometry.surface import SurfacePoints
from nho.lab.baselines.descriptors import Describe, shot_of_both, waves_of_both
from nho.lab.baselines.pfm_energies import (
    BoundaryLength,
    MapEnergy,
    RegionEnergy,
    mask,
    slanted_penalty,
)
from nho.lab.baselines.readout import solution_without_anchors
from nho.lab.baselines.spectral_icp import peaks, refined
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.parallel import Workers
from nho.runtime.run import Run, Stage

_FULL_AREA = 1.75e4  # in the unit that the weights were chosen for
_MODES = 100
_ROUNDS = 6  # of map and region, at most
_MAP_STEPS, _REGION_STEPS = 1000, 200  # of the optimiser, in one round, at most
_LEAST_GAIN = 1e-5  # share of the energy that a step must save; more digits change no match
_ICP_ROUNDS = 30
_PEAKS = 50
_DECAY = 0.35  # of the peaks, per unit of length


@dataclass(frozen=True)
class SpectralShape:
    """A mesh in the unit of the method, and its spectrum.

    Attributes
    ----------
    masses : (n,) float array
        Vertex areas.
    """

    mesh: Mesh
    masses: np.ndarray
    basis: Basis

    def coefficients(self, functions: np.ndarray) -> FloatArray:
        """(k, d) coefficients of (n, d) functions on the mesh."""
        found: FloatArray = self.basis.functions.T @ (self.masses[:, None] * functions)
        return found


def solve(problem: Problem, run: Run, describe: Describe = shot_of_both) -> Solution:
    """Map and region, without anchors.

    Parameters
    ----------
    describe : callable
        Gives descriptors of both shapes, rows of about unit length: the weights expect that.
    """
    with run.stage("spectra"):
        partial, full = shapes_of(problem, run, _MODES, _FULL_AREA)
    with run.stage("descriptors"):
        pair = describe(partial.mesh, partial.basis, full.mesh, full.basis, run.pool)
    with run.stage("map", _ROUNDS) as stage:
        search = _Search(partial, full, run.pool)
        matrix, _, target = search.run(*pair, None, stage)
    with run.stage("refine", _ROUNDS) as stage:
        pair = peaks(partial.mesh, full.mesh, target, _PEAKS, _DECAY)
        _, inside, target = search.run(*pair, matrix, stage)
    points = SurfacePoints.at_vertices(problem.full.mesh, target)
    return solution_without_anchors(problem, points, run.settings, region_score=inside)


solve_by_waves = with_arguments(solve, describe=waves_of_both)


def shapes_of(
    problem: Problem, run: Run, modes: int, full_area: float
) -> tuple[SpectralShape, SpectralShape]:
    """Partial and full shape in the unit that gives the full one its area; as many modes each."""
    unit = np.sqrt(full_area / problem.full.mesh.area)
    meshes = [side.mesh.scaled(unit) for side in (problem.partial, problem.full)]
    count = min(modes, *(mesh.n_vertices for mesh in meshes))
    found = []
    for mesh in meshes:
        operator = laplacian(mesh, run.settings.recipe.laplacian)
        found.append(SpectralShape(mesh, operator.mass, neumann_basis(operator, count)))
    return found[0], found[1]


def estimated_rank(partial: Basis, full: Basis) -> int:
    """How many modes of the part are slower than the fastest of the full shape (at least one).

    By Weyl's law, about as many of them as the part has of the area.
    """
    return max(1, int((partial.eigenvalues < full.eigenvalues[-1]).sum()))


class _Search:
    """The search for map and region on one pair."""

    def __init__(self, partial: SpectralShape, full: SpectralShape, pool: Workers) -> None:
        self._partial, self._full, self._pool = partial, full, pool
        self._size = len(full.basis.eigenvalues)
        self._rank = estimated_rank(partial.basis, full.basis)
        self._penalty = slanted_penalty(self._size, self._rank)
        self._boundary = BoundaryLength(full.mesh)
        # Single precision: twice as fast, and far more digits than a soft indicator needs.
        project = (full.masses[:, None] * full.basis.functions).T
        self._project = np.ascontiguousarray(project, dtype=np.float32)

    def run(
        self,
        own: np.ndarray,
        other: np.ndarray,
        matrix: np.ndarray | None,
        stage: Stage,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Alternate functional map, region and vertex map until the energy rises.

        Parameters
        ----------
        own : (n_partial, d) float array
            Descriptors of the partial shape.
        other : (n_full, d) float array
            Those of the full shape.
        matrix : (k, k) float array or None
            Start of the functional map; None = the slanted diagonal.
        """
        if matrix is None:
            highest = self._penalty.max()
            matrix = 1 - self._penalty / (highest if highest > 0 else 1)
        source = self._partial.coefficients(own)
        inside = np.ones(self._full.mesh.n_vertices)
        kept: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        least = np.inf
        for _ in range(_ROUNDS):
            goal = self._full.coefficients(inside[:, None] * other)
            energy = MapEnergy(source, goal, self._penalty, self._rank)
            found, value = _minimum(energy, matrix.ravel(), _MAP_STEPS)
            if value >= least:
                break
            least = value
            matrix, target = self._rounded(found.reshape(self._size, self._size))
            inside = self._region(matrix, source, other)
            kept = matrix, inside, target
            stage.step(value)
        assert kept is not None  # the first round always improves on nothing
        return kept

    def _rounded(self, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nearby functional map of a vertex map, and that vertex map."""
        phi, psi = self._partial.basis.functions[:, : self._rank], self._full.basis.functions
        start = matrix[:, : self._rank]
        fitted, target = refined(start, phi, psi, self._partial.masses, _ICP_ROUNDS, self._pool)
        wide = np.zeros_like(matrix)
        wide[:, : self._rank] = fitted
        return wide, target

    def _region(self, matrix: np.ndarray, source: np.ndarray, other: np.ndarray) -> np.ndarray:
        """(n_full,) soft indicator of the region that the map reaches."""
        masses, part = self._full.masses, float(self._partial.masses.sum())
        descriptors = other.astype(np.float32)
        energy = RegionEnergy(
            matrix @ source, self._project, descriptors, masses, part, self._boundary
        )
        ones = self._partial.coefficients(np.ones((self._partial.mesh.n_vertices, 1)))
        start = self._full.basis.functions @ (matrix @ ones)[:, 0]
        return mask(_minimum(energy, start, _REGION_STEPS)[0])


def _minimum(
    energy: MapEnergy | RegionEnergy, start: np.ndarray, steps: int
) -> tuple[np.ndarray, float]:
    """Where L-BFGS arrives, and the energy there."""
    found = minimize(
        energy,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": steps, "maxfun": 2 * steps, "ftol": _LEAST_GAIN, "gtol": 0.0},
    )
    return found.x, float(found.fun)
