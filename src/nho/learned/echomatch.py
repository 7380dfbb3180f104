"""EchoMatch (Xie et al. 2025): what comes back from the other shape tells where the two overlap.

Features give soft matches both ways. A vertex that has a partner is sent there and back to itself
or close by; one without a partner comes back somewhere else, or everywhere. How much of it comes
back to each of its neighbours is its echo, and a second, small DiffusionNet reads the overlap from
the echoes. The map is that of the nearest features.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.spatial import cKDTree
from torch import Tensor, nn

from nho.geometry.sampling import farthest_points
from nho.learned.architecture import Architecture
from nho.learned.diffusion_net import DiffusionNet
from nho.learned.functional_maps import soft_map, unit_rows
from nho.learned.matcher import Matcher, Output
from nho.learned.shape import Shape

_COLDEST = 1e-3  # temperature below which a step of training may not take it
_ROWS = 1024  # vertices whose way there and back is held at a time


class EchoMatch(Matcher):
    """The network; see `Matcher`."""

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

    def forward(self, partial: Shape, full: Shape) -> Output:
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

    def _compared(self, shape: Shape) -> Tensor:
        """(m,) vertices that echoes go between, as dense on every shape as while training."""
        wanted = self.architecture.compared * float(shape.mass.sum())
        count = len(shape.points)
        if not 0 < wanted < count:
            return torch.arange(count)
        return torch.from_numpy(farthest_points(shape.points, max(int(wanted), 1)))

    def _overlap(
        self, own: Tensor, few_own: Tensor, few_other: Tensor, shape: Shape, chosen: Tensor
    ) -> Tensor:
        """(n,) logits of a shape from the unit features of both."""
        near = neighbours(shape.points, chosen.numpy(), self.architecture.neighbours)
        temperature = self.temperature.clamp(min=_COLDEST)
        heard = echoes(own, few_own, few_other, near, temperature)
        missing = self.architecture.neighbours - heard.shape[1]
        heard = nn.functional.pad(heard, (0, missing))
        logits: Tensor = self.listener(heard, shape.surface)[:, 0]
        return logits


def neighbours(points: np.ndarray, chosen: np.ndarray, count: int) -> Tensor:
    """(n, k) places in ``chosen`` of the k nearest of them, nearest first; k is at most ``count``.

    Parameters
    ----------
    points : (n, 3) float array
    chosen : (m,) int array
    """
    count = min(count, len(chosen))
    near = cKDTree(points[chosen]).query(points, k=count)[1]
    return torch.from_numpy(near.reshape(len(points), count))


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
    rows = []
    for block, around in zip(own.split(_ROWS), near.split(_ROWS)):
        rows.append((soft_map(block, few_other, temperature) @ back).gather(1, around))
    heard = torch.cat(rows)
    return heard / heard.max()
