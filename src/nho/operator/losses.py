"""The four terms of the operator loss, each with its gradient in closed form (Sec. 4.2).

Legend: s = soft indicator on the full shape, a = its vertex areas, mu, psi = eigenpairs of
H = Delta + v with v = tau (1 - s), lambda = Dirichlet eigenvalues of the partial shape.
Every function returns ``(value, d value / d s)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nho.operator.hamiltonian import Hamiltonian
from nho.operator.persistence import Superlevels
from nho.settings.recipes import Recipe

Term = tuple[float, np.ndarray]

NO_VERTICES = np.empty(0, dtype=np.int64)  # the paper has no negatives


def anchor_loss(s: np.ndarray, anchors: np.ndarray) -> Term:
    """Mean of -log s at the anchored vertices (Eq. 10)."""
    gradient = np.zeros_like(s)
    at = np.maximum(s[anchors], np.finfo(s.dtype).tiny)
    np.add.at(gradient, anchors, -1 / (len(anchors) * at))
    return float(-np.log(at).mean()), gradient


def evidence_loss(s: np.ndarray, positives: np.ndarray, negatives: np.ndarray) -> Term:
    """`anchor_loss` of the positives, and the same of 1 - s at the negatives if there are any."""
    value, gradient = anchor_loss(s, positives)
    if len(negatives):
        outside, by_outside = anchor_loss(1 - s, negatives)
        value, gradient = value + outside, gradient - by_outside
    return value, gradient


def area_loss(s: np.ndarray, mass: np.ndarray, target_area: float) -> Term:
    """Squared excess of the soft area over the partial shape's, as a share of all (Eq. 11)."""
    total = mass.sum()
    excess = (mass @ s - target_area) / total
    return float(excess**2), 2 * excess * mass / total


def topology_loss(s: np.ndarray, superlevels: Superlevels) -> Term:
    """Squared persistence of every component but the eldest (Eq. 12)."""
    births, deaths = superlevels.pairs(s)
    height = s[births] - s[deaths]
    gradient = np.zeros_like(s)
    np.add.at(gradient, births, 2 * height)
    np.add.at(gradient, deaths, -2 * height)
    return float((height**2).sum()), gradient


def spectral_loss(
    s: np.ndarray, mass: np.ndarray, hamiltonian: Hamiltonian, targets: np.ndarray, barrier: float
) -> Term:
    """Mean log(1 + relative eigenvalue error squared) (Eq. 14); ``barrier`` is tau.

    Only eigenvalues enter, and ``d mu_i / d v_q = a_q psi_i(q)^2``: no derivative of an
    eigenvector is needed, so repeated eigenvalues do no harm.
    """
    modes = hamiltonian.modes(barrier * (1 - s), len(targets))
    used = targets > 1e-9 * targets[-1]  # a closed surface has zero eigenvalues: no relative error
    targets = targets[used]
    relative = (modes.eigenvalues[used] - targets) / targets
    by_mu = 2 * relative / (1 + relative**2) / targets / len(targets)
    gradient = -barrier * mass * (modes.functions[:, used] ** 2 @ by_mu)
    return float(np.log1p(relative**2).mean()), gradient


@dataclass(frozen=True)
class Objective:
    """The weighted sum of the four terms (Eq. 16) for one pair of shapes.

    Attributes
    ----------
    mass : (n,) float array
        Vertex areas of the full shape.
    area : float
        Area of the partial shape.
    eigenvalues : (k,) float array
        Dirichlet eigenvalues of the partial shape.
    barrier : float
        tau, the height of the potential.
    """

    mass: np.ndarray
    area: float
    eigenvalues: np.ndarray
    barrier: float
    hamiltonian: Hamiltonian
    superlevels: Superlevels
    recipe: Recipe  # the weights alpha_1 to alpha_4

    def __call__(
        self, s: np.ndarray, positives: np.ndarray, negatives: np.ndarray = NO_VERTICES
    ) -> tuple[float, np.ndarray, dict[str, float]]:
        """Loss, its gradient by ``s``, and the unweighted terms by name.

        ``positives`` (the anchors) and ``negatives`` are vertices inside and outside the region.
        """
        recipe, spectrum = self.recipe, (self.hamiltonian, self.eigenvalues, self.barrier)
        terms: dict[str, tuple[float, Callable[[], Term]]] = {
            "anchor": (recipe.weight_anchor, lambda: evidence_loss(s, positives, negatives)),
            "area": (recipe.weight_area, lambda: area_loss(s, self.mass, self.area)),
            "topology": (recipe.weight_topology, lambda: topology_loss(s, self.superlevels)),
            "spectral": (recipe.weight_spectral, lambda: spectral_loss(s, self.mass, *spectrum)),
        }
        loss, gradient, values = 0.0, np.zeros_like(s), {}
        for name, (weight, term) in terms.items():
            if weight == 0:
                continue
            values[name], by_s = term()
            loss += weight * values[name]
            gradient += weight * by_s
        return loss, gradient, values
