"""The paper's loop in plain torch with autograd, as one would first write it down.

A second opinion on preset ``paper`` and a yardstick for its time: the same numbers (`Settings`)
but for the fit of Neural ZoomOut, the same steps, none of the library's code. The field, the four
losses, the reduced Hamiltonian, the reciprocal rounds with local mapping distortion (LMD) and
Neural ZoomOut are all here.

Legend: partial shape M, full shape N; phi, psi = eigenfunctions on them; s = soft indicator of the
region on N; tau = barrier; H = Delta + tau (1 - s).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import gudhi
import numpy as np
import torch
from torch import nn

from nho.lab.speed.plain_geometry import (
    TABLE_ENTRIES,
    EigenProblem,
    mesh_edges,
    nearest_along_edges,
    with_positive_moment,
)
from nho.settings import PaperRecipe, Settings

# Initial weights from outside: f("field", sizes) or f("nam", [d]) -> flat vector, layer by layer
# as (in, out) matrix and bias. None = torch's own.
Start = Callable[[str, list[int]], np.ndarray]


@dataclass
class Reference:
    """What comes out, with the seconds of each stage."""

    target: np.ndarray  # (n_partial,) vertices of the full shape
    region: np.ndarray  # (n_full,) bool
    losses: list[list[float]]  # step by step, of the first fit and of every round
    seconds: dict[str, float]


class Topology:
    """Squared persistence of all components of the superlevel sets but the eldest (Eq. 12)."""

    def __init__(self, edges: np.ndarray) -> None:
        self.edges = edges

    def __call__(self, s: torch.Tensor) -> torch.Tensor:
        """Return the loss of the indicator s, differentiable."""
        height = -s.detach().numpy()
        tree = gudhi.SimplexTree()
        tree.insert_batch(np.arange(len(height))[None], height)
        tree.insert_batch(self.edges.T, height[self.edges].max(axis=1))
        tree.compute_persistence()
        births, deaths = tree.lower_star_persistence_generators()[0][0].T
        return ((s[births] - s[deaths]) ** 2).sum()


@dataclass
class Operator:
    """The Hamiltonian on the full shape, reduced to K eigenfunctions, and its loss (Eq. 10-16)."""

    areas: torch.Tensor
    eigenvalues: torch.Tensor  # (K,) of the full shape
    functions: torch.Tensor  # (n, K)
    topology: Topology
    partial_area: float
    wanted: torch.Tensor  # (k,) Dirichlet eigenvalues of the partial shape
    recipe: PaperRecipe

    @property
    def barrier(self) -> torch.Tensor:
        """Height tau of the potential."""
        return self.recipe.barrier_factor * self.wanted[-1]

    def matrix(self, s: torch.Tensor) -> torch.Tensor:
        """(K, K) Hamiltonian in the eigenfunctions."""
        weights = self.areas * self.barrier * (1 - s)
        return torch.diag(self.eigenvalues) + self.functions.T @ (weights[:, None] * self.functions)

    def terms(self, s: torch.Tensor, anchored: torch.Tensor) -> dict[str, torch.Tensor]:
        """The four losses, unweighted."""
        mu = torch.linalg.eigvalsh(self.matrix(s))[: len(self.wanted)]
        relative = (mu - self.wanted) / self.wanted
        total = self.areas.sum()
        return {
            "anchor": -torch.log(s[anchored]).mean(),
            "area": (((self.areas * s).sum() - self.partial_area) / total) ** 2,
            "topology": self.topology(s),
            "spectral": torch.log1p(relative**2).mean(),
        }

    def loss(self, s: torch.Tensor, anchored: torch.Tensor) -> torch.Tensor:
        """Their weighted sum."""
        terms = self.terms(s, anchored)
        weighted = [getattr(self.recipe, f"weight_{k}") * value for k, value in terms.items()]
        return torch.stack(weighted).sum()

    def modes(self, s: torch.Tensor) -> tuple[float, torch.Tensor]:
        """First eigenvalue and all K eigenfunctions of H, on the mesh."""
        values, vectors = torch.linalg.eigh(self.matrix(s))
        lifted = (self.functions @ vectors).numpy()
        return float(values[0]), torch.from_numpy(with_positive_moment(lifted, self.areas.numpy()))


class Field(nn.Module):
    """Encoding of a vertex -> s in (0, 1)."""

    def __init__(self, sizes: list[int]) -> None:
        super().__init__()
        pairs = zip(sizes[:-1], sizes[1:], strict=True)
        self.linears = nn.ModuleList([nn.Linear(a, b) for a, b in pairs])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(n, d) encodings -> (n,) s."""
        for linear in self.linears[:-1]:
            x = torch.tanh(linear(x))
        return torch.sigmoid(-2 * self.linears[-1](x)[:, 0].double())  # = (1 - tanh w) / 2


class TorchAdjointMap(nn.Module):
    """A matrix plus a hundredth of a small network."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.matrix = nn.Linear(d, d, bias=False)
        self.linears = nn.ModuleList([nn.Linear(d, 128), nn.Linear(128, 128), nn.Linear(128, d)])
        for linear in [self.matrix, *self.linears]:
            nn.init.xavier_uniform_(linear.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(n, d) rows -> their (n, d) images."""
        y = x
        for linear in self.linears[:-1]:
            y = nn.functional.leaky_relu(linear(y))
        image: torch.Tensor = self.matrix(x) + 0.01 * self.linears[-1](y)
        return image


def set_weights(module: nn.Module, flat: np.ndarray) -> None:
    """Fill all layers, in their order, from one vector."""
    values = torch.from_numpy(flat)
    with torch.no_grad():
        for parameter in module.parameters():  # torch stores matrices as (out, in)
            part, values = values[: parameter.numel()], values[parameter.numel() :]
            parameter.copy_(part.reshape(parameter.shape[::-1]).T if parameter.ndim > 1 else part)


def fit(
    field: Field, encoding: torch.Tensor, operator: Operator, anchored: np.ndarray
) -> tuple[torch.Tensor, list[float]]:
    """Adam on the operator's loss; returns s after the last step, and the losses."""
    optimiser = torch.optim.Adam(field.parameters(), lr=operator.recipe.fit_learning_rate)
    index, losses = torch.from_numpy(anchored), []
    for _ in range(operator.recipe.fit_steps):
        optimiser.zero_grad()
        loss = operator.loss(field(encoding), index)
        torch.autograd.backward(loss)
        optimiser.step()
        losses.append(loss.item())
    with torch.no_grad():
        return field(encoding), losses


def nearest(queries: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """(n,) index of the row nearest to each query."""
    at_once = max(1, TABLE_ENTRIES // len(rows))
    return torch.cat([torch.cdist(q, rows).argmin(dim=1) for q in torch.split(queries, at_once)])


def distortion(
    target: torch.Tensor,
    near_m: list[torch.Tensor],
    near_n: list[torch.Tensor],
    areas_m: torch.Tensor,
) -> torch.Tensor:
    """(n_partial,) LMD: how much a map changes distances to the nearest neighbours."""
    index, own = near_m
    weights = areas_m[index]
    at, reach = near_n[0][target], near_n[1][target]
    image = target[index]
    # The distance from T(p) to T(j): found in T(p)'s list, or else the largest of all lists.
    gaps = []
    for column in range(index.shape[1]):
        same = at == image[:, column, None]
        found = torch.where(same, reach, 0).sum(dim=1)
        there = torch.where(same.any(dim=1), found, near_n[1].max())
        gaps.append((own[:, column] - there).abs())
    total = (weights * torch.stack(gaps, dim=1)).sum(dim=1)
    return total / (own.amax(dim=1) * weights.sum(dim=1))


def reliable(
    target: np.ndarray, lmd: np.ndarray, threshold: float, anchors: np.ndarray
) -> np.ndarray:
    """(m', 2) matches below the threshold; one a full vertex, none that touches an anchor."""
    best: dict[int, int] = {}
    for p in np.argsort(lmd, kind="stable"):
        if lmd[p] < threshold and p not in anchors[:, 0] and target[p] not in anchors[:, 1]:
            best.setdefault(int(target[p]), int(p))
    return np.array(sorted((p, q) for q, p in best.items()), dtype=np.int64).reshape(-1, 2)


def neural_zoomout(
    target: torch.Tensor,
    phi: torch.Tensor,
    psi: torch.Tensor,
    recipe: PaperRecipe,
    start: Start | None,
    within: torch.Tensor,
) -> torch.Tensor:
    """A new map from ever more eigenfunctions, each stage through a freshly fitted NAM."""
    phi = (phi / phi.square().mean(dim=0).sqrt()).float()
    psi = (psi / psi.square().mean(dim=0).sqrt()).float()
    last = min(recipe.refine_last, phi.shape[1], psi.shape[1])
    for d in range(recipe.refine_first, last + 1, recipe.refine_increment):
        nam = TorchAdjointMap(d)
        if start:
            set_weights(nam, start("nam", [d]))
        rate, decay = recipe.refine_learning_rate, recipe.refine_weight_decay
        optimiser = torch.optim.Adam(nam.parameters(), rate, weight_decay=decay)
        x, y = psi[target, :d], phi[:, :d]
        for _ in range(recipe.refine_steps):
            optimiser.zero_grad()
            torch.autograd.backward(nn.functional.mse_loss(nam(x), y))
            optimiser.step()
        with torch.no_grad():
            target = within[nearest(y, nam(psi[within, :d]))]
    return target


def match(
    partial: tuple[np.ndarray, np.ndarray],
    full: tuple[np.ndarray, np.ndarray],
    anchors: np.ndarray,
    settings: Settings,
    start: Start | None = None,
) -> Reference:
    """From two meshes (vertices, faces), the full one of unit area, and (m, 2) vertex pairs."""
    torch.manual_seed(settings.seed)
    recipe = settings.recipe
    assert isinstance(recipe, PaperRecipe)
    clock = [time.perf_counter()]
    problem_m, problem_n = EigenProblem(*partial, dirichlet=True), EigenProblem(*full, False)
    wanted, functions_m = problem_m.solve(recipe.refine_last)
    values, functions = problem_n.solve(recipe.galerkin_modes)
    clock.append(time.perf_counter())
    sides = (partial, recipe.distortion_neighbours), (full, recipe.distortion_front)
    near_m, near_n = (
        [torch.from_numpy(a) for a in nearest_along_edges(*mesh, count)] for mesh, count in sides
    )
    clock.append(time.perf_counter())

    k = recipe.spectral_modes
    operator = Operator(
        torch.from_numpy(problem_n.areas),
        torch.from_numpy(values),
        torch.from_numpy(functions),
        Topology(mesh_edges(full[1])[0]),
        problem_m.areas.sum(),
        torch.from_numpy(wanted[:k]),
        recipe,
    )
    at_anchors = np.bincount(anchors[:, 1], minlength=len(functions)).astype(float)
    encoding = with_positive_moment(functions[:, : recipe.encoding_modes], at_anchors)
    sizes = [encoding.shape[1], *[recipe.hidden_width] * recipe.hidden_layers, 1]
    field, inputs = Field(sizes), torch.from_numpy(encoding).float()
    if start:
        set_weights(field, start("field", sizes))
    phi, areas_m = torch.from_numpy(functions_m), torch.from_numpy(problem_m.areas)
    evidence, d = anchors, min(k, len(anchors))
    curves = []
    for number in range(recipe.rounds + 1):
        s, losses = fit(field, inputs, operator, evidence[:, 1])
        curves.append(losses)
        mu, psi = operator.modes(s)
        energy = psi[:, :k].square().mean(dim=1)
        region = energy > recipe.support_threshold * mu
        support = region.nonzero()[:, 0] if region.any() else torch.arange(len(psi))
        p, q = torch.from_numpy(evidence).T
        aligned = psi[:, :d] @ (torch.linalg.pinv(psi[q, :d]) @ phi[p, :d])
        target = support[nearest(phi[:, :d], aligned[support])]
        if number < recipe.rounds:
            lmd = distortion(target, near_m, near_n, areas_m).numpy()
            more = reliable(target.numpy(), lmd, recipe.distortion_threshold, anchors)
            evidence = np.concatenate([anchors, more])
    clock.append(time.perf_counter())
    within = support if recipe.refine_within == "support" else torch.arange(len(psi))
    target = neural_zoomout(target, phi, psi, recipe, start, within)
    clock.append(time.perf_counter())
    stages = ("spectra", "neighbours", "reciprocal loop", "refinement")
    seconds = dict(zip(stages, np.diff(clock).tolist(), strict=True))
    return Reference(target.numpy(), region.numpy(), curves, seconds)
