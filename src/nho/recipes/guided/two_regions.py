"""The operator's field on both shapes: what each has in common with the other.

The paper learns a region of the full shape, which is as large as the partial one. If the partial
shape shows more than the full one has, there is a region on each, and the two are bound to each
other instead: each is as large as the other, and has the other's spectrum if that is wanted. They
learn in turn, the field of the full shape from what the surface with a partner covers, the field of
the partial shape from what surely lies well, and from what does not fit.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from nho.geometry.coverage import coverage, part_within
from nho.geometry.mesh import BoolArray, FloatArray
from nho.geometry.spectrum import Basis, Laplacian, cached_basis
from nho.geometry.surface import SurfacePoints
from nho.operator.hamiltonian import ReducedHamiltonian
from nho.operator.persistence import Superlevels
from nho.operator.spectra import fit_to_size
from nho.recipes.guided.comparable import ComparablePair
from nho.recipes.guided.region_field import RegionField
from nho.runtime.cache import Cache
from nho.runtime.run import Run
from nho.settings import GuidedRecipe

_ROUNDS = 2  # in which either field learns from the other
_FAR = 3.0  # mean edges from the bent surface: certainly outside
_NONE = np.empty(0)


class TwoRegions:
    """Fields of both shapes that have learned nothing yet."""

    def __init__(
        self, pair: ComparablePair, laplacians: tuple[Laplacian, Laplacian], run: Run
    ) -> None:
        self._pair, self._laplacians = pair, laplacians
        self._recipe = fit_to_size(run.recipe(GuidedRecipe), pair.partial, pair.full)[0]
        self._run = run.quiet()

    @cached_property
    def _bases(self) -> list[Basis]:
        """Eigenfunctions of either Laplacian."""
        count, store = self._recipe.encoding_modes, Cache.default()
        if self._recipe.weight_spectral:
            count = max(count, self._recipe.galerkin_modes)
        tasks = [lambda of=of: cached_basis(store, of, count) for of in self._laplacians]
        return self._run.pool.together(*tasks)

    def of_partial(
        self, points: SurfacePoints, inside: BoolArray, outside: BoolArray, partner: BoolArray
    ) -> FloatArray:
        """(n_partial,) the field of the partial shape: 1 in its region, 0 outside.

        Parameters
        ----------
        points : SurfacePoints
            What the bent surface lies on.
        inside, outside, partner : (n_partial,) bool arrays
            What surely has a partner, what does not fit, and what has one as far as is known.
        """
        partial, full = self._pair.partial, self._pair.full
        anchored = self._pair.distances.anchors
        fields = [
            RegionField(
                self._bases[side],
                self._laplacians[side].mass,
                anchored[:, side],
                Superlevels(mesh.edges, mesh.n_vertices),
                self._recipe,
                self._run,
            )
            for side, mesh in enumerate((partial, full))
        ]
        images = points.positions(full)
        known = np.flatnonzero(inside), np.flatnonzero(outside)
        s = partner.astype(np.float64)
        for number in range(1, _ROUNDS + 1):
            covered = coverage(part_within(partial, inside | (s > 0.5)), images, full)
            positives = np.flatnonzero(covered.covered() & ~covered.on_rim)
            positives = np.union1d(positives, anchored[:, 1])
            negatives = np.setdiff1d(np.flatnonzero(covered.gap > _FAR), positives)
            region = fields[1].learn(
                positives, negatives, self._area(0, s), self._spectrum(0, s), f"full {number}"
            )[0]
            s = fields[0].learn(
                *known, self._area(1, region), self._spectrum(1, region), f"partial {number}"
            )[0]
        return s

    def _area(self, side: int, s: np.ndarray) -> float:
        return float(self._laplacians[side].mass @ s)

    def _spectrum(self, side: int, s: np.ndarray) -> np.ndarray:
        """First eigenvalues of the Hamiltonian of a region; none if they have no weight."""
        recipe = self._recipe
        if not recipe.weight_spectral:
            return _NONE
        basis = self._bases[side].first(recipe.galerkin_modes)
        hamiltonian = ReducedHamiltonian(basis, self._laplacians[side].mass, self._run.pool)
        height = recipe.barrier_factor * basis.eigenvalues[recipe.spectral_modes - 1]
        return np.asarray(hamiltonian.modes(height * (1 - s), recipe.spectral_modes).eigenvalues)
