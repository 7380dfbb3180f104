"""Fully Spectral Partial Shape Matching (Litany et al., Eurographics 2017), written anew.

The first k eigenfunctions of the full shape are combined to r new functions, which are to be the
first r eigenfunctions of the part, placed where the part lies: orthonormal, nearly harmonic there
(a Laplacian with small entries off the diagonal), and with the coefficients that the part's
descriptors have. No region is sought; the new functions vanish outside, and what they make of the
constant one is the region. The map is found among the new functions by spectral closest points;
peaks at matched points are descriptors of a second round.

Legend (N partial, M full): X is (k, r) with orthonormal columns, Lambda holds the full shape's
eigenvalues, A (r, d) and B (k, d) are the descriptors' coefficients.

It uses no anchors. docs/baselines.md ("Differences") says where it departs from the original, and
how unstable the answer is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.geometry.spectrum import laplacian, neumann_basis
from nho.geometry.surface import SurfacePoints
from nho.lab.baselines.descriptors import Describe, shot_of_both
from nho.lab.baselines.pfm_energies import column_lengths
from nho.lab.baselines.readout import solution_without_anchors
from nho.lab.baselines.spectral_icp import peaks, refined
from nho.lab.baselines.stiefel import minimised
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run, Stage

_MODES = 100
_FEWEST = 3  # modes of the part; fewer cannot tell places apart
_STEPS = 500  # of the optimiser, in either round
_WEIGHT = 0.1  # of the descriptors against the off-diagonal entries
_ICP_ROUNDS = 10
_PEAKS = 200
_DECAY = 20.0  # of the peaks, in units of 1 / sqrt(area of the full shape)


@dataclass(frozen=True)
class JointEnergy:
    """``off(X^T Lambda X) + weight |A - X^T B|_21``: harmonic, and fit for the descriptors.

    ``off`` is the sum of squares off the diagonal; the second norm is the sum of the lengths of
    the columns, so that a descriptor that does not fit counts little.

    Attributes
    ----------
    eigenvalues : (k,) float array
    source, target : (r, d) and (k, d) float arrays
        A and B.
    weight : float
    """

    eigenvalues: np.ndarray
    source: np.ndarray
    target: np.ndarray
    weight: float

    def __call__(self, matrix: np.ndarray) -> tuple[float, np.ndarray]:
        """Energy and gradient at X."""
        scaled = self.eigenvalues[:, None] * matrix
        inner = matrix.T @ scaled
        np.fill_diagonal(inner, 0)
        misfit = self.source - matrix.T @ self.target
        length, direction = column_lengths(misfit)
        value = (inner**2).sum() + self.weight * length.sum()
        return float(value), 4 * scaled @ inner - self.weight * self.target @ direction.T


def solve(problem: Problem, run: Run, describe: Describe = shot_of_both) -> Solution:
    """Map and region, without anchors."""
    partial, full = problem.partial.mesh, problem.full.mesh
    with run.stage("spectra"):
        operators = [laplacian(mesh, run.settings.recipe.laplacian) for mesh in (partial, full)]
        count = min(_MODES, partial.n_vertices, full.n_vertices)
        own, other = (neumann_basis(operator, count) for operator in operators)
        # By Weyl's law, as many as the part has of the area.
        rank = int((own.eigenvalues < other.eigenvalues[-1]).sum())
        if rank < _FEWEST:
            raise InputError(
                f"{partial.name}: only {rank} of its modes are as slow as the first {count} of "
                f"{full.name}; it is too small or in another unit, so give it in the full shape's"
            )
    masses, full_masses = (operator.mass for operator in operators)
    modes, full_modes = own.functions[:, :rank], other.functions
    slowness = other.eigenvalues / other.eigenvalues[-1]
    with run.stage("descriptors"):
        pair = describe(partial, own, full, other, run.pool)
    matrix: np.ndarray | None = None
    energies: list[float] = []
    for name in ("basis", "refine"):
        with run.stage(name, _STEPS) as stage:
            source = modes.T @ (masses[:, None] * pair[0])
            target = full_modes.T @ (full_masses[:, None] * pair[1])
            if matrix is None:
                left, _, right = np.linalg.svd(target @ source.T, full_matrices=False)
                matrix = left @ right
            matrix, value = _joint_basis(slowness, source, target, matrix, stage)
            energies.append(value)
            moved = full_modes @ matrix
            _, image = refined(np.eye(rank), modes, moved, masses, _ICP_ROUNDS, run.pool)
        if name == "basis":
            with run.stage("descriptors"):
                pair = peaks(partial, full, image, _PEAKS, _DECAY)
    inside = moved @ (masses @ modes)
    points = SurfacePoints.at_vertices(full, image)
    curves = {"joint basis": [{"energy": value} for value in energies]}
    score = np.clip(inside, 0, 1)
    return solution_without_anchors(problem, points, run.settings, score, curves=curves)


def _joint_basis(
    eigenvalues: np.ndarray,
    source: np.ndarray,
    target: np.ndarray,
    start: np.ndarray,
    stage: Stage,
) -> tuple[np.ndarray, float]:
    """(k, r) the combinations that conjugate gradients find from ``start``, and their energy."""
    total = np.sqrt((source**2).sum(axis=0)).sum()
    weight = _WEIGHT * start.shape[1] / total if total > 0 else 0.0
    energy = JointEnergy(eigenvalues, source, target, weight)
    return minimised(energy, start, _STEPS, stage.step)
