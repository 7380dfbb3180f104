"""Training losses: small ones, and their sums by method.

Every loss is a mean over vertices, rows or pairs, so that none depends on the size of a mesh, and
is least (most are zero) at the truth.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from nho.learned.functional_maps import regularised_map, soft_map, unit_rows
from nho.learned.matcher import Matcher, Output
from nho.learned.network_input import NetworkInput
from nho.learned.training_examples import TrainingExample

CONTRAST = 0.07  # differences of cosines that make a factor of e, in `contrastive`
_WEIGHT_SELF = 0.1  # of distinguishing vertices from those of their own shape (EchoMatch)
_WEIGHT_TRUTH = 1.0  # of the truth in the two methods that could learn without it, see `ulrssm`
_WEIGHT_DISTANCES = 10.0  # of squares of distances below one, which are small


def contrastive(own: Tensor, other: Tensor, vertex: Tensor) -> Tensor:
    """Cross entropy of finding one's partner among all vertices by features, both ways.

    Parameters
    ----------
    own, other : (n_partial, c) and (n_full, c) tensors
    vertex : (n_partial,) int tensor
        True full vertex of every partial one.
    """
    logits = unit_rows(own) @ unit_rows(other).T / CONTRAST
    there = functional.cross_entropy(logits, vertex)
    back = functional.cross_entropy(logits.T[vertex], torch.arange(len(vertex)))
    return there + back


def map_difference(matrix: Tensor, truth: Tensor) -> Tensor:
    """Squared difference of functional maps, per row."""
    return ((matrix - truth) ** 2).sum(dim=1).mean()


def overlap(logits: Tensor, truth: Tensor) -> Tensor:
    """Cross entropy of the region, inside and outside weighing the same whatever their sizes."""
    entropy = functional.binary_cross_entropy_with_logits(logits, truth, reduction="none")
    sides = [entropy[truth > 0.5], entropy[truth <= 0.5]]
    return torch.stack([side.mean() for side in sides if len(side)]).mean()


def orthogonality(matrix: Tensor, partial: NetworkInput, full: NetworkInput) -> Tensor:
    """Distance of the rows of a functional map from orthonormal: a map onto a part keeps areas.

    Only rows whose eigenvalue the truncated basis of the full shape reaches count: those beyond
    cannot be made up from it.
    """
    rank = int((partial.eigenvalues < full.eigenvalues.max()).sum())
    rows = matrix[:rank]
    return ((rows @ rows.T - torch.eye(rank)) ** 2).sum(dim=1).mean()


def distance_change(soft: Tensor, partial: Tensor, full: Tensor, reliable: Tensor) -> Tensor:
    """Mean square by which a soft map changes distances, over pairs that are reliable.

    Parameters
    ----------
    soft : (n, m) tensor
        Rows that sum to one.
    partial, full, reliable : (n, n), (m, m) and (n, n) tensors
        Distances, and the mask of pairs to count.
    """
    mapped = soft @ full.to(soft.dtype) @ soft.T
    return ((mapped - partial)[reliable] ** 2).mean()


def dpfm(matcher: Matcher, output: Output, example: TrainingExample) -> Tensor:
    """Functional map, overlap and features, all from the truth (Attaiki et al. 2021)."""
    assert output.matrix is not None
    return (
        map_difference(output.matrix, example.matrix)
        + _overlaps(output, example)
        + contrastive(output.partial, output.full, example.vertex)
    )


def ulrssm(matcher: Matcher, output: Output, example: TrainingExample) -> Tensor:
    """The two functional maps agree, and keep areas (Cao et al. 2023); and the truth, for a start.

    One map is solved for from the features, the other is that of the nearest features, which alone
    are needed to match. The original learns without truth, from far more shapes and steps, and may
    train a few more on the pair at hand.
    """
    weight, temperature = matcher.architecture.map_weight, matcher.architecture.temperature
    solved = regularised_map(example.partial, example.full, output.partial, output.full, weight)
    soft = soft_map(output.partial, output.full, temperature)
    of_matches = example.partial.project(soft @ example.full.functions)
    return (
        map_difference(solved, of_matches)
        + orthogonality(solved, example.partial, example.full)
        + _WEIGHT_TRUTH * contrastive(output.partial, output.full, example.vertex)
    )


def wormhole(matcher: Matcher, output: Output, example: TrainingExample) -> Tensor:
    """Reliable distances and areas are kept (Bracha et al. 2024); and the truth, for a start.

    A distance counts only if the missing part cannot hold a shorter way: its ends are nearer to
    each other than by any way over the boundary.
    """
    soft = soft_map(output.partial, output.full, matcher.architecture.temperature)
    of_matches = example.partial.project(soft @ example.full.functions)
    distances = example.partial_distances, example.full_distances
    change = distance_change(soft, *distances, example.reliable)
    return (
        _WEIGHT_DISTANCES * change
        + orthogonality(of_matches, example.partial, example.full)
        + _WEIGHT_TRUTH * contrastive(output.partial, output.full, example.vertex)
    )


def echomatch(matcher: Matcher, output: Output, example: TrainingExample) -> Tensor:
    """As DPFM, and vertices of one shape differ from each other as well (Xie et al. 2025)."""
    matrix = regularised_map(
        example.partial,
        example.full,
        output.partial,
        output.full * example.region[:, None],  # the part that the partial shape covers
        matcher.architecture.map_weight,
    )
    own = [contrastive(f, f, torch.arange(len(f))) for f in (output.partial, output.full)]
    return (
        map_difference(matrix, example.matrix)
        + _overlaps(output, example)
        + contrastive(output.partial, output.full, example.vertex)
        + _WEIGHT_SELF * (own[0] + own[1])
    )


def _overlaps(output: Output, example: TrainingExample) -> Tensor:
    """Overlap losses of both shapes; all of the partial one has a partner."""
    partial, full = output.partial_overlap, output.full_overlap
    assert partial is not None and full is not None
    return overlap(full, example.region) + overlap(partial, torch.ones_like(partial))


Loss = Callable[[Matcher, Output, TrainingExample], Tensor]
LOSSES: dict[str, Loss] = {
    "dpfm": dpfm,
    "ulrssm": ulrssm,
    "wormhole": wormhole,
    "echomatch": echomatch,
}
