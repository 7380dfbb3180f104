"""ULRSSM (Cao, Roetzer and Bernard 2023): unsupervised learning of robust spectral shape matching.

DiffusionNet is trained so that the functional map its features solve for and the one that its
nearest features make are the same. To match, only the latter is needed: the nearest features,
smoothed by 200 eigenfunctions. The original may train a few more steps on the pair at hand before
it answers; this one does not.
"""

from __future__ import annotations

from torch import Tensor

from nho.learned.functional_maps import regularised_map, soft_map
from nho.learned.matcher import Matcher, Output
from nho.learned.shape import Shape


class ULRSSM(Matcher):
    """The network; see `Matcher`."""

    def both_maps(self, output: Output, partial: Shape, full: Shape) -> tuple[Tensor, Tensor]:
        """(k, k) functional maps that training brings together: solved for, and of soft matches."""
        weight, temperature = self.architecture.map_weight, self.architecture.temperature
        solved = regularised_map(partial, full, output.partial, output.full, weight)
        pulled = soft_map(output.partial, output.full, temperature) @ full.functions
        return solved, partial.project(pulled)
