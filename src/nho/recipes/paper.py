"""The paper's recipe (Fig. 2): operator and correspondence in turn (Sec. 4.2), then refinement.

Round t, in the symbols of the paper and by the names of `ReciprocalLoop`:

    theta(t)    minimises L_op(theta; A_H(t)), from theta(t-1) on   Eq. 10 to 16   _fit
    R(t)        where the energy e of H's eigenfunctions is high    Eq. 17, 18     region_score
    C(t), T(t)  align psi with phi at A_C(t); nearest within R(t)   Eq. 19, 20     map
    D(t)        matches of T(t) whose LMD is below the threshold    Sec. 4.2       distortion
    A(t+1)      A(0) and D(t)                                       Eq. 21         _next_anchors
    T           Neural ZoomOut from the last T(t)                   App. D         refined_map

A_H(t) are the pairs that the operator is fitted to, A_C(t) those that align the eigenspaces: one
and the same set A(t), unless they come from features (App. C, Eq. 23 and 25). M is the partial
shape, N the full one; s = soft indicator of the region on N, tau = barrier,
H = Delta + tau (1 - s), psi = its eigenfunctions, phi = Dirichlet eigenfunctions of M; all in units
in which N has area one. To the letter psi are those of the reduced H (Eq. 15, setting
``readout_operator=reduced``); preset ``paper`` takes those of H on the mesh, see docs/decisions.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nho.geometry.surface import SurfacePoints
from nho.operator.correspondence import align, local_distortion, nearest_rows, reliable_matches
from nho.operator.field import NeuralField, encoding_at
from nho.operator.fitting import fit_operator
from nho.operator.hamiltonian import (
    Hamiltonian,
    ReducedHamiltonian,
    SparseHamiltonian,
    support_score,
)
from nho.operator.losses import Objective
from nho.operator.network import DTYPES, Adam
from nho.operator.persistence import Superlevels
from nho.operator.refinement import refine, rms_normalised
from nho.operator.spectra import PairSpectra, analyse
from nho.problem.preparation import Problem
from nho.problem.solution import Curve, Solution, advice_on, status_of
from nho.runtime.run import Run


def solve(problem: Problem, run: Run, aligning: np.ndarray | None = None) -> Solution:
    """Spectra, reciprocal loop, dense refinement.

    ``aligning``: see `ReciprocalLoop`.
    """
    with run.stage("spectra"):
        spectra = analyse(problem, run)
    loop = ReciprocalLoop(spectra, problem.anchors, run, aligning)
    loop.run()
    target = loop.refined_map()
    # Half confidence at the distortion above which the method itself does not trust a match.
    confidence = 2 ** (-loop.distortion(target) / spectra.recipe.distortion_threshold)
    return Solution(
        points=SurfacePoints.at_vertices(spectra.full, target),
        confidence=confidence,
        region_score=loop.final_region_score(target),
        settings=run.settings.replace(recipe=spectra.recipe),
        status=status_of(loop.troubles),
        warnings=(*advice_on(loop.troubles), *dict.fromkeys(loop.warnings)),
        notes=(*loop.notes, *spectra.notes),
        curves=loop.curves,
    )


class ReciprocalLoop:
    """Operator and correspondence, each improving the other.

    Parameters
    ----------
    anchors : (m, 2) int array
        A_H(0): where the region is.
    aligning : (m', 2) int array, optional
        A_C(0), if not the same (App. C, Eq. 25).

    Attributes
    ----------
    indicator : (n_full,) float array
        s of the operator fitted last.
    modes : Basis
        Eigenpairs of that operator, as many as refinement needs.
    anchors_h, anchors_c : (m', 2) int arrays
        A_H(t) and A_C(t) of the present round t.
    anchors_h0, anchors_c0 : (m', 2) int arrays
        A_H(0) and A_C(0), which stay in all of them.
    """

    def __init__(
        self,
        spectra: PairSpectra,
        anchors: np.ndarray,
        run: Run,
        aligning: np.ndarray | None = None,
    ) -> None:
        self._spectra, self._run, self._recipe = spectra, run, spectra.recipe
        self.anchors_h0 = self.anchors_h = anchors
        self.anchors_c0 = self.anchors_c = anchors if aligning is None else aligning
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self.curves: dict[str, Curve] = {}
        self.troubles: list[str] = []
        self._random = np.random.default_rng(run.settings.seed)
        self._plain = self._recipe.coordinates == "laplacian"  # the paper's "w/o Hamiltonian"
        self._build_operator()
        recipe = self._recipe
        functions = spectra.full_basis.functions[:, : recipe.encoding_modes]
        unit = 1.0 if recipe.encoding_unit == "area" else spectra.given_unit
        self._field = NeuralField(
            unit * encoding_at(functions, anchors[:, 1]),
            recipe.hidden,
            recipe.activation,
            self._random,
            run.pool,
            DTYPES[recipe.precision],
        )
        self._optimiser = Adam(recipe.fit_learning_rate)

    def _build_operator(self) -> None:
        """The Hamiltonian in the loss and in the read-out, and the loss itself (Eq. 10 to 16)."""
        spectra, recipe = self._spectra, self._recipe
        mass = spectra.full_laplacian.mass
        basis = spectra.full_basis.first(recipe.galerkin_modes)
        operators: dict[str, Hamiltonian] = {
            "reduced": ReducedHamiltonian(basis, mass, self._run.pool),
            "sparse": SparseHamiltonian(spectra.full_laplacian),
        }
        self._readout = operators[recipe.readout_operator]
        self._modes_wanted = max(recipe.spectral_modes, recipe.refine_last)
        if recipe.readout_operator == "reduced":
            self._modes_wanted = min(self._modes_wanted, recipe.galerkin_modes)
        eigenvalues = spectra.partial_basis.eigenvalues[: recipe.spectral_modes]
        self._tau = recipe.barrier_factor * eigenvalues[-1]
        self._objective = Objective(
            mass,
            float(spectra.partial_mass.sum()),
            eigenvalues,
            self._tau,
            operators[recipe.loss_operator],
            Superlevels(spectra.full.edges, len(spectra.full.vertices)),
            recipe.replace(weight_spectral=0.0) if self._plain else recipe,
        )

    def run(self, after_fit: Callable[[str], None] = lambda stage: None) -> None:
        """First fit from the anchors alone, then the reciprocal rounds.

        ``after_fit`` is called after every fit with its name: "fit", "round 1", "round 2" ...
        """
        self._fit("fit")
        after_fit("fit")
        for number in range(1, self._recipe.rounds + 1):
            with self._run.clock.time("operator"):
                target = self.map()
                distortion = self.distortion(target)
                self.anchors_h = self._next_anchors(self.anchors_h0, target, distortion)
                self.anchors_c = self._next_anchors(self.anchors_c0, target, distortion)
            self._fit(f"round {number}")
            after_fit(f"round {number}")

    def _fit(self, name: str) -> None:
        """Minimise L_op(theta; A_H(t)) from the last theta on; eigenpairs of H (Eq. 8, 9, 16)."""
        with self._run.stage(name, self._recipe.fit_steps, part_of="operator") as stage:
            optimiser = None if self._recipe.fresh_moments else self._optimiser
            self.indicator, self.curves[name], trouble = fit_operator(
                self._field, self._objective, self.anchors_h[:, 1], stage, optimiser=optimiser
            )
            self.troubles += [trouble] if trouble else []
            if self._plain:
                self.modes = self._spectra.full_basis.first(self._modes_wanted)
            else:
                potential = self._tau * (1 - self.indicator)
                self.modes = self._readout.modes(potential, self._modes_wanted)

    def region_score(self) -> np.ndarray:
        """(n_full,) above one half in the support of the operator (Eq. 17 and 18)."""
        if self._plain and self._recipe.plain_region != "energy":
            return self.indicator  # modes of the whole shape have no support
        low = self.modes.first(self._recipe.spectral_modes)
        return support_score(low, self._recipe.support_threshold)

    def final_region_score(self, target: np.ndarray) -> np.ndarray:
        """The same after refinement to the map ``target``; its image where that is asked for."""
        if not self._plain or self._recipe.plain_region != "image":
            return self.region_score()
        return np.isin(np.arange(len(self.indicator)), target).astype(float)

    def map(self) -> np.ndarray:
        """(n_partial,) vertices of the full shape: align, then search the support (Eq. 19, 20)."""
        # No more modes than anchors: C would not be determined ("Effect of the Anchor Budget").
        dimension = min(self._recipe.spectral_modes, len(self.anchors_c0))
        psi = self.modes.functions[:, :dimension]
        phi = self._spectra.partial_basis.functions[:, :dimension]
        p, q = self.anchors_c.T
        aligned = psi @ align(psi[q], phi[p])
        support = np.flatnonzero(self.region_score() > 0.5)
        if not len(support):
            self.warnings.append("the operator has an empty support; the whole shape was searched")
            support = np.arange(len(psi))
        return np.asarray(support[nearest_rows(phi, aligned[support], self._run.pool)])

    def distortion(self, target: np.ndarray) -> np.ndarray:
        """(n_partial,) local mapping distortion (LMD) of a map."""
        spectra = self._spectra
        near = spectra.partial_near, spectra.partial_mass, spectra.full_near
        return local_distortion(target, *near, self._recipe.distortion_misses)

    def _next_anchors(
        self, first: np.ndarray, target: np.ndarray, distortion: np.ndarray
    ) -> np.ndarray:
        """A(t+1): the first pairs A(0) and the reliable matches D(t) of the map T(t) (Eq. 21)."""
        threshold = self._recipe.distortion_threshold
        found = reliable_matches(target, distortion, threshold, first)
        return np.concatenate([first, found])

    def refined_map(self) -> np.ndarray:
        """(n_partial,) the map of the last round after dense refinement (App. D)."""
        with self._run.clock.time("refinement"):
            target = self.map()
        spectra, recipe = self._spectra, self._recipe
        if recipe.refinement == "none":
            return target
        if (m := len(self.anchors_c0)) < recipe.refine_first:
            self.notes.append(
                f"{m} anchors determine {m} dimensions, so the maps of the loop have {m}; "
                f"refinement starts at {recipe.refine_first} all the same, since all it takes "
                "over is a map"
            )
        support = np.flatnonzero(self.region_score() > 0.5)
        partial_weights = full_weights = None
        if recipe.refine_scaling == "area":
            partial_weights, full_weights = spectra.partial_mass, spectra.full_laplacian.mass
        elif recipe.refine_scaling == "support" and len(support):
            full_weights = np.isin(np.arange(len(self.indicator)), support)
        target, self.curves["refine"], troubles = refine(
            target,
            rms_normalised(spectra.partial_basis.functions, partial_weights),
            rms_normalised(self.modes.functions, full_weights),
            recipe,
            self._random,
            self._run,
            support if recipe.refine_within == "support" and len(support) else None,
        )
        self.troubles += troubles
        return target
