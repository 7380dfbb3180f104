"""What a solver is and what it returns, in its own numbering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from nho.geometry.surface import SurfacePoints
from nho.problem.preparation import Problem
from nho.runtime.run import Run
from nho.settings import Settings

Curve = list[dict[str, float]]  # values by name, step by step


@dataclass(frozen=True)
class Solution:
    """Map, confidence and region on the solver's meshes.

    Attributes
    ----------
    points : SurfacePoints
        One per partial vertex, on the full mesh.
    confidence : (n_partial,) float array
    region_score : (n_full,) float array
        Above one half inside the region.
    region_is_coverage : bool
        The region is what the surface covers (`nho.geometry.coverage`), so finer surfaces tell it
        more exactly.
    settings : Settings
        As they were used: modes cut to what the meshes can give.
    suspects : (k,) int array
        Anchors (rows of the problem's) that contradict the others and were not used.
    scale : float
        Unit of the partial shape in that of the full one, as estimated; 1 if left alone.
    next_anchor : int
        Partial vertex where one more anchor would help most; -1 = no suggestion.
    notes : tuple of str
        What was done, which needs no action.
    warnings : tuple of str
        What a person should act on, the gravest first.
    diagnosis : tuple of str
        What is probably wrong with all anchors; the first warnings of the result.
    signals : (n_partial, k) float array, optional
        What the confidence was computed from.
    chance : float
        Probability that the partial shape lies in the right place as a whole, as far as known.
    placement : (k,) float array, optional
        What that was computed from.
    overlap : (n_partial,) float array, optional
        Probability that a vertex has a partner at all; it has one by default.
    """

    points: SurfacePoints
    confidence: np.ndarray
    region_score: np.ndarray
    settings: Settings
    region_is_coverage: bool = False
    status: str = "ok"
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    curves: dict[str, Curve] = field(default_factory=dict)
    suspects: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    scale: float = 1.0
    next_anchor: int = -1
    diagnosis: tuple[str, ...] = ()
    signals: np.ndarray | None = None
    chance: float = 1.0
    placement: np.ndarray | None = None
    overlap: np.ndarray | None = None


Solver = Callable[[Problem, Run], Solution]  # recipes and baselines alike


def status_of(troubles: Sequence[str]) -> str:
    """``"ok"``, or what fell short on the way."""
    return "; ".join(troubles) or "ok"


def advice_on(troubles: Sequence[str]) -> tuple[str, ...]:
    """A warning that says what to do about it; none if all is well."""
    if not troubles:
        return ()
    return (
        "not everything went well (see status), so the answer may be worse than usual: look at the "
        "report before you use it; another --seed may help",
    )
