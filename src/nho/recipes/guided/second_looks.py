"""Further maps, each bent as well, and kept if it makes a right place likelier.

Bending is local: a limb that slid onto the other leg stays there. Three ways see the map as a
whole:

- the learned operator, in whose spectral coordinates another map is proposed
  (`spectral_proposal`);
- anchors of one's own: what lies well is trusted more than what is strained, so the most trusted
  places become anchors, and tell where the strained ones belong;
- a search for further anchors, where the surface looks misplaced all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from nho.errors import SolverError
from nho.geometry.sampling import sample_vertices
from nho.geometry.spectrum import Laplacian
from nho.problem.preparation import Problem
from nho.problem.solution import Curve
from nho.recipes.guided.comparable import ComparablePair, normalise_pair
from nho.recipes.guided.confidence import confidence, signals
from nho.recipes.guided.first_pose import FirstPose, Pose, first_pose
from nho.recipes.guided.placement import (
    doubtful_by_itself,
    gain_in_score,
    placement_score,
    strain,
)
from nho.recipes.guided.spectral_proposal import SpectralProposal
from nho.recipes.guided.starts import Curvatures
from nho.runtime.run import Run
from nho.settings import GuidedRecipe

Propose = Callable[[ComparablePair, Run], np.ndarray]  # given anchors and more, (k, 2) vertices
_SHARES = (0.3, 0.6)  # of the places, the most trusted ones, that become anchors; one a look
RESTART = 2  # gentle phases after a proposal
_SMOOTHING = 60  # rounds of averaging of the distortion that confidence is computed from


class SecondLooks:
    """Looks again at a first pose.

    Parameters
    ----------
    laplacians : pair of Laplacian
        Of the partial and the full shape.
    propose : callable, optional
        Finds further anchors that agree with the given ones.

    Attributes
    ----------
    pair, bending, laplacians, curvatures
        What the looks are taken with.
    course : list of dict
        Of the first bend.
    pose : Pose
        The likeliest so far.
    proposed : (n_partial, 3) float array or None
        Images that the operator proposed first.
    curves : dict
        Scores, look by look, and losses of the operator.
    troubles, notes : list of str
        What went wrong with the operator, and which settings the meshes are too small for.
    """

    def __init__(
        self,
        problem: Problem,
        first: FirstPose,
        laplacians: tuple[Laplacian, Laplacian],
        curvatures: Curvatures | None,
        run: Run,
        propose: Propose | None = None,
    ) -> None:
        self._problem, self.pair, self.bending = problem, first.pair, first.bending
        self.laplacians, self.curvatures, self._run = laplacians, curvatures, run
        self._propose = propose
        self._recipe = run.recipe(GuidedRecipe)
        self.pose, self.course = first.pose, first.course
        self.proposed: np.ndarray | None = None
        self._score = -np.inf  # of the pose; known once there is something to compare it with
        self.curves: dict[str, Curve] = {}
        self.troubles: list[str] = []
        self.notes: list[str] = []

    def take(self) -> None:
        """By the operator where anchors are few, by own anchors where they are few or found.

        None where the first pose is sure, or many anchors were marked: nothing would be gained.
        Further anchors are searched for where strain and relief still put the pose in doubt.
        """
        recipe = self._recipe
        few = len(self.pair.distances.anchors) < recipe.many_anchors
        many_marked = recipe.pin_anchors and not few
        if not recipe.bend or many_marked or self._trust().mean() >= recipe.look_again_below:
            return
        self._score = self._score_of(self.pose)
        self.curves["looks"] = [{"score": self._score}]
        if few and recipe.rounds and recipe.coordinates != "none":
            self._by_operator()
        if not recipe.own_anchors:
            return
        for number, share in enumerate(_SHARES, start=1):
            with self._run.stage(f"look {number}", part_of="bending") as stage:
                self._by_own_anchors(share)
                stage.step(self._score)
        if few and self._propose is not None and self._in_doubt():
            with self._run.stage("search") as stage:
                self._by_anchors(self._propose(self.pair, self._run.quiet()))
                stage.step(self._score)

    def signals(self, partner: np.ndarray | None = None) -> np.ndarray:
        """(n_partial, 5) what confidence in the pose is computed from.

        Vertices without a ``partner`` (n_partial bool) do not strain it.
        """
        pair, pose = self.pair, self.pose
        images = pose.points.positions(pair.full)
        proposed = pose.start if self.proposed is None else self.proposed
        return signals(
            pair.distances.to_nearest(pair.partial),
            self.bending.elastic.distortion(pose.positions, _SMOOTHING),
            np.linalg.norm(pose.start - images, axis=1),
            np.linalg.norm(proposed - images, axis=1),
            strain(pair.partial, pair.full, pose.points, partner),
        )

    def _trust(self) -> np.ndarray:
        return confidence(self.signals(), self._recipe.pin_anchors)

    def _in_doubt(self) -> bool:
        """Whether the pose would be in doubt if nothing were known of the anchors."""
        return self.curvatures is not None and doubtful_by_itself(self._score)

    def _score_of(self, pose: Pose) -> float:
        pair = self.pair
        return placement_score(pair.partial, pair.full, pose.points, self.curvatures)

    def _by_operator(self) -> None:
        """Round by round from the present pose, until one gains nothing or cannot be solved.

        The first may gain nothing, since the second uses finer coordinates only.
        """
        run, shapes = self._run, (self.pair.partial, self.pair.full)
        try:
            with run.stage("spectra"):
                anchored = self.pair.distances.anchors[:, 1]
                proposal = SpectralProposal(shapes, self.laplacians, anchored, run)
        except SolverError as error:  # the bent surface is an answer without it as well
            self.troubles.append(f"no proposal by the operator: {error}")
            return
        for number in range(1, self._recipe.rounds + 1):
            try:
                with run.clock.time("operator"):
                    target = proposal.map(self.bending, self.pose.positions, number)
            except SolverError as error:
                proposal.troubles.append(f"no proposal by the operator in round {number}: {error}")
                break
            if number == 1:
                self.proposed = self.bending.images(target)
            with run.stage(f"round {number}", part_of="bending") as stage:
                kept = self._considered(self._bent(target))
                stage.step(self._score)
            if not kept and number > 1:
                break
        self.curves.update(proposal.curves)
        self.troubles += proposal.troubles
        self.notes += proposal.notes

    def _by_own_anchors(self, share: float) -> None:
        """Bend by given anchors and the most trusted places of the present pose."""
        pair = self.pair
        trust = self._trust()
        trusted = np.flatnonzero(trust >= np.quantile(trust, 1 - share))
        count = min(self._recipe.own_anchors, len(trusted))
        places = sample_vertices(pair.partial, count, candidates=trusted)
        anchors = np.stack([places, self.pose.points[places].nearest_vertex(pair.full)], axis=1)
        if self._recipe.pin_anchors:
            given = pair.distances.anchors
            anchors = np.concatenate([given, anchors[~np.isin(places, given[:, 0])]])
        self._by_anchors(anchors)

    def _by_anchors(self, anchors: np.ndarray) -> None:
        """Bend by (k, 2) anchors of one's own, then as the given ones allow."""
        pair = self.pair
        # What one takes from a map is a little off, and may contradict itself: pin nothing, and
        # leave out what does.
        run = self._run.quiet().with_settings(self._run.settings.replace(pin_anchors=False))
        problem = replace(
            self._problem,
            partial=replace(self._problem.partial, mesh=pair.partial),
            full=replace(self._problem.full, mesh=pair.full),
            anchors=anchors,
            anchor_rows=np.arange(len(anchors)),
        )
        own = normalise_pair(problem, run.recipe(GuidedRecipe), run.pool)
        pose = first_pose(own, self.curvatures, run).pose
        target = pose.points.nearest_vertex(pair.full)
        start = self.bending.images(target)
        pinned = self._recipe.pin_anchors
        self._considered(self._bent(target) if pinned else replace(pose, start=start))

    def _bent(self, target: np.ndarray) -> Pose:
        """The pose bent from a map."""
        start = self.bending.images(target)
        positions = self.bending.from_images(start, RESTART, self._run.pool)
        return Pose(positions, start, self.bending.read_off(positions))

    def _considered(self, pose: Pose) -> bool:
        """Keep the pose if it is clearly likelier than all before; whether it is."""
        score = self._score_of(pose)
        self.curves["looks"].append({"score": score})
        if score <= self._score + gain_in_score(self._recipe.gain_needed):
            return False
        self.pose, self._score = pose, score
        return True
