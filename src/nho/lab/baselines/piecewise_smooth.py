"""Region by a piecewise smooth function (after Bensaid, Rotstein, Goldenstein, Kimmel 2023).

Places of the full shape are paired with places of the part by their descriptors. A pair that
finds back speaks for the region there, one that does not against it. A neural field on the full
shape, with the Laplacian's eigenfunctions as positional encoding, interpolates that evidence by a
function that is smooth but for short jumps, and the region is where it exceeds one half. It finds
the region alone, no map, and uses no anchors. The evidence rule is ours:
docs/baselines.md ("Differences").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.spectrum import laplacian, neumann_basis
from nho.lab.baselines.descriptors import Describe, shot_of_both
from nho.lab.baselines.pfm_energies import BoundaryLength
from nho.lab.baselines.readout import solution_without_anchors
from nho.operator.correspondence import nearest_rows
from nho.operator.field import NeuralField
from nho.operator.network import Adam
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.parallel import Workers
from nho.runtime.run import Run, Stage

_MODES = 20  # of the encoding: with more the field learns stray evidence by heart
_HIDDEN = (128, 128)
_STEPS, _LEARNING_RATE = 300, 3e-3
_BOUNDARY, _AREA = 0.02, 2.0  # weights against the evidence
_BACK = 3.0  # mean edges within which a pair finds back
_SEED = 0  # of the network's first weights


@dataclass(frozen=True)
class PiecewiseSmoothEnergy:
    """Energy of a soft indicator s on the full shape.

    ``evidence + 0.02 length + 2 (area - share)^2``.

    Attributes
    ----------
    evidence : (n,) float array
        One where the part was found, zero where it was not.
    weights : (n,) float array
        Of the squared differences from it; they sum to one.
    masses : (n,) float array
        Areas of the vertices, as shares of the whole.
    share : float
        The part's.
    boundary : BoundaryLength
    """

    evidence: np.ndarray
    weights: np.ndarray
    masses: np.ndarray
    share: float
    boundary: BoundaryLength

    def __call__(self, s: np.ndarray) -> tuple[float, np.ndarray]:
        """Energy and gradient at s."""
        missed = s - self.evidence
        length, by_length = self.boundary(s)
        excess = float(self.masses @ s) - self.share
        value = self.weights @ missed**2 + _BOUNDARY * length + _AREA * excess**2
        gradient = 2 * self.weights * missed + _BOUNDARY * by_length
        return float(value), gradient + 2 * _AREA * excess * self.masses


def solve(problem: Problem, run: Run, describe: Describe = shot_of_both) -> Solution:
    """The region alone, without anchors."""
    partial, full = problem.partial.mesh, problem.full.mesh
    with run.stage("spectra"):
        operators = [laplacian(mesh, run.settings.recipe.laplacian) for mesh in (partial, full)]
        own, other = (neumann_basis(operator, _MODES) for operator in operators)
    with run.stage("descriptors"):
        found = found_back(*describe(partial, own, full, other, run.pool), full, run.pool)
    with run.stage("fit", _STEPS) as stage:
        masses = operators[1].mass / operators[1].mass.sum()
        share = min(1.0, partial.area / full.area)
        weights = evidence_weights(found, masses, share)
        energy = PiecewiseSmoothEnergy(
            found.astype(np.float64), weights, masses, share, BoundaryLength(full)
        )
        # The full shape has area one, so the eigenfunctions carry no unit.
        random = np.random.default_rng(_SEED)
        field = NeuralField(other.functions, _HIDDEN, "tanh", random, run.pool)
        inside = _fitted(field, energy, stage)
    return solution_without_anchors(problem, None, run.settings, inside)


def found_back(own: np.ndarray, other: np.ndarray, full: Mesh, pool: Workers) -> np.ndarray:
    """(n_full,) whether the way to the likest partial vertex and back ends near its start.

    Parameters
    ----------
    own : (n_partial, d) float array
        Descriptors of the partial shape.
    other : (n_full, d) float array
        Those of the full shape.
    """
    likest = nearest_rows(other, own, pool)
    back = nearest_rows(own, other, pool)[likest]
    away = np.linalg.norm(full.vertices - full.vertices[back], axis=1)
    found: np.ndarray = away <= _BACK * full.mean_edge_length
    return found


def evidence_weights(found: np.ndarray, masses: np.ndarray, share: float) -> np.ndarray:
    """(n,) weights that sum to one: ``share`` for the places found, the rest for the others.

    Few places of the region are found, but far fewer outside, so that a place found says more.
    """
    weights = np.zeros_like(masses)
    for side, part in ((found, share), (~found, 1 - share)):
        if side.any():
            weights[side] = part * masses[side] / masses[side].sum()
    total = weights.sum()
    return weights / total if total > 0 else masses


def _fitted(field: NeuralField, energy: PiecewiseSmoothEnergy, stage: Stage) -> np.ndarray:
    """(n,) the field's soft indicator after Adam on its parameters."""
    optimiser = Adam(_LEARNING_RATE)
    for _ in range(_STEPS):
        value, by_indicator = energy(field.indicator())
        optimiser.step(field.parameters, field.gradient(by_indicator))
        stage.step(value)
    return field.indicator()
