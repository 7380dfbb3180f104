"""What the paper claims, judged by the pairs that were measured here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.statistics import Difference, paired_difference, per_pair
from nho.lab.bench.studies.scoreboard import TITLES, digits, pooled

_FEWEST = 6  # pairs; a bootstrap of fewer is too sure of itself
Change = Literal["falls", "rises", "stays"]


@dataclass(frozen=True)
class Claim:
    """One sentence about how a score changes from some runs to others.

    Attributes
    ----------
    text : str
        What is claimed, as a clause: "reciprocal rounds raise precision".
    column : str
        The score.
    change : {"falls", "rises", "stays"}
    within : float
        By how much a score that stays may differ.
    """

    text: str
    column: str
    change: Change
    within: float = 0.0

    def judged(self, before: Iterable[ResultRow], after: Iterable[ResultRow]) -> str:
        """A sentence that says whether it holds, with the mean change over pairs.

        It holds, or does not, if the 95 % interval of the mean change leaves no other answer.
        """
        then, now = (per_pair(pooled(rows), self.column) for rows in (before, after))
        gap = paired_difference(now, then)
        if gap.pairs < _FEWEST:
            few = "1 pair is" if gap.pairs == 1 else f"{gap.pairs} pairs are"
            return f"That {self.text} cannot be judged here: {few} too few."
        places = digits(self.column)
        shown = (
            f"{TITLES.get(self.column, self.column)} {gap.mean:+.{places}f}, 95 % interval "
            f"{gap.low:+.{places}f} to {gap.high:+.{places}f}, {gap.pairs} pairs"
        )
        return f"That {self.text} {self._verdict(gap)} ({shown})."

    def _verdict(self, gap: Difference) -> str:
        low, high = gap.low, gap.high
        if self.change == "falls":
            low, high = -high, -low
        if self.change == "stays":
            holds, fails = max(-low, high) <= self.within, max(low, -high) > self.within
        else:
            holds, fails = low > 0, high < 0
        return "holds here" if holds else "does not hold here" if fails else "is open here"
