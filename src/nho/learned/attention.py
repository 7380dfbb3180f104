"""Cross attention between two shapes (DPFM): each attends to the other to find what both have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.spatial import cKDTree
from torch import Tensor, nn

from nho.geometry.sampling import farthest_points
from nho.learned.functional_maps import unit_rows

_NEAREST = 3  # attended vertices that a vertex between them takes its features from
_SOFTENING = 1e-8  # squared length in the unit of the network: a vertex counts itself alone
MOST_SAMPLED = 4000  # attended vertices of a shape: all pairs of them are compared
_QUERIES = 1024  # rows of the table of pairs that are in memory at a time


@dataclass(frozen=True)
class VertexSample:
    """Vertices of a shape far from each other, and how the others lie between them.

    Attributes
    ----------
    chosen : (m,) int tensor
        Vertices.
    nearest : (n, 3) int tensor
        Places in ``chosen``.
    weight : (n, 3) tensor
        Rows that sum to one.
    """

    chosen: Tensor
    nearest: Tensor
    weight: Tensor

    @classmethod
    def of(cls, points: np.ndarray, share: float) -> VertexSample:
        """A share of the points (n, 3), each next one the farthest from those before."""
        count = min(max(_NEAREST, int(share * len(points))), MOST_SAMPLED, len(points))
        chosen = farthest_points(points, count)
        found = cKDTree(points[chosen]).query(points, k=min(_NEAREST, count))
        distance, nearest = (np.reshape(table, (len(points), -1)) for table in found)
        closeness = 1 / (distance**2 + _SOFTENING)
        weight = closeness / closeness.sum(axis=1, keepdims=True)
        return cls(
            torch.from_numpy(chosen),
            torch.from_numpy(nearest),
            torch.from_numpy(weight.astype(np.float32)),
        )

    def interpolate(self, values: Tensor) -> Tensor:
        """(n, c) values at all vertices from (m, c) at the chosen ones."""
        return (values[self.nearest] * self.weight[:, :, None]).sum(dim=1)


class Propagation(nn.Module):
    """What a shape learns from attending to another: attention, then a small network."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.merge = (nn.Linear(width, width) for _ in range(4))
        self.hidden = nn.Linear(2 * width, 2 * width)
        self.last = nn.Linear(2 * width, width)
        nn.init.zeros_(self.last.bias)

    def forward(self, own: Tensor, other: Tensor) -> Tensor:
        """(n, width) to add to the (n, width) features ``own``, from (m, width) of the other."""
        attended = self.merge(self._attended(own, other))
        hidden = self.hidden(torch.cat([own, attended], dim=1))
        # Each channel over the vertices of the shape: mean 0, variance 1.
        hidden = nn.functional.instance_norm(hidden.T[None])[0].T
        message: Tensor = self.last(torch.relu(hidden))
        return message

    def _attended(self, own: Tensor, other: Tensor) -> Tensor:
        # Channel c belongs to head c % heads.
        query, key, value = (
            layer(values).reshape(len(values), -1, self.heads)
            for layer, values in ((self.query, own), (self.key, other), (self.value, other))
        )
        scale = query.shape[1] ** -0.5
        rows = []
        for block in torch.split(query, _QUERIES):
            share = torch.softmax(torch.einsum("ndh,mdh->hnm", block, key) * scale, dim=2)
            rows.append(torch.einsum("hnm,mdh->ndh", share, value).reshape(len(block), -1))
        return torch.cat(rows)


class Refinement(nn.Module):
    """Features of both shapes after they attended to each other, and where they overlap."""

    def __init__(self, features: int, width: int, heads: int, layers: int = 1) -> None:
        super().__init__()
        self.first = nn.Linear(features, width)
        self.layers = nn.ModuleList(Propagation(width, heads) for _ in range(layers))
        self.last = nn.Linear(width, features)
        self.overlap = nn.Sequential(
            nn.Linear(features, features), nn.ReLU(), nn.Linear(features, 1)
        )

    def forward(
        self, own: Tensor, other: Tensor, own_sample: VertexSample, other_sample: VertexSample
    ) -> tuple[Tensor, Tensor]:
        """(n, c) and (m, c) features of the partial and of the full shape."""
        own, other = self.first(own), self.first(other)
        for layer in self.layers:
            here, there = own[own_sample.chosen], other[other_sample.chosen]
            there = there + layer(there, here)  # the full shape goes first
            here = here + layer(here, there)
            own, other = own_sample.interpolate(here), other_sample.interpolate(there)
        return self.last(own), self.last(other)

    def overlap_logits(self, refined: Tensor) -> Tensor:
        """(n,) above 0 where the other shape has a partner."""
        logits: Tensor = self.overlap(unit_rows(refined))[:, 0]
        return logits
