"""Region by aligning spectra, without any correspondence (Rampini et al. 2019), written anew.

The lowest eigenvalues of Delta + v on the full shape approach the Dirichlet eigenvalues of the
region where the potential v is low. So v is sought whose eigenvalues are those of the partial
shape; where its eigenfunctions live is the region. Eigenvalues do not tell where on the shape a
region lies (nor left from right), so the search starts many times and the best fit is kept.

As published: k = 20 eigenvalues, a free number w a vertex, v = tau (tanh w + 1) / 2 with
tau = 50 lambda_k, the loss ``sum (mu - lambda)^2 / lambda^2``, 41 starts (Gaussians at 10 farthest
points in two widths and both signs, and a mask by descriptors), the support rule. What
is different here on purpose, with measurements: docs/baselines.md ("Differences").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.relief import relief, standardised
from nho.geometry.spectrum import Basis, Laplacian, dirichlet_basis, laplacian, neumann_basis
from nho.lab.baselines.readout import solution_without_anchors
from nho.lab.baselines.spectrum_starts import gaussians, look_alikes
from nho.operator.hamiltonian import (
    Hamiltonian,
    ReducedHamiltonian,
    SparseHamiltonian,
    support_score,
)
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run, Stage

_MODES = 20  # k, eigenvalues that are aligned
_BARRIER = 50.0  # tau, in units of the largest of them
_SUPPORT = 0.01  # of the support rule, in units of the lowest eigenvalue
_REDUCED = 100  # modes of the reduced basis for a partial shape as large as the full one
_MOST_REDUCED = 200
_STEPS, _POLISH_STEPS = 20, 15  # from every start in the reduced basis; of the chosen on the mesh
_LEAST_GAIN = 1e-6  # share of the loss that a step must save
_CLOSED = 1e-9  # eigenvalues below this share of the largest are zero, as those of a closed surface

Fit = tuple[float, np.ndarray]  # a loss and the (n,) w it belongs to


def solve(problem: Problem, run: Run) -> Solution:
    """Where the eigenfunctions of the best potential live; no map."""
    partial, full = problem.partial.mesh, problem.full.mesh
    ratio = min(1.0, partial.area / full.area)
    with run.stage("spectra"):
        kind = run.settings.recipe.laplacian
        partial_operator, operator = (laplacian(one, kind) for one in (partial, full))
        query = query_basis(partial, partial_operator, min(_MODES, full.n_vertices))
        size = min(_MOST_REDUCED, round(_REDUCED / ratio))
        reduced = ReducedHamiltonian(neumann_basis(operator, size), operator.mass, run.pool)
    with run.clock.time("starts"):
        starts = gaussians(full, operator.mass, ratio)
        own, other = standardised(relief(partial, partial_operator), relief(full, operator))
        starts.append(look_alikes(own, other, operator.mass, ratio))
    with run.stage("alignment", len(starts)) as stage:
        coarse = Alignment(reduced, operator.mass, query.eigenvalues)
        fits = _fits(coarse, starts, stage)
    with run.clock.time("choice"):
        wanted = seen_by_modes(query, partial_operator.mass, own)
        unlike = [
            unlikeness(wanted, seen_by_modes(coarse.modes(w), operator.mass, other))
            for _, w in fits
        ]
        chosen = fits[int(np.argmin(unlike))][1]
    with run.stage("polish") as stage:
        fine = Alignment(SparseHamiltonian(operator), operator.mass, query.eigenvalues)
        loss, w = fine.lowered(chosen, _POLISH_STEPS)
        score = support_score(fine.modes(w), _SUPPORT)
        stage.step(loss)
    curves = {"alignment": [{"loss": loss}]}
    return solution_without_anchors(problem, None, run.settings, region_score=score, curves=curves)


@dataclass(frozen=True)
class Alignment:
    """Relative error of the first eigenvalues of Delta + v, as a function of w.

    Attributes
    ----------
    hamiltonian : Hamiltonian
        On the full shape.
    mass : (n,) float array
        Vertex areas of the full shape.
    lambdas : (k,) float array
        Dirichlet eigenvalues of the partial shape.
    """

    hamiltonian: Hamiltonian
    mass: np.ndarray
    lambdas: np.ndarray

    @property
    def barrier(self) -> float:
        """Height tau of the potential."""
        return _BARRIER * float(self.lambdas[-1])

    def modes(self, w: np.ndarray) -> Basis:
        """The first k eigenpairs for the potential of w."""
        return self.hamiltonian.modes(self.barrier * (np.tanh(w) + 1) / 2, len(self.lambdas))

    def __call__(self, w: np.ndarray) -> Fit:
        """The loss and its gradient by w, by ``d mu_i / d v_q = a_q psi_i(q)^2``."""
        modes = self.modes(w)
        used = self.lambdas > _CLOSED * self.lambdas[-1]
        lambdas = self.lambdas[used]
        error = (modes.eigenvalues[used] - lambdas) / lambdas
        by_potential = self.mass * (modes.functions[:, used] ** 2 @ (2 * error / lambdas))
        slope = self.barrier / 2 * (1 - np.tanh(w) ** 2)
        return float(error @ error), by_potential * slope

    def lowered(self, w: np.ndarray, steps: int) -> Fit:
        """A lower loss and where it is, after some steps from w."""
        unit = np.sqrt(self.mass / self.mass.mean())

        def weighed(x: np.ndarray) -> Fit:
            loss, gradient = self(x / unit)
            return loss, gradient / unit

        found = minimize(
            weighed,
            w * unit,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": steps, "maxfun": 2 * steps + 2, "ftol": _LEAST_GAIN, "gtol": 0.0},
        )
        return float(found.fun), found.x / unit


def query_basis(partial: Mesh, operator: Laplacian, count: int) -> Basis:
    """The lowest Dirichlet modes of the partial shape; fewer than asked on a tiny mesh."""
    boundary = partial.boundary_vertices
    if boundary.all():
        raise InputError(
            f"{partial.name}: every vertex lies on the boundary, so nothing inside can vibrate; "
            "give a finer mesh or use another method"
        )
    return dirichlet_basis(operator, boundary, count)


def seen_by_modes(modes: Basis, mass: np.ndarray, curvatures: np.ndarray) -> np.ndarray:
    """(k, d) mean descriptor where each mode lives: psi^2 is a density, so it sums to one."""
    means: np.ndarray = modes.functions.T**2 @ (mass[:, None] * curvatures)
    return means


def unlikeness(one: np.ndarray, other: np.ndarray) -> float:
    """Difference of two results of `seen_by_modes`, by the modes that both have."""
    count = min(len(one), len(other))
    return float(np.linalg.norm(one[:count] - other[:count], axis=0).sum())


def _fits(alignment: Alignment, starts: list[np.ndarray], stage: Stage) -> list[Fit]:
    """What some steps from every start lead to."""
    fits: list[Fit] = []
    for start in starts:
        fits.append(alignment.lowered(start, _STEPS))
        stage.step(min(loss for loss, _ in fits))
    return fits
