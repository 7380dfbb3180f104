"""Names of points: made fit for files and messages, and listed in notes."""

from __future__ import annotations

from collections.abc import Sequence

_LONGEST_NAME = 200  # characters
_SHOWN = 6  # names in a note before "and so on"


def clean_name(name: str) -> str:
    """A name as it may stand in a file and in a message: one printable line, not endless."""
    printable = "".join(character if character.isprintable() else " " for character in name)
    return printable.strip()[:_LONGEST_NAME].rstrip()


def listed(names: Sequence[str]) -> str:
    """Some names for a note."""
    shown = ", ".join(name if len(name) <= 40 else name[:37] + "..." for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
