"""How far a match has come, and how long it will still take."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from nho.progress import Progress
from nho.settings import PaperRecipe, Settings

# Shares of the time by stage, as measured on meshes of 5,000 vertices. After a match, its own
# times take their place.
_MANY_ANCHORS = {"distances": 0.35, "bending": 0.65}
_FEW_ANCHORS = {"distances": 0.1, "bending": 0.15, "spectra": 0.1, "round": 0.25, "look": 0.4}
_RECIPROCAL = {"spectra": 0.1, "fit": 0.35, "round": 0.35, "refine": 0.2}
_START = {"starting": 0.05}
_SEARCH = {"survey": 0.1, "scales": 0.2, "trials": 0.3}  # against 1 for the match itself
_LARGE = {"coarsening": 0.3}  # what comes before and after where the meshes are large
_CARRIED = {"carrying": 0.2}
# What a stage does, for somebody who never heard of the method.
_WORDS = {
    "starting": "Getting ready",
    "survey": "Looking at both shapes",
    "scales": "Comparing sizes",
    "trials": "Trying places where the scan may lie",
    "coarsening": "Simplifying the large meshes",
    "distances": "Measuring distances to the anchors",
    "bending": "Fitting the scan onto the template",
    "spectra": "Comparing the shapes as a whole",
    "round": "Improving the fit",
    "look": "Checking the fit a second time",
    "fit": "Learning which part is covered",
    "refine": "Refining every point",
    "carrying": "Finishing every vertex",
}
_LONGEST_CURVE = 400
_OPERATOR = 0.3  # share of a round that fits its operator
_LOOKS = 2  # of the stage "look"


def typical_shares(settings: Settings, anchors: int, large: bool = False) -> dict[str, float]:
    """The stages to come, in order, with their shares; without anchors, these are found first."""
    recipe = settings.recipe
    stages = _FEW_ANCHORS
    if isinstance(recipe, PaperRecipe):
        stages = _RECIPROCAL
    elif anchors >= recipe.many_anchors:
        stages = _MANY_ANCHORS
    search = {} if anchors else _SEARCH
    before, after = (_LARGE, _CARRIED) if large else ({}, {})
    return {**_START, **search, **before, **stages, **after}


@dataclass
class Pace:
    """The progress of one match, event by event.

    Attributes
    ----------
    shares : dict
        Share, or seconds of the last match, of every stage to come, in order.
    rounds : int
        Most rounds of the stage "round".
    known : bool
        Whether ``shares`` are seconds of a match like this one.
    """

    shares: dict[str, float]
    rounds: int = 1
    known: bool = False
    stage: str = "starting"
    step: int = 0
    steps: int = 1
    done: float = 0.0  # share, 0 to 1
    losses: list[float] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    _last: float = field(default_factory=time.monotonic)

    def take(self, event: Progress) -> None:
        """The next event; the time since the one before belongs to its stage."""
        now = time.monotonic()
        kind = _kind(event.stage)
        self.seconds[kind] = self.seconds.get(kind, 0.0) + now - self._last
        self._last = now
        self.stage, self.step, self.steps = event.stage, event.step, max(event.steps, 1)
        self.done = max(self.done, self._reached())  # never backwards
        if event.loss is not None and math.isfinite(event.loss):  # JSON has no other numbers
            self.losses = [*self.losses, float(event.loss)][-_LONGEST_CURVE:]

    def described(self) -> dict[str, object]:
        """For the page; ``left`` (seconds) is None as long as nothing can be said."""
        elapsed = time.monotonic() - self.started
        done = self.done
        left = elapsed * (1 - done) / done if done > 0.05 else None
        if self.known:
            left = max((1 - done) * sum(self.shares.values()), 0.0)
        return {
            "stage": self.stage,
            "words": _WORDS.get(_kind(self.stage), self.stage),
            "next": self._end_of_stage(),
            "step": self.step,
            "steps": self.steps,
            "loss": self.losses[-1] if self.losses else None,
            "losses": self.losses,
            "elapsed": elapsed,
            "done": done,
            "left": left,
        }

    def _end_of_stage(self) -> float:
        """Where the bar may creep to before the next event."""
        kind, names = _kind(self.stage), list(self.shares)
        if kind not in names:
            return self.done
        upto = names[: names.index(kind) + 1]
        return max(self.done, sum(self.shares[name] for name in upto) / sum(self.shares.values()))

    def _reached(self) -> float:
        kind, names = _kind(self.stage), list(self.shares)
        if kind not in names:
            return 0.0
        here = self.step / self.steps
        if kind == "round":
            name, number = self.stage.split()
            within = _OPERATOR * here if name == "operator" else _OPERATOR + (1 - _OPERATOR) * here
            here = (int(number) - 1 + within) / max(self.rounds, 1)
        elif kind == "look":
            here = (int(self.stage.split()[1]) - 1 + here) / _LOOKS
        before = sum(self.shares[name] for name in names[: names.index(kind)])
        return min((before + here * self.shares[kind]) / sum(self.shares.values()), 1.0)


def _kind(stage: str) -> str:
    """The stage without the number of its round, of which fitting an operator is a part."""
    name = stage.split(maxsplit=1)[0]
    return "round" if name == "operator" else name
