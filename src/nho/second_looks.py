"""Second looks at a whole map through spectral coordinates: Laplacian and learned Hamiltonian.

Bending is local: a fold, or a stretch of surface that slid to the wrong place, stays. Spectral
coordinates see the map as a whole. Two kinds of them propose candidates for the next bending:

- *Laplacian*: natural eigenfunctions of both shapes; k modes of the partial shape meet k / ratio
  of the full one, as many as live on the same area (ratio = share of the area).
- *Hamiltonian*: eigenfunctions of the learned operator on the full shape, which live on the region
  only, so that k modes meet k modes.
"""

from __future__ import annotations

import numpy as np

from nho.bending import Bending
from nho.correspondence import nearest_rows
from nho.coverage import coverage
from nho.field import NeuralField, encoding_at
from nho.fitting import fit_operator
from nho.hamiltonian import ReducedHamiltonian, insulated_modes
from nho.losses import NOBODY, Objective
from nho.parallel import Workers
from nho.persistence import Superlevels
from nho.problem import Problem
from nho.progress import ProgressCallback
from nho.settings import Settings
from nho.spectrum import (
    Basis,
    Laplacian,
    dirichlet_basis,
    hamiltonian_basis,
    laplacian,
    neumann_basis,
)

_MODES = 100  # of the partial shape, and of the Hamiltonian
_MOST_MODES = 200  # of the full shape's Laplacian
_FIRST, _LATER, _STEP = 20, 40, 10  # spectral dimensions of the first and of later looks
_LEAST_INDICATOR = 1e-3  # keeps the operator definite where the region is not


class SecondLooks:
    """Candidate maps from spectral coordinates, round by round.

    Attributes
    ----------
    curves : dict
        Losses of the operator, by round.
    """

    def __init__(
        self,
        problem: Problem,
        bending: Bending,
        anchored: np.ndarray,
        settings: Settings,
        pool: Workers,
        progress: ProgressCallback,
    ) -> None:
        self._partial, self._full = problem.partial.mesh, problem.full.mesh
        self._bending, self.pool, self.progress = bending, pool, progress
        self._anchored = anchored  # full vertices of the trusted anchors
        self.settings = settings
        self.curves: dict[str, list[dict[str, float]]] = {}
        self._kinds = (
            ("laplacian", "hamiltonian")
            if settings.coordinates == "both"
            else (settings.coordinates,)
        )
        ratio = min(1.0, self._partial.area)  # the full shape has area one
        full_modes = max(settings.encoding_modes, settings.galerkin_modes)
        if "laplacian" in self._kinds:
            full_modes = max(full_modes, min(_MOST_MODES, round(_MODES / ratio)))
        self._ratio = ratio

        def of_partial() -> tuple[Laplacian, Basis, np.ndarray]:
            operator = laplacian(self._partial, settings.laplacian)
            basis = neumann_basis(operator, _MODES)
            boundary = self._partial.boundary_vertices
            spectrum = np.empty(0)
            if "hamiltonian" in self._kinds and settings.weight_spectral:
                spectrum = dirichlet_basis(operator, boundary, settings.spectral_modes).eigenvalues
            return operator, basis, spectrum

        def of_full() -> tuple[Laplacian, Basis, np.ndarray]:
            operator = laplacian(self._full, settings.laplacian)
            return operator, neumann_basis(operator, full_modes), np.empty(0)

        (self._m_operator, self._m_basis, self._spectrum), (self._operator, self._basis, _) = (
            pool.together(of_partial, of_full)
        )

    def maps(self, pose: np.ndarray, number: int) -> list[np.ndarray]:
        """Candidate vertex maps for the next round, from the present pose."""
        target = self._bending.read_off(pose).nearest_vertex(self._full)
        dimensions = list(
            range(_FIRST if number == 1 else _LATER, self._m_basis.functions.shape[1] + 1, _STEP)
        )
        maps = []
        for kind in self._kinds:
            if kind == "laplacian":
                functions = self._basis.functions
                most = functions.shape[1]
                partners = [min(most, max(k, round(k / self._ratio))) for k in dimensions]
            else:
                functions = self._hamiltonian(pose, number).functions
                partners = [min(k, functions.shape[1]) for k in dimensions]
            maps.append(self._zoom(target, functions, dimensions, partners))
        return maps

    def _zoom(
        self, target: np.ndarray, functions: np.ndarray, dimensions: list[int], partners: list[int]
    ) -> np.ndarray:
        """ZoomOut: from map to functional map to map, in growing dimensions."""
        phi, mass = self._m_basis.functions, self._m_operator.mass
        for k, partner in zip(dimensions, partners, strict=True):
            pulled = functions[target, :partner]
            matrix = (mass[:, None] * phi[:, :k]).T @ pulled
            target = nearest_rows(phi[:, :k], functions[:, :partner] @ matrix.T, self.pool)
        return target

    def _hamiltonian(self, pose: np.ndarray, number: int) -> Basis:
        """Modes of the operator learned from what the present pose covers."""
        settings = self.settings
        seen = coverage(
            self._partial, self._bending.read_off(pose).positions(self._full), self._full
        )
        positives = np.union1d(np.flatnonzero(seen.covered() & ~seen.on_rim), self._anchored)
        negatives = np.flatnonzero(seen.gap > 3.0) if settings.negatives else NOBODY
        indicator = self._fitted(positives, negatives, f"operator {number}")
        indicator = np.maximum(indicator, _LEAST_INDICATOR)
        barrier = 5 * self._m_basis.eigenvalues[-1]
        if settings.insulated:
            return insulated_modes(self._operator, indicator, barrier, _MODES)
        return hamiltonian_basis(self._operator, barrier * (1 - indicator), _MODES)

    def _fitted(self, positives: np.ndarray, negatives: np.ndarray, stage: str) -> np.ndarray:
        """The neural field after fitting it to the evidence."""
        settings, mass = self.settings, self._operator.mass
        barrier = settings.barrier * (self._spectrum[-1] if len(self._spectrum) else 1.0)
        objective = Objective(
            mass,
            float(self._m_operator.mass.sum()),
            self._spectrum,
            barrier,
            ReducedHamiltonian(self._basis.first(settings.galerkin_modes), mass, self.pool),
            Superlevels(self._full.edges, len(self._full.vertices)),
            settings,
        )
        field = NeuralField(
            encoding_at(self._basis.functions[:, : settings.encoding_modes], self._anchored),
            (settings.hidden_width,) * settings.hidden_layers,
            settings.activation,
            np.random.default_rng(settings.seed),
            self.pool,
        )
        indicator, self.curves[stage], _ = fit_operator(
            field, objective, positives, stage, self.progress, negatives
        )
        return indicator
