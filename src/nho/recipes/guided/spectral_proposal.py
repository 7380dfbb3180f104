"""A second look at a whole map through spectral coordinates of the learned Hamiltonian.

Bending is local: a fold, or a stretch of surface that slid to the wrong place, stays. Spectral
coordinates see the map as a whole. The field learns from what the bent surface covers, its
Hamiltonian's eigenfunctions live on that region only, so that k modes of the partial shape meet k
of the full one, and ZoomOut between them proposes another map. Where it differs, doubt is due.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.coverage import coverage
from nho.geometry.mesh import Mesh
from nho.geometry.spectrum import Basis, Laplacian, cached_basis, hamiltonian_basis
from nho.operator.correspondence import nearest_rows
from nho.operator.field import NeuralField, encoding_at
from nho.operator.fitting import fit_operator
from nho.operator.hamiltonian import ReducedHamiltonian, insulated_modes
from nho.operator.losses import NOBODY, Objective
from nho.operator.persistence import Superlevels
from nho.progress import ProgressCallback
from nho.recipes.guided.bending import Bending
from nho.runtime.cache import Cache
from nho.runtime.parallel import Workers
from nho.settings import Settings

_MODES = 100  # of the partial shape, and of the Hamiltonian
_MOST_MODES = 200  # of the full shape's Laplacian, where it takes the Hamiltonian's place
_FIRST, _LATER, _STEP = 20, 40, 10  # spectral dimensions of the first and of later looks
_FAR = 3.0  # mean edges from the bent surface: certainly outside
_LEARNED_FROM = 1500  # vertices of the full shape: enough for a field as smooth as ours


class SecondLook:
    """Candidate maps from spectral coordinates, round by round.

    Parameters
    ----------
    anchored : (m,) int array
        Full vertices of the trusted anchors.

    Attributes
    ----------
    curves : dict
        Losses of the operator, by round.
    troubles : list of str
        Fits that broke down.
    """

    def __init__(
        self,
        shapes: tuple[Mesh, Mesh],
        operators: tuple[Laplacian, Laplacian],
        anchored: np.ndarray,
        settings: Settings,
        pool: Workers,
        progress: ProgressCallback,
    ) -> None:
        modes = _MODES
        self._partial, self._full = shapes
        self._m_operator, self._operator = operators
        self._anchored = anchored
        self.settings, self.pool, self.progress = settings, pool, progress
        self.curves: dict[str, list[dict[str, float]]] = {}
        self.troubles: list[str] = []
        self._ratio = min(1.0, self._partial.area)  # the full shape has area one
        of_full_shape = settings.encoding_modes
        if settings.coordinates == "laplacian":
            of_full_shape = min(_MOST_MODES, max(of_full_shape, round(modes / self._ratio)))
        elif settings.weight_spectral:
            of_full_shape = max(of_full_shape, settings.galerkin_modes)
        store, spectral = Cache.default(), settings.spectral_modes

        def of_partial() -> tuple[Basis, np.ndarray]:
            basis = cached_basis(store, self._m_operator, modes)
            if not settings.weight_spectral:
                return basis, np.empty(0)
            boundary = self._partial.boundary_vertices
            return basis, cached_basis(store, self._m_operator, spectral, boundary).eigenvalues

        def of_full() -> tuple[Basis, np.ndarray]:
            return cached_basis(store, self._operator, of_full_shape), np.empty(0)

        (self._m_basis, self._spectrum), (self._basis, _) = pool.together(of_partial, of_full)

    def map(self, bending: Bending, pose: np.ndarray, number: int) -> np.ndarray:
        """(n_partial,) candidate vertex map of a round, from the present pose."""
        points = bending.read_off(pose)
        first = _FIRST if number == 1 else _LATER
        most = self._m_basis.functions.shape[1]
        dimensions = list(range(min(first, most), most + 1, _STEP))
        if self.settings.coordinates == "laplacian":
            # k modes of the partial shape meet as many of the full one as oscillate as fast.
            functions, ratio = self._basis.functions, self._ratio
        else:
            functions = self._hamiltonian(points.positions(self._full), number).functions
            ratio = 1.0
        target = points.nearest_vertex(self._full)
        phi, mass = self._m_basis.functions, self._m_operator.mass
        for k in dimensions:
            partner = min(functions.shape[1], round(k / ratio))
            matrix = (mass[:, None] * phi[:, :k]).T @ functions[target, :partner]
            target = nearest_rows(phi[:, :k], functions[:, :partner] @ matrix.T, self.pool)
        return target

    def _hamiltonian(self, positions: np.ndarray, number: int) -> Basis:
        """Modes of the operator learned from what the surface at some positions covers."""
        settings = self.settings
        seen = coverage(self._partial, positions, self._full)
        positives = np.union1d(np.flatnonzero(seen.covered() & ~seen.on_rim), self._anchored)
        negatives = np.flatnonzero(seen.gap > _FAR) if settings.negatives else NOBODY
        indicator = self._fitted(positives, negatives, f"operator {number}")
        barrier = 5 * self._m_basis.eigenvalues[-1]
        if settings.insulated:
            return insulated_modes(self._operator, indicator, barrier, _MODES)
        return hamiltonian_basis(self._operator, barrier * (1 - indicator), _MODES)

    def _fitted(self, positives: np.ndarray, negatives: np.ndarray, stage: str) -> np.ndarray:
        """(n_full,) the neural field after fitting it to the evidence."""
        settings, mass = self.settings, self._operator.mass
        encoding = encoding_at(self._basis.functions[:, : settings.encoding_modes], self._anchored)
        rows = np.arange(len(mass))
        if not (settings.weight_spectral or settings.weight_topology):  # those need all of them
            rows = np.union1d(rows[:: max(1, len(mass) // _LEARNED_FROM)], self._anchored)
        taught = NeuralField(
            encoding[rows],
            (settings.hidden_width,) * settings.hidden_layers,
            settings.activation,
            np.random.default_rng(settings.seed),
            self.pool,
        )
        barrier = settings.barrier * (self._spectrum[-1] if len(self._spectrum) else 1.0)
        objective = Objective(
            mass[rows] * (mass.sum() / mass[rows].sum()),
            float(self._m_operator.mass.sum()),
            self._spectrum,
            barrier,
            ReducedHamiltonian(self._basis.first(settings.galerkin_modes), mass, self.pool),
            Superlevels(self._full.edges, len(mass)),
            settings,
        )
        sampled = [np.flatnonzero(np.isin(rows, of)) for of in (positives, negatives)]
        _, self.curves[stage], trouble = fit_operator(
            taught, objective, sampled[0], stage, self.progress, sampled[1]
        )
        self.troubles += [trouble] if trouble else []
        return taught.at(encoding).indicator()
