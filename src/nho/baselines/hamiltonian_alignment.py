"""Region by aligning spectra, without any correspondence (Rampini et al. 2019), written anew.

The lowest eigenvalues of Delta + v on the full shape approach the Dirichlet eigenvalues of the
region where the potential v is low. So v is sought whose eigenvalues are those of the partial
shape; where its eigenfunctions live is the region. Eigenvalues do not tell where on the shape a
region lies (nor left from right), so the search starts many times and the best fit is kept.

As published: k = 20 eigenvalues, a free number w a vertex, v = tau (tanh w + 1) / 2 with
tau = 50 lambda_k, the loss ``sum (mu - lambda)^2 / lambda^2``, 41 starts (Gaussians at 10 farthest
points in two widths and both signs, and a mask by descriptors), the support rule. On purpose
differently here:

- Loss, barrier and support rule are free of the unit, but the original describes surfaces in balls
  of 10 units, to guess a mask and to choose among its 41 solutions. Here the mask comes from
  curvature at shares of sqrt(area), and the solution with the least loss is chosen.
- L-BFGS instead of a trust region, and starts by rising cost instead of a coarser mesh: all of them
  a few steps in a reduced basis, the best ones longer, the last ones on the mesh itself.
- Steps are weighed by vertex areas, so that the sampling of the mesh does not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from nho.answer import Answer
from nho.baselines.hamiltonian_starts import gaussians, look_alikes
from nho.baselines.readout import answer_without_anchors
from nho.errors import InputError
from nho.hamiltonian import Hamiltonian, ReducedHamiltonian, SparseHamiltonian, support_score
from nho.mesh import Mesh
from nho.parallel import Workers
from nho.problem import Problem
from nho.progress import Progress, ProgressCallback
from nho.settings import Settings
from nho.spectrum import Basis, Laplacian, dirichlet_basis, laplacian, neumann_basis
from nho.stopwatch import Stopwatch

_MODES = 20  # k, eigenvalues that are aligned
_BARRIER = 50.0  # tau, in units of the largest of them
_SUPPORT = 0.01  # of the support rule, in units of the lowest eigenvalue
_REDUCED = 100  # modes of the reduced basis for a partial shape as large as the full one
_MOST_REDUCED = 200
# Rounds in the reduced basis: how many of the starts take part, and for how many steps.
_ROUNDS = ((41, 8), (12, 16), (4, 40))
_POLISHED, _POLISH_STEPS = 2, 15  # on the mesh itself
_LEAST_GAIN = 1e-6  # share of the loss that a step must save
_CLOSED = 1e-9  # eigenvalues below this share of the largest are zero, as those of a closed surface

Fit = tuple[float, np.ndarray]  # a loss and the (n,) w it belongs to


def solve(
    problem: Problem,
    settings: Settings,
    pool: Workers,
    clock: Stopwatch,
    progress: ProgressCallback,
) -> Answer:
    """Where the eigenfunctions of the best potential live; no map."""
    partial, full = problem.partial.mesh, problem.full.mesh
    ratio = min(1.0, partial.area / full.area)
    with clock.time("spectra"):
        partial_operator, operator = (laplacian(one, settings.laplacian) for one in (partial, full))
        lambdas = query_spectrum(partial, partial_operator, min(_MODES, full.n_vertices))
        size = min(_MOST_REDUCED, round(_REDUCED / ratio))
        reduced = ReducedHamiltonian(neumann_basis(operator, size), operator.mass, pool)
        progress(Progress("spectra", 1, 1))
    with clock.time("starts"):
        starts = gaussians(full, operator.mass, ratio)
        starts.append(look_alikes(partial, partial_operator, full, operator, ratio))
    with clock.time("alignment"):
        coarse = Alignment(reduced, operator.mass, lambdas)
        for number, (count, steps) in enumerate(_ROUNDS, start=1):
            fits = _by_loss(coarse, starts[:count], steps, f"round {number}", progress)
            starts = [w for _, w in fits]
    with clock.time("polish"):
        fine = Alignment(SparseHamiltonian(operator), operator.mass, lambdas)
        fits = _by_loss(fine, starts[:_POLISHED], _POLISH_STEPS, "polish", progress)
        score = support_score(fine.modes(fits[0][1]), _SUPPORT)
    curves = {"alignment": [{"loss": loss} for loss, _ in fits]}
    return answer_without_anchors(problem, None, settings, region_score=score, curves=curves)


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

        limits = {"maxiter": steps, "maxfun": 2 * steps + 2, "ftol": _LEAST_GAIN, "gtol": 0.0}
        found = minimize(weighed, w * unit, jac=True, method="L-BFGS-B", options=limits)
        return float(found.fun), found.x / unit


def query_spectrum(partial: Mesh, operator: Laplacian, count: int) -> np.ndarray:
    """(k,) lowest Dirichlet eigenvalues of the partial shape; fewer than asked on a tiny mesh."""
    boundary = partial.boundary_vertices
    if boundary.all():
        raise InputError(
            f"{partial.name}: every vertex lies on the boundary, so nothing inside can vibrate; "
            "give a finer mesh or use another method"
        )
    return dirichlet_basis(operator, boundary, count).eigenvalues


def _by_loss(
    alignment: Alignment,
    starts: list[np.ndarray],
    steps: int,
    stage: str,
    progress: ProgressCallback,
) -> list[Fit]:
    """What some steps from every start lead to, the best first."""
    fits: list[Fit] = []
    for number, start in enumerate(starts, start=1):
        fits.append(alignment.lowered(start, steps))
        progress(Progress(stage, number, len(starts), min(loss for loss, _ in fits)))
    return sorted(fits, key=lambda fit: fit[0])
