"""Rounds of proposals by the operator: which pose is kept, and when they end."""

from __future__ import annotations

import numpy as np
import pytest

from nho.errors import SolverError
from nho.recipes.guided import recipe as guided
from nho.runtime.run import Run
from nho.settings import GuidedRecipe, Settings


class Rehearsed:
    """Bending and proposal in one, with the distortions of the rounds given beforehand.

    A pose, and a map, is the number of its round.
    """

    def __init__(self, scores: list[float], gain_needed: float) -> None:
        self.scores = scores
        recipe = GuidedRecipe(rounds=len(scores) - 1, gain_needed=gain_needed)
        self.run = Run(Settings(recipe=recipe))
        self.seen: list[int] = []  # the pose that each proposal started from

    def map(self, bending, pose, number):
        self.seen.append(int(pose[0]))
        return np.array([number])

    def from_map(self, target, gentle, pool):
        return target.astype(float)

    def distortion(self, pose):
        return self.scores[int(pose[0])]

    def kept(self) -> tuple[int, int, int]:
        """Round of the pose that was kept, of the map proposed for it, and entries of the curve."""
        pose, proposed, curve = guided._improved(np.zeros(1), np.zeros(1), self, self, self.run)
        assert [entry["distortion"] for entry in curve] == self.scores[: len(curve)]
        return int(pose[0]), int(proposed[0]), len(curve)


@pytest.mark.parametrize(
    ("scores", "kept"),
    [
        ([1.0, 0.97, 0.94, 0.91], (3, 3, 4)),  # every round gains
        ([1.0, 0.97, 0.96, 0.50], (1, 1, 3)),  # the second does not: the third is never tried
        ([1.0, 0.99, 0.97, 0.96], (2, 2, 4)),  # the first may fail; the second gains
        ([1.0, 0.99, 0.985, 0.5], (0, 1, 3)),  # neither gains enough: nothing is kept
        ([1.0, 1.50, 1.40, 0.50], (0, 1, 3)),
        ([1.0, 0.97], (1, 1, 2)),
        ([1.0, 1.20], (0, 1, 2)),
    ],
    ids=str,
)
def test_a_round_is_kept_only_if_it_gains_enough(scores, kept):
    rehearsed = Rehearsed(scores, gain_needed=0.02)
    assert rehearsed.kept() == kept
    # Every round starts from where the last one ended, kept or not.
    assert rehearsed.seen == list(range(kept[2] - 1))


def test_the_gain_needed_is_the_one_that_was_set():
    assert Rehearsed([1.0, 0.97, 0.96], 0.05).kept()[0] == 0
    assert Rehearsed([1.0, 0.97, 0.96], 0.0).kept()[0] == 2


def test_a_round_whose_operator_cannot_be_solved_keeps_the_rounds_before_it():
    class Failing(Rehearsed):
        troubles: list[str] = []

        def map(self, bending, pose, number):
            if number == 2:
                raise SolverError("singular")
            return super().map(bending, pose, number)

    rehearsed = Failing([1.0, 0.9, 0.8, 0.7], gain_needed=0.02)
    assert rehearsed.kept() == (1, 1, 2)
    assert rehearsed.troubles == ["no proposal by the operator in round 2: singular"]
