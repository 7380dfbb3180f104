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
_TOLERATED = 0.2  # relative distortion above which a vertex lets go of its target
_NORMAL_WEIGHT = 1.4  # mean edges: how far a vertex goes to find a surface that faces its way


class Bending:
    """A partial surface to be bent onto a full one, again and again from different maps."""

    def __init__(self, partial: Mesh, full: Mesh, distances: AnchorDistances) -> None:
        self._partial, self._full = partial, full
        self.elastic = Elastic(partial)
        self._search = FacingSearch(full, _NORMAL_WEIGHT * full.mean_edge_length)
        self._held = distances.anchors[:, 0]
        self._goal = full.vertices[distances.anchors[:, 1]]
        self._spread = distances.kriging()

    def from_map(
        self, target: np.ndarray, phases: tuple[tuple[float, ...], ...] = PHASES
    ) -> np.ndarray:
        """(n_partial, 3) positions after bending from a vertex map."""
        positions = self._smoothed(self._full.vertices[target])
        for phase in phases:
            positions = self._relaxed(positions, phase)
            missed = self._goal - positions[self._held]
            positions = positions + self._spread.T @ missed
        return positions

    def read_off(self, positions: np.ndarray) -> SurfacePoints:
        """The map of a pose: closest points that face the same way."""
        return self._search(positions, self._normals(positions))[0]

    def distortion(self, positions: np.ndarray) -> float:
        """Mean distortion of a pose: the unsupervised score, lower is better."""
        return float(self.elastic.distortion(positions).mean())

    def _smoothed(self, images: np.ndarray) -> np.ndarray:
        """Fit the surface to noisy images; Cauchy weights let outliers go."""
        unit = self.elastic.unit
        width = _IMAGE_WIDTH * self._full.mean_edge_length
        positions = images
        for number in range(_IMAGE_ROUNDS):
            gap = ((positions - images) ** 2).sum(axis=1)
            pull = (
                _IMAGE_PULL * unit / (1 + gap / width**2)
                if number
                else np.full(len(images), _IMAGE_PULL * unit)
            )
            positions = self._global_step(positions, pull, images, 1.0)
        return positions

    def _relaxed(self, positions: np.ndarray, phase: tuple[float, ...]) -> np.ndarray:
        """Closest points and elastic steps in turn, with momentum."""
        unit = self.elastic.unit
        step = np.zeros_like(positions)
        for number, pull in enumerate(phase):
            ahead = positions + _MOMENTUM * step
            _, closest = self._search(ahead, self._normals(ahead))
            if number % 3 == 0:
                bent = self.elastic.distortion(ahead) / _TOLERATED
                grip = 1 / (1 + bent**2) ** 2
                solver = self._solver(pull * unit * grip, _ANCHOR_PULL)
            moved = self._solve(solver, ahead, pull * unit * grip, closest, _ANCHOR_PULL)
            step, positions = moved - positions, moved
        return positions

    def _global_step(
        self, positions: np.ndarray, pull: np.ndarray, targets: np.ndarray, anchor_pull: float
    ) -> np.ndarray:
        return self._solve(self._solver(pull, anchor_pull), positions, pull, targets, anchor_pull)

    def _solver(self, pull: np.ndarray, anchor_pull: float):  # type: ignore[no-untyped-def]
        weights = pull.copy()
        weights[self._held] += anchor_pull * self.elastic.unit
        return self.elastic.solver(weights)

    def _solve(self, solver, positions, pull, targets, anchor_pull):  # type: ignore[no-untyped-def]
        right = self.elastic.local_step(positions) + pull[:, None] * targets
        right[self._held] += anchor_pull * self.elastic.unit * self._goal
        return solver.solve(right)

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
