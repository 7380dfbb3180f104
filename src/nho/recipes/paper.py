"""The reciprocal loop between operator and correspondence (paper, Fig. 2 and Sec. 4.2).

Legend: partial shape M, full shape N; s = soft indicator of the region on N, tau = barrier,
H = Delta + tau (1 - s), psi = its eigenfunctions, phi = Dirichlet eigenfunctions of M; all in
units in which N has area one.
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
from nho.operator.persistence import Superlevels
from nho.operator.refinement import refine
from nho.operator.spectra import Shapes, analyse
from nho.problem.preparation import Problem
from nho.problem.solution import Answer, advice_on, status_of
from nho.progress import Progress, ProgressCallback
from nho.runtime.parallel import Workers
from nho.runtime.stopwatch import Stopwatch
from nho.settings import Settings


def solve(
    problem: Problem,
    settings: Settings,
    pool: Workers,
    clock: Stopwatch,
    progress: ProgressCallback,
    aligning: np.ndarray | None = None,
) -> Answer:
    """The paper's recipe: spectra, reciprocal loop, dense refinement.

    ``aligning``: see `ReciprocalLoop`.
    """
    with clock.time("spectra"):
        progress(Progress("spectra", 0, 1))
        shapes = analyse(problem, settings, pool)
        progress(Progress("spectra", 1, 1))
    loop = ReciprocalLoop(shapes, problem.anchors, pool, progress, aligning)
    with clock.time("operator"):
        loop.run()
    with clock.time("refinement"):
        target, curve = loop.refined_map()
    # Half confidence at the distortion above which the method itself does not trust a match.
    confidence = 2 ** (-loop.distortion(target) / settings.distortion_threshold)
    return Answer(
        points=SurfacePoints.at_vertices(shapes.full, target),
        confidence=confidence,
        region_score=loop.score(),
        settings=shapes.settings,
        status=loop.status,
        warnings=(*shapes.warnings, *loop.warnings, *advice_on(loop.troubles)),
        curves={**loop.curves, "refine": curve},
    )


class ReciprocalLoop:
    """Operator and correspondence, each improving the other.

    Parameters
    ----------
    anchors : (m, 2) int array
        Where the region is.
    aligning : (m', 2) int array, optional
        Pairs that align the eigenspaces, if not the anchors themselves (App. C).

    Attributes
    ----------
    indicator : (n_full,) float array
        s of the operator fitted last.
    modes : Basis
        Eigenpairs of that operator, as many as refinement needs.
    evidence : (m', 2) int array
        Anchors and reliable matches that the operator was fitted to last.
    """

    def __init__(
        self,
        shapes: Shapes,
        anchors: np.ndarray,
        pool: Workers,
        progress: ProgressCallback,
        aligning: np.ndarray | None = None,
    ) -> None:
        settings = shapes.settings
        self._shapes, self.settings = shapes, settings
        self._pool, self._progress = pool, progress
        self.anchors = self.evidence = anchors
        self._aligning = self._pairs = anchors if aligning is None else aligning
        self.warnings: list[str] = []
        self.curves: dict[str, list[dict[str, float]]] = {}
        self.troubles: list[str] = []
        self._random = np.random.default_rng(settings.seed)
        mass = shapes.full_laplacian.mass
        basis = shapes.full_basis
        reduced = ReducedHamiltonian(basis.first(settings.galerkin_modes), mass, pool)
        operators: dict[str, Hamiltonian] = {
            "reduced": reduced,
            "sparse": SparseHamiltonian(shapes.full_laplacian),
        }
        self._readout = operators[settings.readout_operator]
        self._modes_wanted = max(settings.spectral_modes, settings.refine_last)
        if settings.readout_operator == "reduced":
            self._modes_wanted = min(self._modes_wanted, settings.galerkin_modes)
        eigenvalues = shapes.partial_basis.eigenvalues[: settings.spectral_modes]
        self._tau = settings.barrier * eigenvalues[-1]
        self._plain = settings.coordinates == "laplacian"  # the paper's "w/o Hamiltonian operator"
        self._objective = Objective(
            mass,
            float(shapes.partial_mass.sum()),
            eigenvalues,
            self._tau,
            operators[settings.fit_operator],
            Superlevels(shapes.full.edges, len(shapes.full.vertices)),
            settings.replace(weight_spectral=0.0) if self._plain else settings,
        )
        self._field = NeuralField(
            encoding_at(basis.functions[:, : settings.encoding_modes], anchors[:, 1]),
            (settings.hidden_width,) * settings.hidden_layers,
            settings.activation,
            self._random,
            pool,
        )

    def run(self, seen: Callable[[str], None] = lambda stage: None) -> None:
        """First fit from the anchors alone, then the reciprocal rounds.

        ``seen`` is called after every fit with its name: "fit", "round 1", "round 2" and so on.
        """
        self._fit("fit")
        seen("fit")
        for number in range(1, self.settings.rounds + 1):
            target = self.map()
            distortion = self.distortion(target)
            self.evidence = self._with_reliable(self.anchors, target, distortion)
            self._pairs = self._with_reliable(self._aligning, target, distortion)
            self._fit(f"round {number}")
            seen(f"round {number}")

    def _with_reliable(
        self, fixed: np.ndarray, target: np.ndarray, distortion: np.ndarray
    ) -> np.ndarray:
        threshold = self.settings.distortion_threshold
        return np.concatenate([fixed, reliable_matches(target, distortion, threshold, fixed)])

    def _fit(self, stage: str) -> None:
        self.indicator, self.curves[stage], trouble = fit_operator(
            self._field, self._objective, self.evidence[:, 1], stage, self._progress
        )
        self.troubles += [trouble] if trouble else []
        if self._plain:
            self.modes = self._shapes.full_basis.first(self._modes_wanted)
        else:
            self.modes = self._readout.modes(self._tau * (1 - self.indicator), self._modes_wanted)

    @property
    def status(self) -> str:
        """``"ok"``, or what broke down so far."""
        return status_of(self.troubles)

    def score(self) -> np.ndarray:
        """(n_full,) region score; above one half in the support of the operator."""
        if self._plain:  # modes of the whole shape have no support
            return self.indicator
        low = self.modes.first(self.settings.spectral_modes)
        return support_score(low, self.settings.support_threshold)

    def map(self) -> np.ndarray:
        """(n_partial,) vertices of the full shape: alignment, then search inside the support."""
        dimension = min(self.settings.spectral_modes, len(self._aligning))
        psi = self.modes.functions[:, :dimension]
        phi = self._shapes.partial_basis.functions[:, :dimension]
        p, q = self._pairs.T
        aligned = psi @ align(psi[q], phi[p])
        support = np.flatnonzero(self.score() > 0.5)
        if not len(support):
            self.warnings.append("the operator has an empty support; the whole shape was searched")
            support = np.arange(len(psi))
        return support[nearest_rows(phi, aligned[support], self._pool)]

    def distortion(self, target: np.ndarray) -> np.ndarray:
        """(n_partial,) local mapping distortion of a map."""
        shapes = self._shapes
        return local_distortion(target, shapes.partial_near, shapes.partial_mass, shapes.full_near)

    def refined_map(self) -> tuple[np.ndarray, list[dict[str, float]]]:
        """The final-round map after dense refinement, and the refinement's losses."""
        target = self.map()
        if self.settings.refinement == "none":
            return target, []
        target, curve, troubles = refine(
            target,
            self._shapes.partial_basis.functions,
            self.modes.functions,
            self.settings,
            self._random,
            self._pool,
            self._progress,
        )
        self.troubles += troubles
        return target, curve
