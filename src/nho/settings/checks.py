"""Settings are checked when they are made: every value against the type of its field."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any, ClassVar, get_args, get_type_hints

from nho.errors import InputError

_MAY_BE_ZERO = {
    "seed",
    "threads",
    "solve_vertices",
    "rounds",
    "own_anchors",
    "seek_vertices",
    "look_again_below",
    "fit_steps",
    "weight_anchor",
    "weight_area",
    "weight_topology",
    "weight_spectral",
    "refine_steps",
    "refine_later_steps",
    "refine_rows",
    "refine_weight_decay",
    "orientation_weight",
    "anchor_limit",
    "gain_needed",
}


_KINDS: dict[type, dict[str, Any]] = {}  # filled by `kinds_of`


class Checked:
    """A frozen dataclass whose values are checked against their types when it is made."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __post_init__(self) -> None:
        for name, kind in kinds_of(type(self)).items():
            check(name, kind, getattr(self, name))


def kinds_of(of: type[Checked]) -> dict[str, Any]:
    """The type of every field of a class of settings."""
    if of not in _KINDS:  # evaluating the annotations takes a millisecond
        hints = get_type_hints(of)
        _KINDS[of] = {each.name: hints[each.name] for each in dataclasses.fields(of)}
    return _KINDS[of]


def check(name: str, kind: Any, value: Any) -> None:
    """Refuse a value that is not of its kind."""
    choices = get_args(kind)
    if choices and isinstance(choices[0], type):
        if not isinstance(value, choices):
            names = " or a ".join(choice.__name__ for choice in choices)
            raise InputError(f"{name}={value!r} must be a {names}")
        return
    if choices and value not in choices:
        raise InputError(f"setting {name}={value!r} is not one of {', '.join(map(str, choices))}")
    if kind is str and not isinstance(value, str):
        raise InputError(f"setting {name}={value!r} must be a text")
    if kind is bool and not isinstance(value, bool):
        raise InputError(f"setting {name}={value!r} must be true or false")
    if kind is int and (isinstance(value, bool) or not isinstance(value, int)):
        raise InputError(f"setting {name}={value!r} must be a whole number")
    if kind is int and value >= 2**63:
        raise InputError(f"setting {name} must be below 2**63; give a smaller number")
    if kind is float and not _is_finite_number(value):
        raise InputError(f"setting {name}={value!r} must be a finite number")
    if kind in (int, float) and value < _least(name, kind):
        raise InputError(f"setting {name}={value} must be at least {_least(name, kind)}")


def _least(name: str, kind: type) -> float:
    """Smallest sensible value of a numeric setting."""
    if name in _MAY_BE_ZERO:
        return 0
    if name == "distortion_neighbours":
        return 3
    return 1 if kind is int else 1e-12


def _is_finite_number(value: object) -> bool:
    # NaN fails the comparison, and so does a whole number too long for a float.
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max
    )


def parsed(kind: Any, text: str) -> Any:
    """The value that a text stands for; ValueError or KeyError if it is not of that kind."""
    if kind is bool:
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[
            text.lower()
        ]
    return kind(text) if kind in (int, float) else text
