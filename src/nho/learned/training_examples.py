"""A training pair as a network learns from it: both shapes as tensors, and the truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from nho.geometry.geodesics import distances_from, unfolded_graph
from nho.geometry.mesh import Mesh
from nho.learned.architecture import Architecture
from nho.learned.network_input import NetworkInput, network_inputs
from nho.learned.training_pairs import TrainingPair

# Paths over triangles are longer than straight ones by up to this share. Without it, hardly any
# distance would pass as one that a way over a gap cannot beat.
_DETOUR = 0.03


@dataclass(frozen=True)
class TrainingExample:
    """A pair, the inputs of a network made of it, and the targets of its losses."""

    pair: TrainingPair
    partial: NetworkInput
    full: NetworkInput

    @classmethod
    def of(cls, pair: TrainingPair, architecture: Architecture) -> TrainingExample:
        """The example that a pair is for networks of an architecture."""
        return cls(pair, *network_inputs(pair.partial, pair.full, architecture))

    @cached_property
    def vertex(self) -> Tensor:
        """(n_partial,) true full vertex of every partial one."""
        return torch.from_numpy(self.pair.vertex)

    @cached_property
    def region(self) -> Tensor:
        """(n_full,) 1 where the partial shape lies, else 0."""
        return torch.from_numpy(self.pair.region.astype(np.float32))

    @cached_property
    def matrix(self) -> Tensor:
        """(k, k) functional map of the truth, from the full shape to the partial one."""
        return self.partial.project(self.full.functions[self.vertex])

    @cached_property
    def full_distances(self) -> Tensor:
        """(n_full, n_full) geodesic distances, the full shape's area being one."""
        return _distances(self.pair.full)

    @cached_property
    def partial_distances(self) -> Tensor:
        """(n_partial, n_partial) geodesic distances within the partial shape."""
        return _distances(self.pair.partial)

    @cached_property
    def reliable(self) -> Tensor:
        """(n_partial, n_partial) bool: the distance is that on the full shape as well."""
        return torch.from_numpy(reliable_distances(self.pair.partial))


def reliable_distances(partial: Mesh) -> np.ndarray:
    """(n, n) bool: distances that what was cut away cannot shorten (Bracha et al. 2024).

    A way through the missing part leaves the partial shape at one point of its boundary and comes
    back at another, so between those two it is no shorter than the straight line. Where straight
    lines between all points of the boundary shorten no path, neither does the missing part.
    """
    graph = unfolded_graph(partial)
    boundary = np.flatnonzero(partial.boundary_vertices)
    i, j = (boundary[ends] for ends in np.triu_indices(len(boundary), 1))
    gaps = np.linalg.norm(partial.vertices[i] - partial.vertices[j], axis=1)
    gaps = np.maximum(gaps, np.finfo(float).tiny)  # zero would be no edge at all
    lines = sp.csr_matrix((gaps, (i, j)), shape=graph.shape)
    lines = lines + lines.T
    # Edges of both graphs, the shorter one where both have it: an absent entry is zero to SciPy's
    # minimum; as reciprocals, absent is least, as it should be.
    shorter = _reciprocal(sp.csr_matrix(_reciprocal(graph).maximum(_reciprocal(lines))))
    everything = np.arange(partial.n_vertices)
    inside = distances_from(graph, everything)
    limit = (1 + _DETOUR) * distances_from(shorter, everything)
    reliable: np.ndarray = np.isfinite(inside) & (inside <= limit)
    return reliable


def _reciprocal(graph: sp.csr_matrix) -> sp.csr_matrix:
    inverse = graph.copy()
    inverse.data = 1 / inverse.data
    return inverse


def _distances(mesh: Mesh) -> Tensor:
    # In half precision: many examples are in memory, and distances are most of their size.
    distances = distances_from(unfolded_graph(mesh), np.arange(mesh.n_vertices))
    return torch.from_numpy(distances.astype(np.float16))
