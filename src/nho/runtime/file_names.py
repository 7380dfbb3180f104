"""Names that a file system takes for something else than a file."""

from __future__ import annotations

_DEVICES = {"con", "prn", "aux", "nul"} | {f"{p}{i}" for p in ("com", "lpt") for i in range(1, 10)}


def is_device(name: str) -> bool:
    """Whether Windows takes the name for a device, whatever its suffix."""
    return name.partition(".")[0].strip().casefold() in _DEVICES
