"""Every number of the method in one frozen object, each with its symbol in the paper."""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args, get_type_hints

from nho.errors import InputError

Activation = Literal["tanh", "relu", "leaky-relu"]
Laplacian = Literal["robust", "cotan"]
Operator = Literal["reduced", "sparse"]
Recipe = Literal["reciprocal", "guided"]
Start = Literal["distances", "similarity"]
Coordinates = Literal["hamiltonian", "laplacian", "none"]
Refinement = Literal["neural-zoomout", "zoomout", "none"]

FEWEST_SOLVED = 200  # vertices of a coarse surface


@dataclass(frozen=True)
class Settings:
    """All choices of one match. ``Settings()`` is the paper's recipe; see `preset` for others."""

    seed: int = 0  # initial weights of the networks
    threads: int = 0  # worker threads; 0 = every core. The answer does not depend on it.
    solve_vertices: int = 0  # larger meshes are solved on about so many; 0 = on all of them
    weights: str = ""  # learned methods: files or folders, by commas; empty = those that come along

    # The recipe: "reciprocal" is the paper's loop; "guided" starts from distances to the anchors,
    # bends the partial surface onto the full one, and uses the operator in between.
    recipe: Recipe = "reciprocal"  # which of the two

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
    barrier: float = 50.0  # beta: the potential's height is beta lambda_k
    weight_anchor: float = 0.1  # alpha_1: the region contains the anchors
    weight_area: float = 1.0  # alpha_2: it is as large as the partial shape
    weight_topology: float = 0.3  # alpha_3: it is in one piece
    weight_spectral: float = 0.01  # alpha_4: it has the partial shape's spectrum
    fit_steps: int = 100  # Adam steps of the first fit and of every reciprocal round
    fit_learning_rate: float = 1e-2  # of Adam
    fit_operator: Operator = "reduced"  # eigenpairs inside the loss

    # Reciprocal refinement (Sec. 4.2)
    rounds: int = 4  # fits after the first; second looks at most (guided)
    readout_operator: Operator = "reduced"  # eigenpairs for support, alignment and refinement
    support_threshold: float = 0.01  # eta: in the region where energy > eta * mu_1
    distortion_neighbours: int = 30  # neighbours in the local mapping distortion (LMD)
    distortion_threshold: float = 0.42  # matches below it become anchors of the next round

    # Dense refinement (App. D)
    refinement: Refinement = "neural-zoomout"  # of the map of the last round
    refine_first: int = 20  # spectral dimension of the first stage
    refine_last: int = 100  # spectral dimension of the last stage
    refine_increment: int = 5  # from stage to stage
    refine_steps: int = 100  # Adam steps of the first stage (neural-zoomout)
    refine_later_steps: int = 50  # of every later stage, which goes on from the one before
    refine_rows: int = 1000  # vertices a stage is fitted on, evenly drawn; 0 = all of them
    refine_learning_rate: float = 1e-2  # of Adam (neural-zoomout)
    refine_weight_decay: float = 1e-5  # of Adam (neural-zoomout)

    # Departures from the paper, used by the recipe "guided"
    start: Start = "distances"  # of the map: distances to the anchors, or laid on by them
    calibrate_distances: bool = True  # take known discrepancies between anchors out
    turn_weight: float = 0.15  # orientation evidence, as a share of the anchor spacing; 0 = none
    anchor_limit: float = 0.9  # |log ratio| of distances above which an anchor is suspect; 0 = off
    unit_factor: float = 1.4  # a scale nearer than this to a power of ten is that power
    hold_anchors: bool = True  # while bending; if not, they only lead to the first map
    bend: bool = True  # geometry: as-rigid-as-possible onto the full surface
    relief: bool = True  # curvature: where a surface looks alike
    coordinates: Coordinates = "hamiltonian"  # of the second look, or of the reciprocal loop
    negatives: bool = True  # the operator also learns where the region is not
    insulated: bool = True  # natural boundary of the region: coordinates do not vanish there
    many_anchors: int = 13  # from here on there is no second look: it would change nothing
    gain_needed: float = 0.02  # a round's pose must be less distorted by this share to be kept

    def __post_init__(self) -> None:
        for field, kind in _kinds().items():
            value = getattr(self, field)
            choices = get_args(kind)
            if choices and value not in choices:
                raise InputError(
                    f"setting {field}={value!r} is not one of {', '.join(map(str, choices))}"
                )
            if kind is str and not isinstance(value, str):
                raise InputError(f"setting {field}={value!r} must be a text")
            if kind is bool and not isinstance(value, bool):
                raise InputError(f"setting {field}={value!r} must be true or false")
            if kind is int and (isinstance(value, bool) or not isinstance(value, int)):
                raise InputError(f"setting {field}={value!r} must be a whole number")
            if kind is int and value >= 2**63:
                raise InputError(f"setting {field} must be below 2**63; give a smaller number")
            if kind is float and not _is_finite_number(value):
                raise InputError(f"setting {field}={value!r} must be a finite number")
            if kind in (int, float) and value < _least(field):
                raise InputError(f"setting {field}={value} must be at least {_least(field)}")
        if 0 < self.solve_vertices < FEWEST_SOLVED:
            raise InputError(
                f"setting solve_vertices={self.solve_vertices} leaves too little of a surface; "
                f"give at least {FEWEST_SOLVED}, or 0 to solve on all vertices"
            )
        if self.recipe == "reciprocal" and self.coordinates == "none":
            raise InputError("coordinates=none leaves the recipe 'reciprocal' nothing to work with")
        if self.spectral_modes > self.galerkin_modes:
            raise InputError(
                f"spectral_modes={self.spectral_modes} exceeds galerkin_modes="
                f"{self.galerkin_modes}; a reduced operator has no more modes than its basis"
            )
        if self.refine_last < self.refine_first:
            raise InputError(
                f"refine_last={self.refine_last} is below refine_first={self.refine_first}"
            )

    def replace(self, /, **changes: Any) -> Settings:
        """A copy with some settings changed; an unknown name is an error that lists near ones."""
        for name in changes:
            _check_name(name)
        return dataclasses.replace(self, **changes)

    def with_text(self, assignments: list[str]) -> Settings:
        """A copy changed by ``key=value`` strings, as given to ``--set``."""
        changes: dict[str, Any] = {}
        hints = _kinds()
        for assignment in assignments:
            name, separator, text = (part.strip() for part in assignment.partition("="))
            if not separator:
                raise InputError(f"--set {assignment!r} is not of the form key=value")
            _check_name(name)
            kind = hints[name]
            try:
                changes[name] = _parsed(kind, text)
            except (ValueError, KeyError):
                wanted = {int: "a whole number", float: "a number", bool: "true or false"}[kind]
                raise InputError(f"--set {assignment}: {text!r} is not {wanted}") from None
        return dataclasses.replace(self, **changes)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Settings:
        """The inverse of `as_dict`."""
        return cls().replace(**values)

    def to_json(self) -> str:
        """Settings as a JSON text, keys in the order of this file."""
        return json.dumps(self.as_dict(), indent=2)


@cache  # evaluating the annotations takes a millisecond
def _kinds() -> dict[str, Any]:
    """The type of every setting."""
    return get_type_hints(Settings)


def _parsed(kind: Any, text: str) -> Any:
    """The value that a text stands for; ValueError if it is none of that kind."""
    if kind is bool:
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[
            text.lower()
        ]
    return kind(text) if kind in (int, float) else text


def _least(name: str) -> float:
    """Smallest sensible value of a numeric setting."""
    may_be_zero = {"seed", "threads", "rounds", "fit_steps", "refine_steps", "refine_later_steps"}
    may_be_zero |= {"refine_rows", "turn_weight", "anchor_limit", "gain_needed", "solve_vertices"}
    if name in may_be_zero or name.startswith("weight_") or name == "refine_weight_decay":
        return 0
    if name == "distortion_neighbours":
        return 3
    if _kinds()[name] is int:
        return 1
    return 1e-12


def _is_finite_number(value: object) -> bool:
    # NaN fails the comparison, and so does a whole number too long for a float.
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max
    )


def _check_name(name: str) -> None:
    names = [field.name for field in dataclasses.fields(Settings)]
    if name not in names:
        import difflib

        near = difflib.get_close_matches(name, names, n=3) or names
        raise InputError(f"setting {name!r} does not exist; did you mean {', '.join(near)}?")


PRESETS: dict[str, Settings] = {
    "paper": Settings(),
    "default": Settings(
        solve_vertices=10_000,
        recipe="guided",
        rounds=3,
        fit_steps=20,
        encoding_modes=60,
        weight_spectral=0.0,  # with a dense map to learn from, these two terms change nothing
        weight_topology=0.0,
    ),
}


def preset(name: str) -> Settings:
    """Settings by preset name (``"default"`` or ``"paper"``)."""
    try:
        return PRESETS[name]
    except KeyError:
        raise InputError(f"preset {name!r} is unknown; choose {' or '.join(PRESETS)}") from None
