"""A neural field on one shape: what it has in common with the other.

It learns from evidence where the region is, and where it is not, as the paper's field does on the
full shape. As smooth as it is, a share of the vertices is enough to learn from.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.spectrum import Basis
from nho.operator.field import NeuralField, encoding_at
from nho.operator.fitting import fit_operator
from nho.operator.hamiltonian import ReducedHamiltonian
from nho.operator.losses import Objective
from nho.operator.persistence import Superlevels
from nho.problem.solution import Curve
from nho.runtime.run import Run, Stage
from nho.settings import GuidedRecipe

_LEARNED_FROM = 1500  # vertices: enough for a field as smooth as ours


class RegionField:
    """A field that has learned nothing yet.

    Parameters
    ----------
    basis : Basis
        Eigenfunctions of the shape's Laplacian; the first ones are the encoding.
    mass : (n,) float array
        Vertex areas.
    anchored : (m,) int array
        Anchored vertices: they decide the signs of the eigenfunctions.
    superlevels : Superlevels
        Of the shape's edges, for the term of topology.
    """

    def __init__(
        self,
        basis: Basis,
        mass: np.ndarray,
        anchored: np.ndarray,
        superlevels: Superlevels,
        recipe: GuidedRecipe,
        run: Run,
    ) -> None:
        self._basis, self._mass, self._superlevels = basis, mass, superlevels
        self._recipe, self._run = recipe, run
        self._encoding = encoding_at(basis.functions[:, : recipe.encoding_modes], anchored)
        rows = np.arange(len(mass))
        if not (recipe.weight_spectral or recipe.weight_topology):  # those need all of them
            rows = np.union1d(rows[:: max(1, len(mass) // _LEARNED_FROM)], anchored)
        self._rows = rows
        random = np.random.default_rng(run.settings.seed)
        self._field = NeuralField(
            self._encoding[rows], recipe.hidden, recipe.activation, random, run.pool
        )

    def learn(
        self,
        positives: np.ndarray,
        negatives: np.ndarray,
        area: float,
        spectrum: np.ndarray,
        name: str,
    ) -> tuple[np.ndarray, Curve, str]:
        """(n,) the field after fitting it to the evidence, its losses, and what went wrong.

        Parameters
        ----------
        positives, negatives : int arrays
            Vertices inside and outside the region.
        area : float
            Of the region on the other shape.
        spectrum : (k,) float array
            Of the operator there; empty if the spectral term has no weight.
        name : str
            Of the stage that is reported.
        """
        recipe, mass, rows = self._recipe, self._mass, self._rows
        objective = Objective(
            mass[rows] * (mass.sum() / mass[rows].sum()),
            area,
            spectrum,
            recipe.barrier_factor * (spectrum[-1] if len(spectrum) else 1.0),
            ReducedHamiltonian(self._basis.first(recipe.galerkin_modes), mass, self._run.pool),
            self._superlevels,
            recipe,
        )
        inside, outside = (np.flatnonzero(np.isin(rows, of)) for of in (positives, negatives))
        stage = Stage(name, recipe.fit_steps, self._run.progress)
        _, curve, trouble = fit_operator(self._field, objective, inside, stage, outside)
        stage.finish()
        return self._field.at(self._encoding).indicator(), curve, trouble
