"""The layout of a network and its inputs: all that its weights alone do not tell."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_type_hints

from nho.errors import InputError
from nho.learned.diffusion_net import Turning
from nho.learned.mesh_operators import LOCAL_CHANNELS

Inputs = Literal["xyz", "xyz+normals", "hks", "local"]
Frame = Literal["given", "centred"]

CHANNELS: dict[str, int] = {"xyz": 3, "xyz+normals": 6, "hks": 16, "local": LOCAL_CHANNELS}
_LARGEST = 4096  # of any integer below: beyond it a file asks for gigabytes


@dataclass(frozen=True)
class Architecture:
    """One network of one method.

    Attributes
    ----------
    method : str
        Name of the method in `nho.learned.methods`.
    inputs : {"xyz", "xyz+normals", "hks", "local"}
        Values at the vertices that go in: coordinates, with normals; or what does not change when a
        surface is moved: heat kernel signatures, or `nho.learned.mesh_operators.local_shape`.
    frame : {"given", "centred"}
        Coordinates as given, or from each surface's own centre. Networks trained on a data set
        whose shapes lie in one frame want it kept.
    outputs, width, blocks : int
        Features, channels inside, and blocks of DiffusionNet.
    modes : int
        Eigenpairs that values diffuse in.
    turning : {"complex", "framed"}
        See `nho.learned.diffusion_net.GradientFeatures`.
    map_modes, map_weight : int, float
        Functional map: eigenfunctions of either shape, and weight of the resolvent penalty.
    sampled, heads : float, int
        Attention: share of the vertices that it runs between, and its heads.
    refined : bool
        Whether the functional map uses the features after attention, not those before.
    temperature : float
        Difference of cosines that makes a factor of e in soft maps.
    neighbours : int
        Vertices around each whose echo is used (EchoMatch).
    compared : float
        Vertices that echoes go between, in an area as large as the full shape; 0 = all there are.
    overlap_width, overlap_blocks : int
        Of the second DiffusionNet, which reads the echoes.
    dropout : float
        Share of inner values left out while training.
    """

    method: str
    inputs: Inputs = "xyz"
    frame: Frame = "centred"
    outputs: int = 128
    width: int = 128
    blocks: int = 4
    modes: int = 128
    turning: Turning = "complex"
    map_modes: int = 50
    map_weight: float = 100.0
    sampled: float = 0.4
    heads: int = 4
    refined: bool = False
    temperature: float = 0.07
    neighbours: int = 64
    compared: float = 0.0
    overlap_width: int = 16
    overlap_blocks: int = 3
    dropout: float = 0.5

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(type(self)).items():
            value = getattr(self, name)
            if get_args(kind):
                good = value in get_args(kind)
            elif kind is int:
                good = type(value) is int and 1 <= value <= _LARGEST
            elif kind is float:
                good = type(value) in (int, float) and 0 <= value <= 1e6
            else:
                good = type(value) is kind
            if not good:
                raise InputError(f"an architecture cannot have {name}={value!r}")
        if self.width % self.heads:
            raise InputError(f"{self.heads} heads of attention cannot share width {self.width}")

    @property
    def channels(self) -> int:
        """Values per vertex that go in."""
        return CHANNELS[self.inputs]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: object) -> Architecture:
        """The inverse of `as_dict`; fields that are left out have their default."""
        names = {field.name for field in dataclasses.fields(cls)}
        if not isinstance(values, dict) or "method" not in values:
            raise InputError("an architecture is a table of fields, among them its method")
        unknown = sorted(str(name) for name in values if name not in names)
        if unknown:
            raise InputError(f"an architecture has no field {', '.join(unknown)}")
        return cls(**values)
