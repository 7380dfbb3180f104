"""DiffusionNet (Sharp, Attaiki, Crane and Ovsjanikov 2022): learned features of a surface.

Each block lets every channel diffuse for a time of its own, compares the gradients of the diffused
channels, and mixes all of it at each vertex. Nothing depends on the numbering of the vertices or on
how the surface is cut into triangles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from nho.learned.mesh_operators import Operators

_HIDDEN_LAYERS = 2  # of the network at each vertex, as wide as the block

Turning = Literal["complex", "framed"]


@dataclass(frozen=True)
class OperatorTensors:
    """`Operators` as tensors.

    Attributes
    ----------
    mass : (n,) tensor
    eigenvalues : (k,) tensor
    functions : (n, k) tensor
    gradient : two sparse (n, n) tensors
        Along the first and the second axis of the tangent frames.
    """

    mass: Tensor
    eigenvalues: Tensor
    functions: Tensor
    gradient: tuple[Tensor, Tensor]

    @classmethod
    def of(cls, operators: Operators, dtype: torch.dtype = torch.float32) -> OperatorTensors:
        """The tensors of a mesh, in the precision of the network."""
        entries = operators.gradient.tocoo()
        places = torch.from_numpy(np.stack([entries.row, entries.col]).astype(np.int64))

        def dense(values: np.ndarray) -> Tensor:
            return torch.from_numpy(values.copy()).to(dtype)

        def sparse(values: np.ndarray) -> Tensor:
            # The entries come from SciPy, sorted and without repeats.
            return torch.sparse_coo_tensor(
                places, dense(values), entries.shape, check_invariants=False, is_coalesced=True
            )

        return cls(
            dense(operators.mass),
            dense(operators.eigenvalues),
            dense(operators.functions),
            (sparse(entries.data.real), sparse(entries.data.imag)),
        )

    def project(self, values: Tensor) -> Tensor:
        """(k, c) coefficients of (n, c) values in the eigenfunctions."""
        return self.functions.T @ (self.mass[:, None] * values)


class Diffusion(nn.Module):
    """Heat diffusion in the span of the eigenfunctions, for a learned time per channel."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.time = nn.Parameter(torch.zeros(width))  # in units of length^2

    def forward(self, values: Tensor, operators: OperatorTensors) -> Tensor:
        """(n, width) values after their times."""
        decay = torch.exp(-operators.eigenvalues[:, None] * self.time.clamp(min=0)[None, :])
        return operators.functions @ (decay * operators.project(values))


class GradientFeatures(nn.Module):
    """Inner products of each channel's gradient with learned, rotated mixtures of all gradients.

    Parameters
    ----------
    width : int
    turning : {"complex", "framed"}
        How gradients are rotated. ``"complex"`` is the paper's: the mixture multiplies by complex
        numbers, which scale and rotate but cannot mirror, so that the frames do not matter. In
        ``"framed"`` the second component of the mixture is ``real(x) + imaginary(y)``: a slip in a
        widely copied implementation, which weights trained with it need. It depends on the frames,
        and through them on the pose in space.
    """

    def __init__(self, width: int, turning: Turning = "complex") -> None:
        super().__init__()
        self.turning = turning
        self.real = nn.Linear(width, width, bias=False)
        self.imaginary = nn.Linear(width, width, bias=False)

    def forward(self, values: Tensor, operators: OperatorTensors) -> Tensor:
        """(n, width) numbers between -1 and 1."""
        x, y = (torch.sparse.mm(matrix, values) for matrix in operators.gradient)
        mixed_x = self.real(x) - self.imaginary(y)
        if self.turning == "complex":
            mixed_y = self.real(y) + self.imaginary(x)
        else:
            mixed_y = self.real(x) + self.imaginary(y)
        return torch.tanh(x * mixed_x + y * mixed_y)


class Block(nn.Module):
    """Diffusion, gradient features and a network at each vertex, added to what came in."""

    def __init__(self, width: int, dropout: float, turning: Turning) -> None:
        super().__init__()
        self.diffusion = Diffusion(width)
        self.gradients = GradientFeatures(width, turning)
        sizes = [3 * width] + [width] * (_HIDDEN_LAYERS + 1)
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.dropout = nn.Dropout(dropout)

    def forward(self, values: Tensor, operators: OperatorTensors) -> Tensor:
        """(n, width) values of the next block."""
        diffused = self.diffusion(values, operators)
        inner = torch.cat([values, diffused, self.gradients(diffused, operators)], dim=1)
        for number, layer in enumerate(self.layers):
            inner = layer(inner if number == 0 else self.dropout(torch.relu(inner)))
        return values + inner


class DiffusionNet(nn.Module):
    """The network from values at vertices to features at vertices.

    ``inputs``, ``outputs`` and ``width`` are the channels that go in, come out and are inside;
    ``dropout`` is the share of the inner values that is left out while training.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        width: int = 128,
        blocks: int = 4,
        dropout: float = 0.0,
        turning: Turning = "complex",
    ) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(Block(width, dropout, turning) for _ in range(blocks))
        self.last = nn.Linear(width, outputs)

    def forward(self, values: Tensor, operators: OperatorTensors) -> Tensor:
        """(n, outputs) features of (n, inputs) values."""
        values = self.first(values)
        for block in self.blocks:
            values = block(values, operators)
        features: Tensor = self.last(values)
        return features
