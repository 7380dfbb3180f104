"""Another map, proposed in spectral coordinates of the learned Hamiltonian.

Bending is local: a fold, or a stretch of surface that slid to the wrong place, stays. Spectral
coordinates see the map as a whole. The field learns from what the bent surface covers, and the
eigenfunctions of its Hamiltonian concentrate on that region, so that k modes of the partial shape
correspond to k of the full one, and ZoomOut between them proposes another map. Where it differs
from the bent surface, confidence is lower.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.coverage import coverage
from nho.geometry.mesh import Mesh
from nho.geometry.spectrum import Basis, Laplacian, cached_basis, hamiltonian_basis
from nho.operator.correspondence import nearest_rows
from nho.operator.hamiltonian import insulated_modes
from nho.operator.losses import NO_VERTICES
from nho.operator.persistence import Superlevels
from nho.operator.spectra import fit_to_size
from nho.problem.solution import Curve
from nho.recipes.guided.bending import Bending
from nho.recipes.guided.region_field import RegionField
from nho.runtime.cache import Cache
from nho.runtime.run import Run
from nho.settings import GuidedRecipe

_MODES = 100  # of the partial shape, and of the Hamiltonian
_MOST_MODES = 200  # of the full shape's Laplacian, where it takes the Hamiltonian's place
_FIRST, _LATER, _STEP = 20, 40, 10  # spectral dimensions of the first and of later rounds
_HEIGHT = 5  # of the potential, in eigenvalues of the partial shape's last mode
_FAR = 3.0  # mean edges from the bent surface: certainly outside


class SpectralProposal:
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
    notes : list of str
        Settings that the meshes are too small for.
    """

    def __init__(
        self,
        shapes: tuple[Mesh, Mesh],
        laplacians: tuple[Laplacian, Laplacian],
        anchored: np.ndarray,
        run: Run,
    ) -> None:
        self._partial, self._full = shapes
        self._partial_laplacian, self._full_laplacian = laplacians
        self._anchored = anchored
        recipe, self.notes = fit_to_size(run.recipe(GuidedRecipe), *shapes)
        self._recipe, self._run = recipe, run
        self.curves: dict[str, Curve] = {}
        self.troubles: list[str] = []
        self._superlevels = Superlevels(self._full.edges, len(self._full.vertices))
        self._ratio = min(1.0, self._partial.area)  # the full shape has area one
        of_full_shape = recipe.encoding_modes
        if recipe.coordinates == "laplacian":
            of_full_shape = min(_MOST_MODES, max(of_full_shape, round(_MODES / self._ratio)))
        elif recipe.weight_spectral:
            of_full_shape = max(of_full_shape, recipe.galerkin_modes)
        store = Cache.default()
        self._partial_basis, self._full_basis = run.pool.together(
            lambda: cached_basis(store, self._partial_laplacian, _MODES),
            lambda: cached_basis(store, self._full_laplacian, of_full_shape),
        )
        self._spectrum = np.empty(0)
        if recipe.weight_spectral:
            boundary, count = self._partial.boundary_vertices, recipe.spectral_modes
            dirichlet = cached_basis(store, self._partial_laplacian, count, boundary)
            self._spectrum = dirichlet.eigenvalues

    def map(self, bending: Bending, pose: np.ndarray, number: int) -> np.ndarray:
        """(n_partial,) candidate vertex map of a round, from the present pose."""
        points = bending.read_off(pose)
        first = _FIRST if number == 1 else _LATER
        most = self._partial_basis.functions.shape[1]
        dimensions = list(range(min(first, most), most + 1, _STEP))
        if self._recipe.coordinates == "laplacian":
            # k modes of the partial shape meet as many of the full one as oscillate as fast.
            functions, ratio = self._full_basis.functions, self._ratio
        else:
            functions = self._hamiltonian(points.positions(self._full), number).functions
            ratio = 1.0
        target = points.nearest_vertex(self._full)
        phi, mass = self._partial_basis.functions, self._partial_laplacian.mass
        for k in dimensions:
            partner = min(functions.shape[1], round(k / ratio))
            matrix = (mass[:, None] * phi[:, :k]).T @ functions[target, :partner]
            target = nearest_rows(phi[:, :k], functions[:, :partner] @ matrix.T, self._run.pool)
        return target

    def _hamiltonian(self, positions: np.ndarray, number: int) -> Basis:
        """Modes of the operator learned from what the surface at some positions covers."""
        recipe = self._recipe
        covered = coverage(self._partial, positions, self._full)
        positives = np.union1d(np.flatnonzero(covered.covered() & ~covered.on_rim), self._anchored)
        negatives = NO_VERTICES
        if recipe.negatives:
            negatives = np.setdiff1d(np.flatnonzero(covered.gap > _FAR), positives)
        indicator = self._fitted(positives, negatives, f"operator {number}")
        height = _HEIGHT * self._partial_basis.eigenvalues[-1]
        if recipe.insulated:
            return insulated_modes(self._full_laplacian, indicator, height, _MODES)
        return hamiltonian_basis(self._full_laplacian, height * (1 - indicator), _MODES)

    def _fitted(self, positives: np.ndarray, negatives: np.ndarray, name: str) -> np.ndarray:
        """(n_full,) the neural field after fitting it to the evidence."""
        field = RegionField(
            self._full_basis,
            self._full_laplacian.mass,
            self._anchored,
            self._superlevels,
            self._recipe,
            self._run,
        )
        area = float(self._partial_laplacian.mass.sum())
        indicator, self.curves[name], trouble = field.learn(
            positives, negatives, area, self._spectrum, name
        )
        self.troubles += [trouble] if trouble else []
        return indicator
