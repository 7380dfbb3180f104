"""Progress of a running match: one callback, one event type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """A step of a stage.

    Attributes
    ----------
    stage : str
        Such as ``"spectra"``, ``"fit"``, ``"round 2"``, ``"refine"``.
    step, steps : int
        Steps done and steps in all, of this stage.
    loss : float or None
        Current loss where the stage has one.
    """

    stage: str
    step: int
    steps: int
    loss: float | None = None


ProgressCallback = Callable[[Progress], None]


def ignore(event: Progress) -> None:
    """The callback that does nothing."""
