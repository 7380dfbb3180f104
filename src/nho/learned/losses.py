"""What each learned method is trained for: small losses, and their sums by method.

Every loss is a mean over vertices, rows or pairs, so that none depends on the size of a mesh, and
is least (most are zero) at the truth.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from nho.learned.functional_maps import regularised_map, soft_map, unit_rows
from nho.learned.lessons import Lesson
from nho.learned.matcher import Matcher, Output
from nho.learned.shape import Shape
from nho.learned.ulrssm import ULRSSM

CONTRAST = 0.07  # differences of cosines that make a factor of e, in `contrastive`
_WEIGHT_SELF = 0.1  # of vertices told apart from those of their own shape (EchoMatch)
_WEIGHT_TRUTH = 1.0  # of the truth in the two methods that could learn without it, see `ulrssm`
_WEIGHT_DISTANCES = (
    10.0  # squares of distances are small: those within a shape of area one are below one
)


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


def orthogonality(matrix: Tensor, partial: Shape, full: Shape) -> Tensor:
    """How far rows of a functional map are from orthonormal: a map onto a part keeps its areas.

    Only rows whose eigenvalue the truncated basis of the full shape reaches count: those beyond
    cannot be made up from it.
    """
    rank = int((partial.eigenvalues < full.eigenvalues.max()).sum())
    rows = matrix[:rank]
    return ((rows @ rows.T - torch.eye(rank)) ** 2).sum(dim=1).mean()


def distances_kept(soft: Tensor, partial: Tensor, full: Tensor, reliable: Tensor) -> Tensor:
    """Mean square by which a soft map changes distances, over pairs that are reliable.

    Parameters
    ----------
    soft : (n, m) tensor
        Rows that sum to one.
    partial, full, reliable : (n, n), (m, m) and (n, n) tensors
        Distances, and the mask of pairs to count.
    """
    carried = soft @ full.to(soft.dtype) @ soft.T
    return ((carried - partial)[reliable] ** 2).mean()


def dpfm(matcher: Matcher, output: Output, lesson: Lesson) -> Tensor:
    """Functional map, overlap and features, all from the truth (Attaiki et al. 2021)."""
    assert output.matrix is not None
    return (
        map_difference(output.matrix, lesson.matrix)
        + _overlaps(output, lesson)
        + contrastive(output.partial, output.full, lesson.vertex)
    )


def ulrssm(matcher: Matcher, output: Output, lesson: Lesson) -> Tensor:
    """The two functional maps agree, and keep areas (Cao et al. 2023); and the truth, for a start.

    The original learns without truth, from far more shapes and steps.
    """
    assert isinstance(matcher, ULRSSM)
    solved, of_matches = matcher.both_maps(output, lesson.partial, lesson.full)
    return (
        map_difference(solved, of_matches)
        + orthogonality(solved, lesson.partial, lesson.full)
        + _WEIGHT_TRUTH * contrastive(output.partial, output.full, lesson.vertex)
    )


def wormhole(matcher: Matcher, output: Output, lesson: Lesson) -> Tensor:
    """Reliable distances and areas are kept (Bracha et al. 2024); and the truth, for a start."""
    soft = soft_map(output.partial, output.full, matcher.architecture.temperature)
    of_matches = lesson.partial.project(soft @ lesson.full.functions)
    kept = distances_kept(soft, lesson.partial_distances, lesson.full_distances, lesson.reliable)
    return (
        _WEIGHT_DISTANCES * kept
        + orthogonality(of_matches, lesson.partial, lesson.full)
        + _WEIGHT_TRUTH * contrastive(output.partial, output.full, lesson.vertex)
    )


def echomatch(matcher: Matcher, output: Output, lesson: Lesson) -> Tensor:
    """As DPFM, and vertices of one shape are told apart as well (Xie et al. 2025)."""
    matrix = regularised_map(
        lesson.partial,
        lesson.full,
        output.partial,
        output.full * lesson.region[:, None],  # the part that the partial shape knows of
        matcher.architecture.map_weight,
    )
    own = [contrastive(f, f, torch.arange(len(f))) for f in (output.partial, output.full)]
    return (
        map_difference(matrix, lesson.matrix)
        + _overlaps(output, lesson)
        + contrastive(output.partial, output.full, lesson.vertex)
        + _WEIGHT_SELF * (own[0] + own[1])
    )


def _overlaps(output: Output, lesson: Lesson) -> Tensor:
    """Of both shapes; all of the partial one has a partner."""
    assert output.partial_overlap is not None and output.full_overlap is not None
    everywhere = torch.ones_like(output.partial_overlap)
    return overlap(output.full_overlap, lesson.region) + overlap(output.partial_overlap, everywhere)


Loss = Callable[[Matcher, Output, Lesson], Tensor]
LOSSES: dict[str, Loss] = {
    "dpfm": dpfm,
    "ulrssm": ulrssm,
    "wormhole": wormhole,
    "echomatch": echomatch,
}
