"""Rounds of proposals by the operator: which pose is kept, and when they end."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from nho.errors import SolverError
from nho.recipes.guided import second_looks
from nho.recipes.guided.first_pose import FirstPose, Pose
from nho.recipes.guided.placement import gain_in_score
from nho.recipes.guided.second_looks import SecondLooks
from nho.runtime.run import Run
from nho.settings import GuidedRecipe, Settings


class Rehearsed:
    """Bending and proposal in one, with the scores of the rounds given beforehand.

    A pose, and a map, is the number of its round.
    """

    def __init__(self, scores: list[float], monkeypatch, gain_needed: float = 0.02) -> None:
        self.scores = scores
        self.curves, self.troubles, self.notes = {}, [], []
        self.seen: list[int] = []  # the pose that each proposal started from
        recipe = GuidedRecipe(rounds=len(scores) - 1, gain_needed=gain_needed)
        monkeypatch.setattr(second_looks, "SpectralProposal", lambda *_: self)
        monkeypatch.setattr(
            second_looks, "placement_score", lambda _, __, points, ___: self.scores[int(points[0])]
        )
        distances = SimpleNamespace(anchors=np.zeros((3, 2), dtype=int))
        pair = SimpleNamespace(partial=None, full=None, distances=distances)
        first = FirstPose(pair, self, Pose(np.zeros(1), np.zeros(1, dtype=int), np.zeros(1)), [])
        self.looks = SecondLooks(None, first, None, None, Run(Settings(recipe=recipe)))

    def map(self, bending, pose, number):
        self.seen.append(int(pose[0]))
        return np.array([number])

    def images(self, target):
        return target.astype(float)

    def from_images(self, images, gentle, pool):
        return images

    def read_off(self, positions):
        return positions

    def kept(self) -> tuple[int, int]:
        """Round of the pose that was kept, and rounds that were tried."""
        self.looks._score, self.looks.curves["looks"] = self.scores[0], []
        self.looks._by_operator()
        curve = self.looks.curves["looks"]
        assert [entry["score"] for entry in curve] == self.scores[1 : len(curve) + 1]
        assert int(self.looks.proposed[0]) == 1  # the first, whatever became of it
        assert int(self.looks.pose.start[0]) == int(self.looks.pose.positions[0])
        return int(self.looks.pose.positions[0]), len(curve)


@pytest.mark.parametrize(
    ("scores", "kept", "seen"),
    [
        ([0.0, 1.0, 2.0, 3.0], (3, 3), [0, 1, 2]),  # every round gains
        ([0.0, 1.0, 0.9, 5.0], (1, 2), [0, 1]),  # the second does not: the third is never tried
        ([0.0, -1.0, 1.0, 2.0], (3, 3), [0, 0, 2]),  # the first may fail; the second gains
        ([0.0, 0.02, 0.05, 5.0], (0, 2), [0, 0]),  # neither gains enough: nothing is kept
        ([0.0, -2.0, -1.0, 5.0], (0, 2), [0, 0]),
        ([0.0, 1.0], (1, 1), [0]),
        ([0.0, -1.0], (0, 1), [0]),
    ],
    ids=str,
)
def test_a_round_is_kept_only_if_it_gains_enough(scores, kept, seen, monkeypatch):
    rehearsed = Rehearsed(scores, monkeypatch)
    assert rehearsed.kept() == kept
    assert rehearsed.seen == seen  # every round starts from the likeliest pose so far


def test_the_gain_needed_is_the_one_that_was_set(monkeypatch):
    scores = [0.0, gain_in_score(0.05), 2 * gain_in_score(0.05)]
    assert Rehearsed(scores, monkeypatch, gain_needed=0.1).kept()[0] == 0
    assert Rehearsed(scores, monkeypatch, gain_needed=0.04).kept()[0] == 2
    assert Rehearsed([0.0, 99.0], monkeypatch, gain_needed=1.0).kept()[0] == 0


def test_a_round_whose_operator_cannot_be_solved_keeps_the_rounds_before_it(monkeypatch):
    class Failing(Rehearsed):
        def map(self, bending, pose, number):
            if number == 2:
                raise SolverError("singular")
            return super().map(bending, pose, number)

    rehearsed = Failing([0.0, 1.0, 2.0, 3.0], monkeypatch)
    assert rehearsed.kept() == (1, 1)
    assert rehearsed.looks.troubles == ["no proposal by the operator in round 2: singular"]
