"""The learned methods: what each makes of the features of DiffusionNet."""

from __future__ import annotations

import numpy as np
import torch
from scipy.spatial import cKDTree
from torch import Tensor, nn

from nho.geometry.sampling import farthest_points
from nho.learned.architecture import Architecture
from nho.learned.attention import Refinement, VertexSample
from nho.learned.diffusion_net import DiffusionNet
from nho.learned.functional_maps import regularised_map, soft_map, unit_rows
from nho.learned.matcher import Matcher, Output
from nho.learned.network_input import NetworkInput

_LEAST_TEMPERATURE = 1e-3  # below which a step of training may not take it
_ROWS = 1024  # vertices whose way there and back is in memory at a time


class DPFM(Matcher):
    """Deep partial functional maps (Attaiki, Pai and Ovsjanikov 2021).

    From the features a regularised functional map is solved for. Beside it the shapes attend to
    each other, and from that the overlap is predicted.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.refinement = Refinement(architecture.outputs, architecture.width, architecture.heads)

    def forward(self, partial: NetworkInput, full: NetworkInput) -> Output:
        """Features, functional map and overlap of both shapes."""
        plain = super().forward(partial, full)
        share = self.architecture.sampled
        samples = (VertexSample.of(shape.points, share) for shape in (partial, full))
        refined = self.refinement(plain.partial, plain.full, *samples)
        own, other = refined if self.architecture.refined else (plain.partial, plain.full)
        matrix = regularised_map(partial, full, own, other, self.architecture.map_weight)
        here, there = map(self.refinement.overlap_logits, refined)
        return Output(own, other, matrix, here, there)


class EchoMatch(Matcher):
    """Overlap from what comes back from the other shape (Xie et al. 2025).

    Features give soft matches both ways. A vertex that has a partner is sent there and back to
    itself or close by; one without a partner comes back somewhere else, or everywhere. How much of
    it comes back to each of its neighbours is its echo, and a second, small DiffusionNet reads the
    overlap from the echoes. The map is that of the nearest features.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.temperature = nn.Parameter(torch.tensor([architecture.temperature]))
        self.listener = DiffusionNet(
            architecture.neighbours,
            1,
            architecture.overlap_width,
            architecture.overlap_blocks,
            architecture.dropout,
            architecture.turning,
        )

    def forward(self, partial: NetworkInput, full: NetworkInput) -> Output:
        """Features and overlap of both shapes."""
        plain = super().forward(partial, full)
        own, other = unit_rows(plain.partial), unit_rows(plain.full)
        few_own, few_other = self._compared(partial), self._compared(full)
        return Output(
            plain.partial,
            plain.full,
            None,
            self._overlap(own, own[few_own], other[few_other], partial, few_own),
            self._overlap(other, other[few_other], own[few_own], full, few_other),
        )

    def _compared(self, shape: NetworkInput) -> Tensor:
        """(m,) vertices that echoes go between, as dense on every shape as while training."""
        wanted = self.architecture.compared * float(shape.mass.sum())
        count = len(shape.points)
        if not 0 < wanted < count:
            return torch.arange(count)
        return torch.from_numpy(farthest_points(shape.points, max(int(wanted), 1)))

    def _overlap(
        self, own: Tensor, few_own: Tensor, few_other: Tensor, shape: NetworkInput, chosen: Tensor
    ) -> Tensor:
        """(n,) logits of a shape from the unit features of both."""
        near = neighbours(shape.points, chosen.numpy(), self.architecture.neighbours)
        temperature = self.temperature.clamp(min=_LEAST_TEMPERATURE)
        found = echoes(own, few_own, few_other, near, temperature)
        missing = self.architecture.neighbours - found.shape[1]
        logits: Tensor = self.listener(nn.functional.pad(found, (0, missing)), shape.operators)
        return logits[:, 0]


def neighbours(points: np.ndarray, chosen: np.ndarray, count: int) -> Tensor:
    """(n, k) places in ``chosen`` of the k nearest of them, nearest first; k is at most ``count``.

    Parameters
    ----------
    points : (n, 3) float array
    chosen : (m,) int array
    """
    count = min(count, len(chosen))
    near = cKDTree(points[chosen]).query(points, k=count)[1]
    return torch.from_numpy(np.reshape(near, (len(points), count)))


def echoes(
    own: Tensor, few_own: Tensor, few_other: Tensor, near: Tensor, temperature: Tensor
) -> Tensor:
    """(n, k) how much of every vertex comes back to each of its neighbours, over the largest.

    Parameters
    ----------
    own : (n, c) tensor
        Unit features of the vertices.
    few_own, few_other : (m, c) and (l, c) tensors
        Those of the vertices that are compared, on this shape and on the other.
    near : (n, k) int tensor
        Neighbours, as rows of ``few_own``.
    """
    back = soft_map(few_other, few_own, temperature)
    rows = [
        (soft_map(block, few_other, temperature) @ back).gather(1, around)
        for block, around in zip(torch.split(own, _ROWS), torch.split(near, _ROWS))
    ]
    found = torch.cat(rows)
    return found / found.max()


METHODS: dict[str, type[Matcher]] = {
    "dpfm": DPFM,
    "ulrssm": Matcher,  # nothing but the loss is new, see `nho.learned.losses`
    "wormhole": Matcher,
    "echomatch": EchoMatch,
}


def new_matcher(architecture: Architecture) -> Matcher:
    """A network with fresh weights, drawn from torch's own generator."""
    return METHODS[architecture.method](architecture)
