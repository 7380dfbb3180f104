"""The numbers of each recipe: what both have, preset ``default``, preset ``paper``."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from nho.errors import InputError
from nho.settings.checks import Checked

Activation = Literal["tanh", "relu", "leaky-relu", "sine", "softplus"]
Laplacian = Literal["robust", "cotan"]
Operator = Literal["reduced", "sparse"]
Start = Literal["both", "distances", "spline"]
Evidence = Literal["fit", "fields"]
Coordinates = Literal["hamiltonian", "laplacian", "none"]
Refinement = Literal["neural-zoomout", "zoomout", "none"]
Misses = Literal["largest", "local"]
Precision = Literal["single", "double"]
EncodingUnit = Literal["area", "given"]
Range = Literal["everywhere", "support"]
Scaling = Literal["vertices", "area", "support"]
PlainRegion = Literal["indicator", "image", "energy"]


@dataclass(frozen=True)
class Recipe(Checked):
    """What both recipes have: spectra, the neural field and the fit of its operator."""

    name: ClassVar[str]

    # Spectra (Sec. 3)
    laplacian: Laplacian = "robust"  # intrinsic Delaunay (robust_laplacian), or plain cotangents
    encoding_modes: int = 20  # r: LBO eigenfunctions that encode a position on the full shape
    spectral_modes: int = 20  # k: eigenpairs fitted, and coordinates of the reciprocal alignment
    galerkin_modes: int = 100  # K: LBO eigenfunctions that span the reduced Hamiltonian

    # Intrinsic neural field (Sec. 4.1, App. D)
    hidden_width: int = 128  # of every hidden layer
    hidden_layers: int = 3  # between the encoding and the potential
    activation: Activation = "tanh"  # not stated in the paper; measured, see docs/decisions.md

    # Operator estimation (Sec. 4.2)
    barrier_factor: float = 50.0  # beta: height of the potential in the loss, over lambda_k
    weight_anchor: float = 0.1  # alpha_1: the region contains the anchors
    weight_area: float = 1.0  # alpha_2: it is as large as the partial shape
    weight_topology: float = 0.3  # alpha_3: it is in one piece
    weight_spectral: float = 0.01  # alpha_4: it has the partial shape's spectrum
    fit_steps: int = 100  # Adam steps of every fit of the operator
    fit_learning_rate: float = 1e-2  # of Adam
    rounds: int = 4  # alternations of operator fit and map update
    coordinates: Coordinates = "hamiltonian"  # eigenfunctions in which vertices are matched

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.spectral_modes > self.galerkin_modes:
            raise InputError(
                f"spectral_modes={self.spectral_modes} exceeds galerkin_modes="
                f"{self.galerkin_modes}; a reduced operator has no more modes than its basis"
            )

    @property
    def hidden(self) -> tuple[int, ...]:
        """Widths of the hidden layers of the neural field."""
        return (self.hidden_width,) * self.hidden_layers

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)


@dataclass(frozen=True)
class GuidedRecipe(Recipe):
    """Preset ``default``: distances to the anchors guide, bending follows, the operator helps.

    Second looks: at most ``rounds`` by the operator, two by own anchors; none from ``many_anchors``
    on, unless they were found.
    ``barrier_factor``, ``spectral_modes`` and ``galerkin_modes`` count only if ``weight_spectral``
    is above 0.
    """

    name: ClassVar[str] = "guided"

    encoding_modes: int = 60
    weight_topology: float = 0.0  # with a dense map to learn from, this term changes nothing
    weight_spectral: float = 0.0  # nor does this one
    fit_steps: int = 20
    rounds: int = 1

    start: Start = "both"  # from anchor distances, from a spline of the anchors, or the better
    calibrate_distances: bool = True  # take known discrepancies between anchors out
    orientation_weight: float = 0.15  # as a share of the anchor spacing; 0 = none
    anchor_limit: float = 0.9  # |log ratio| of distances above which an anchor is suspect; 0 = off
    unit_factor: float = 1.4  # a scale nearer than this to a power of ten is that power
    pin_anchors: bool = True  # while bending; if not, they only lead to the first map
    bend: bool = True  # geometry: as-rigid-as-possible onto the full surface
    bend_back: bool = True  # and read the map off the full surface bent back onto the partial one
    relief: bool = True  # also match by mean curvature
    overlap: bool = True  # tell what has no partner on the full shape, and bend without it
    rigid: bool = True  # where a similarity explains the map, it is the map
    overlap_by: Evidence = "fit"  # how well it fits; "fields": neural fields on both shapes as well
    negatives: bool = True  # the operator also learns where the region is not
    insulated: bool = True  # natural boundary of the region: coordinates do not vanish there
    many_anchors: int = 13  # from here on no second look is taken: it would change nothing
    look_again_below: float = 0.85  # mean confidence that is high enough without second looks
    seek_vertices: int = 2000  # of coarse surfaces that few anchors are solved on first; 0 = none
    own_anchors: int = 25  # of a second look, from what lies well or a search; 0 = none
    gain_needed: float = 0.02  # a pose must be less distorted by this share to take another's place


@dataclass(frozen=True)
class PaperRecipe(Recipe):
    """Preset ``paper``: the reciprocal loop of Sec. 4.2, then dense refinement (App. D).

    What the paper leaves open is a setting here; docs/decisions.md has the measurements.
    """

    name: ClassVar[str] = "paper"

    # Intrinsic neural field (Sec. 4.1)
    encoding_unit: EncodingUnit = "area"  # eigenfunctions times sqrt(area), or as in the files
    precision: Precision = "single"  # of the networks

    # Operator estimation (Sec. 4.2)
    loss_operator: Operator = "reduced"  # operator whose eigenpairs enter the loss

    # Reciprocal refinement (Sec. 4.2)
    readout_operator: Operator = "sparse"  # eigenpairs of support, map, refinement; paper: reduced
    support_threshold: float = 0.01  # eta: in the region where energy > eta * mu_1
    distortion_neighbours: int = 30  # of a partial vertex in the local mapping distortion (LMD)
    distortion_front: int = 120  # nearest vertices on the full shape, where their images are sought
    distortion_misses: Misses = "largest"  # images outside count as the largest front, or their own
    distortion_threshold: float = 0.42  # matches below it become anchors of the next round
    fresh_moments: bool = True  # of Adam at every round
    plain_region: PlainRegion = "indicator"  # where coordinates=laplacian: s > 1/2, image or energy

    # Dense refinement (App. D)
    refinement: Refinement = "neural-zoomout"  # of the map of the last round
    refine_first: int = 20  # spectral dimension of the first stage
    refine_last: int = 100  # spectral dimension of the last stage
    refine_increment: int = 5  # from stage to stage
    refine_within: Range = "support"  # where on the full shape images are sought
    refine_scaling: Scaling = "vertices"  # what the root mean square of a coordinate is taken over
    refine_steps: int = 200  # Adam steps of a stage (neural-zoomout)
    refine_later_steps: int = 0  # of stages that go on from the one before; 0 = each begins anew
    refine_rows: int = 0  # vertices a stage is fitted on, evenly drawn; 0 = all of them
    refine_learning_rate: float = 1e-2  # of Adam (neural-zoomout)
    refine_weight_decay: float = 1e-5  # of Adam (neural-zoomout)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coordinates == "none":
            raise InputError("coordinates=none leaves the recipe 'paper' nothing to work with")
        if self.refine_last < self.refine_first:
            raise InputError(
                f"refine_last={self.refine_last} is below refine_first={self.refine_first}"
            )


RECIPES: dict[str, type[GuidedRecipe] | type[PaperRecipe]] = {
    recipe.name: recipe for recipe in (GuidedRecipe, PaperRecipe)
}
