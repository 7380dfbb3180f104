"""Bend the partial surface onto the full one, starting from a map.

Intrinsic methods stop where isometry stops; geometry goes on. The partial surface is laid onto the
full one at the images of the present map, so pose, orientation and scale do not matter, and then
relaxed: as rigid as possible, drawn to the closest points that face the same way, held weakly by
the anchors. Weights of targets are shares of the elastic unit (`Elastic.unit`).
"""

from __future__ import annotations

import numpy as np

from nho.closest import FacingSearch
from nho.distance_evidence import AnchorDistances
from nho.elastic import Elastic
from nho.mesh import Mesh
from nho.progress import Progress, ProgressCallback, ignore
from nho.surface import SurfacePoints

# Pull of the closest points, one number an iteration: four long gentle phases let the surface
# slide into place, two short firm ones bring it down onto the target.
PHASES: tuple[tuple[float, ...], ...] = ((0.02,) * 6,) * 4 + ((0.1,) * 4, (0.3,) * 4)
RESTART_PHASES = PHASES[2:]  # enough from a map that is nearly right

_ANCHOR_PULL = 0.1  # weak: what is left at the anchors is spread by kriging after each phase
_IMAGE_PULL = 0.05  # of the images while they are being smoothed
_IMAGE_ROUNDS = 8
_IMAGE_WIDTH = 3.0  # mean edges: images farther from the smooth surface lose their pull
_MOMENTUM = 0.7
_KEEP_GRIP = 3  # iterations between factorisations
_TOLERATED = 0.2  # relative distortion above which a vertex lets go of its target
_NORMAL_WEIGHT = 1.4  # mean edges: how far a vertex goes to find a surface that faces its way


class Bending:
    """A partial surface to be bent onto a full one, again and again from different maps."""

    def __init__(self, partial: Mesh, full: Mesh, distances: AnchorDistances) -> None:
        self._partial, self._full = partial, full
        self.elastic = Elastic(partial)
        self._search = FacingSearch(full, _NORMAL_WEIGHT * full.mean_edge_length)
        self.held = distances.anchors[:, 0]
        self.goal = full.vertices[distances.anchors[:, 1]]
        self._spread = distances.kriging()

    def from_map(
        self,
        target: np.ndarray,
        phases: tuple[tuple[float, ...], ...] = PHASES,
        progress: ProgressCallback = ignore,
    ) -> np.ndarray:
        """(n_partial, 3) positions after bending from a vertex map."""
        positions = self._smoothed(self._full.vertices[target])
        for number, phase in enumerate(phases, start=1):
            positions = self._relaxed(positions, phase)
            missed = self.goal - positions[self.held]
            positions = positions + self._spread.T @ missed
            progress(Progress("bending", number, len(phases)))
        return positions

    def read_off(self, positions: np.ndarray) -> SurfacePoints:
        """The map of a pose: closest points that face the same way."""
        return self._search(positions, self._normals(positions))[0]

    def distortion(self, positions: np.ndarray) -> float:
        """Mean distortion of a pose: the unsupervised score, lower is better."""
        return float(self.elastic.distortion(positions).mean())

    def _smoothed(self, images: np.ndarray) -> np.ndarray:
        """Fit the surface to noisy images; Cauchy weights let outliers go."""
        pull = np.full(len(images), _IMAGE_PULL * self.elastic.unit)
        width = _IMAGE_WIDTH * self._full.mean_edge_length
        positions = images
        for _ in range(_IMAGE_ROUNDS):
            gap = ((positions - images) ** 2).sum(axis=1)
            step = _Step(self, pull / (1 + gap / width**2), 1.0)
            positions = step(positions, self.elastic.rotations(positions), images)
        return positions

    def _relaxed(self, positions: np.ndarray, phase: tuple[float, ...]) -> np.ndarray:
        """Closest points and elastic steps in turn, with momentum."""
        moved_last = np.zeros_like(positions)
        for number, pull in enumerate(phase):
            ahead = positions + _MOMENTUM * moved_last
            turn = self.elastic.rotations(ahead)
            if number % _KEEP_GRIP == 0:
                bent = self.elastic.distortion(ahead, turn=turn) / _TOLERATED
                step = _Step(self, pull * self.elastic.unit / (1 + bent**2) ** 2, _ANCHOR_PULL)
            _, closest = self._search(ahead, self._normals(ahead))
            moved = step(ahead, turn, closest)
            moved_last, positions = moved - positions, moved
        return positions

    def _normals(self, positions: np.ndarray) -> np.ndarray:
        """(n, 3) unit vertex normals of the partial surface at other positions."""
        a, b, c = (positions[self._partial.faces[:, corner]] for corner in range(3))
        crosses = np.cross(b - a, c - a)
        normals = np.stack(
            [
                np.bincount(
                    self._partial.faces.ravel(),
                    np.repeat(crosses[:, axis], 3),
                    minlength=len(positions),
                )
                for axis in range(3)
            ],
            axis=1,
        )
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        return normals / np.maximum(length, np.finfo(float).tiny)


class _Step:
    """A global elastic step with fixed weights, factorised once."""

    def __init__(self, bending: Bending, pull: np.ndarray, anchor_pull: float) -> None:
        self._bending, self._pull = bending, pull[:, None]
        self._anchor_pull = anchor_pull * bending.elastic.unit
        weights = pull.copy()
        weights[bending.held] += self._anchor_pull
        self._solver = bending.elastic.solver(weights)

    def __call__(self, positions: np.ndarray, turn: np.ndarray, targets: np.ndarray) -> np.ndarray:
        right = self._bending.elastic.local_step(positions, turn) + self._pull * targets
        right[self._bending.held] += self._anchor_pull * self._bending.goal
        return self._solver.solve(right)
