"""How a page shows the shapes, as the user has chosen it: kept with the project."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nho.errors import InputError
from nho.settings import PRESETS
from nho.studio.marks import SIDES

VIEWS = ("shape", "correspondence", "region", "confidence", "misfit")
UNITS = ("", "mm", "cm", "m", "µm", "in")
_SWITCHES = ("own", "checker", "doubt", "same", "link")


def checked_look(given: Any) -> dict[str, Any]:
    """What a page, or a project file, says of its look: only what is known, and only if sound.

    ``view``, ``preset`` and ``unit`` are words; ``own`` (colours of the file), ``checker``,
    ``doubt``, ``same`` (true relative size) and ``link`` (cameras) are switches; ``cut`` and
    ``fade`` hold a percentage for each side, ``cameras`` rotation, pan and zoom.
    """
    if not isinstance(given, dict):
        raise InputError("the look is not a JSON object")
    kinds: dict[str, Callable[[Any], bool]] = {
        "view": lambda value: value in VIEWS,
        "preset": lambda value: value in list(PRESETS),
        "unit": lambda value: value in UNITS,
        **dict.fromkeys(_SWITCHES, lambda value: isinstance(value, bool)),
        "cut": lambda value: _by_side(value, _percentage),
        "fade": lambda value: _by_side(value, _percentage),
        "cameras": lambda value: _by_side(value, _camera),
    }
    for name in given.keys() - kinds.keys():
        raise InputError(f"the look has no {str(name)[:40]!r}")
    for name, value in given.items():
        if not kinds[name](value):
            raise InputError(f"the look’s {name} cannot be {str(value)[:80]}")
    return dict(given)


def _by_side(value: Any, sound: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and all(
        side in SIDES and sound(one) for side, one in value.items()
    )


def _percentage(value: Any) -> bool:
    return _numbers([value], 1) and 0 <= value <= 100


def _camera(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"rotation", "pan", "zoom"}
        and _numbers(value["rotation"], 9)
        and _numbers(value["pan"], 2)
        and _numbers([value["zoom"]], 1)
        and value["zoom"] > 0
    )


def _numbers(values: Any, count: int) -> bool:
    """Whether these are so many finite numbers, and none of them absurd."""
    return (
        isinstance(values, list)
        and len(values) == count
        and all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
        and all(-1e6 < one < 1e6 for one in values)
    )
