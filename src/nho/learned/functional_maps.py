"""Functional maps between features, and vertex maps from them.

Legend: A, B are the coefficients of the features of the full and of the partial shape; C takes
coefficients on the full shape to coefficients on the partial one, so ``C A = B`` where all is well.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from nho.learned.network_input import NetworkInput
from nho.operator.correspondence import nearest_rows
from nho.runtime.parallel import SERIAL, Workers


def regularised_map(
    partial: NetworkInput, full: NetworkInput, own: Tensor, other: Tensor, weight: float
) -> Tensor:
    """(k, k) C of least ``|C A - B|^2 + weight |C * D|^2``, differentiable.

    D is the resolvent mask (Ren et al. 2019), large where eigenvalues differ: an isometry takes
    eigenfunctions to eigenfunctions of the same eigenvalue. Each row of C solves a system of its
    own.

    Parameters
    ----------
    own, other : (n_partial, c) and (n_full, c) tensors
        Features.
    """
    # In double precision: the systems of neighbouring features are badly conditioned.
    a, b = full.project(other).double(), partial.project(own).double()
    penalty = resolvent_mask(partial.eigenvalues.double(), full.eigenvalues.double())
    systems = (a @ a.T)[None] + weight * torch.diag_embed(penalty)
    matrix: Tensor = torch.linalg.solve(systems, (b @ a.T)[:, :, None])[:, :, 0]
    return matrix.to(own.dtype)


def resolvent_mask(rows: Tensor, columns: Tensor) -> Tensor:
    """(r, c) squared distance between resolvents of eigenvalues, free of scale."""
    largest = torch.maximum(rows.max(), columns.max())

    def resolvent(eigenvalues: Tensor) -> Tensor:
        # At square roots of eigenvalues, which by Weyl's law grow slowly enough.
        root = (eigenvalues / largest).clamp(min=0).sqrt()
        return torch.stack([root, torch.ones_like(root)]) / (root**2 + 1)

    difference = resolvent(rows)[:, :, None] - resolvent(columns)[:, None, :]
    return (difference**2).sum(dim=0)


def soft_map(own: Tensor, other: Tensor, temperature: float | Tensor) -> Tensor:
    """(n_partial, n_full) rows that sum to one: softmax of the cosines between features.

    For training, where it must be differentiable; it holds all pairs at once.
    """
    cosine = unit_rows(own) @ unit_rows(other).T
    return torch.softmax(cosine / temperature, dim=1)


def unit_rows(values: Tensor) -> Tensor:
    """Rows of length one."""
    return torch.nn.functional.normalize(values, dim=-1)


def map_of_vertices(partial: NetworkInput, full: NetworkInput, target: np.ndarray) -> np.ndarray:
    """(k, k) C of a vertex map: what it makes of the full shape's eigenfunctions."""
    pulled = full.functions[torch.from_numpy(target)]
    return partial.project(pulled).double().numpy()


def vertices_of_map(
    matrix: np.ndarray, partial: np.ndarray, full: np.ndarray, workers: Workers = SERIAL
) -> tuple[np.ndarray, np.ndarray]:
    """`mutual_rows` of (n, k) basis functions of the partial shape and images of the full one's."""
    return mutual_rows(partial, full @ matrix.T, workers)


def mutual_rows(
    own: np.ndarray, other: np.ndarray, workers: Workers = SERIAL
) -> tuple[np.ndarray, np.ndarray]:
    """The row of ``other`` nearest to every row of ``own``, and where it is so both ways.

    Returns
    -------
    target : (n_own,) int array
    mutual : (n_own,) bool array
        Whether the partner's nearest is the row itself.
    """
    target = nearest_rows(own, other, workers)
    back = nearest_rows(other, own, workers)
    return target, back[target] == np.arange(len(target))
