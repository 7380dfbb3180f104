"""DPFM (Attaiki, Pai and Ovsjanikov 2021): deep partial functional maps.

DiffusionNet gives features, from which a regularised functional map is solved for. Beside it the
shapes look at each other by attention, and from what they see the overlap is predicted.
"""

from __future__ import annotations

from nho.learned.architecture import Architecture
from nho.learned.attention import Refinement, Sample
from nho.learned.functional_maps import regularised_map
from nho.learned.matcher import Matcher, Output
from nho.learned.shape import Shape


class DPFM(Matcher):
    """The network; see `Matcher`."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.refinement = Refinement(architecture.outputs, architecture.width, architecture.heads)

    def forward(self, partial: Shape, full: Shape) -> Output:
        """Features, functional map and overlap of both shapes."""
        plain = super().forward(partial, full)
        samples = (Sample.of(shape.points, self.architecture.sampled) for shape in (partial, full))
        own, other = self.refinement(plain.partial, plain.full, *samples)
        if not self.architecture.refined:
            used = plain.partial, plain.full
        else:
            used = own, other
        matrix = regularised_map(partial, full, *used, weight=self.architecture.map_weight)
        here, there = (self.refinement.overlap_logits(refined) for refined in (own, other))
        return Output(*used, matrix=matrix, partial_overlap=here, full_overlap=there)
