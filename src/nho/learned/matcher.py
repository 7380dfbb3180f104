"""What all learned methods have in common: two shapes in, features of both and a map out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from nho.geometry.mesh import Mesh
from nho.learned.architecture import Architecture
from nho.learned.backend import array_of, quiet_torch
from nho.learned.diffusion_net import DiffusionNet
from nho.learned.functional_maps import map_of_vertices, unit_rows, vertices_of_map
from nho.learned.network_input import NetworkInput, network_inputs
from nho.operator.correspondence import nearest_rows
from nho.runtime.parallel import SERIAL, Workers


@dataclass(frozen=True)
class Output:
    """What a network predicts for a pair, as tensors with gradients.

    Attributes
    ----------
    partial, full : (n, c) tensors
        Features.
    matrix : (k, k) tensor or None
        Functional map, from coefficients on the full shape to those on the partial one.
    partial_overlap, full_overlap : (n,) tensors or None
        Above 0 where the other shape has a partner (logits).
    """

    partial: Tensor
    full: Tensor
    matrix: Tensor | None = None
    partial_overlap: Tensor | None = None
    full_overlap: Tensor | None = None


@dataclass(frozen=True)
class Features:
    """The output as plain arrays, with the vertex map that follows from it.

    Attributes
    ----------
    partial, full : (n, c) float arrays
    target : (n_partial,) int array
        Full vertex of every partial vertex.
    matrix : (k, k) float array
        Functional map, from coefficients on the full shape to those on the partial one.
    mutual : (n_partial,) bool array
        Whether the functional map leads from that full vertex back to the partial vertex.
    overlap : (n_full,) float array or None
        0 to 1, above one half where the partial shape lies.
    """

    partial: np.ndarray
    full: np.ndarray
    target: np.ndarray
    matrix: np.ndarray
    mutual: np.ndarray
    overlap: np.ndarray | None


class Matcher(nn.Module):
    """A learned method: DiffusionNet, and what a subclass makes of its features."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = architecture
        self.extractor = DiffusionNet(
            architecture.channels,
            architecture.outputs,
            architecture.width,
            architecture.blocks,
            architecture.dropout,
            architecture.turning,
        )

    def forward(self, partial: NetworkInput, full: NetworkInput) -> Output:
        """Features of both, and what else the method predicts; for training too."""
        return Output(
            self.extractor(partial.values, partial.operators),
            self.extractor(full.values, full.operators),
        )

    def features(
        self, partial: Mesh, full: Mesh, laplacian: str = "robust", workers: Workers = SERIAL
    ) -> Features:
        """Features and map of a pair in one unit, at any scale; the same bits every time."""
        with quiet_torch(), torch.no_grad():
            self.eval()
            inputs = network_inputs(partial, full, self.architecture, laplacian)
            output: Output = self(*inputs)
            matrix = self._matrix(output, *inputs, workers)
            own, other = (array_of(shape.functions) for shape in inputs)
            target, mutual = vertices_of_map(matrix, own, other, workers)
            logits = output.full_overlap
            overlap = None if logits is None else array_of(torch.sigmoid(logits))
        rows = array_of(output.partial), array_of(output.full)
        return Features(*rows, target, matrix, mutual, overlap)

    def _matrix(
        self, output: Output, partial: NetworkInput, full: NetworkInput, workers: Workers
    ) -> np.ndarray:
        """The functional map: predicted, or that of the nearest features, which smooths them."""
        if output.matrix is not None:
            return array_of(output.matrix)
        own, other = (array_of(unit_rows(values)) for values in (output.partial, output.full))
        return map_of_vertices(partial, full, nearest_rows(own, other, workers))
