"""The steps of a fit: the template follows the map, then closes in on the scan.

Weights of targets are shares of the elastic unit (`Elastic.unit`), less where vertices are denser
than on average: there, noise of the targets would fold the surface.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.alignment import similarity
from nho.progress import Progress, ProgressCallback
from nho.transfer.scan import Scan
from nho.transfer.template import Template

_LAY_ON = (0.1,) * 12  # pull of the map while the outside is turned on from the rim ...
_SETTLE = (0.3,) * 12  # ... and while all of it settles
_CLOSE_IN = (0.3,) * 6 + (1.0,) * 6 + (3.0,) * 6  # pull of the closest points
_MAP_STAYS = 0.1  # pull of the map meanwhile: keeps the surface from sliding
_KEEP = 6  # iterations between factorisations
_WIDTH = 3.0  # mean edges: matches farther from the smooth surface lose their pull
_FAR = 1.5  # mean edges: closest points farther away are not followed
_FLOOR = 1e-9  # holds parts that nothing else does


class Following:
    """A template on its way to a scan.

    Parameters
    ----------
    targets : (n, 3) float array
        Where the map sends the vertices of the template.
    trust : (n,) float array
        Confidence of that, 0 to 1; 0 = the vertex has no target.

    Attributes
    ----------
    positions : (n, 3) float array
        In the unit of the full shape.
    """

    def __init__(
        self,
        template: Template,
        scan: Scan,
        targets: np.ndarray,
        trust: np.ndarray,
        progress: ProgressCallback,
    ) -> None:
        self._template, self._scan, self._targets = template, scan, targets
        self._progress, self._done = progress, 0
        areas = template.rest.vertex_areas
        self._density = np.minimum(areas / areas.mean(), 1.0) * template.elastic.unit
        self._trust = trust * self._density
        self._edge = template.rest.mean_edge_length
        held = trust > 0
        start = template.rest.vertices
        _, turn, _ = similarity(start[held], targets[held])
        shift = targets[held].mean(axis=0) - turn @ start[held].mean(axis=0)
        self.positions = start @ turn.T + shift
        self._turns = np.broadcast_to(turn, (len(start), 3, 3))

    def follow_map(self) -> None:
        """Go where the map says; what is not on the scan turns with the rim, and then settles."""
        for pulls, turned_on in ((_LAY_ON, True), (_SETTLE, False)):
            for number, pull in enumerate(pulls):
                if number % _KEEP == 0:
                    weights = pull * self._map_weights()
                    solve = self._template.elastic.solver(weights + self._floor).solve
                right = self._template.elastic.local_step(self.positions, self._turns)
                right += weights[:, None] * self._targets + self._floor * self.positions
                self.positions = solve(right)
                self._turns = self._template.elastic.rotations(self.positions)
                if turned_on:
                    self._turns = self._template.extended(self._turns)
                self._tell()

    def close_in(self) -> None:
        """Go to the closest points of the scan, more and more firmly."""
        elastic = self._template.elastic
        for number, pull in enumerate(_CLOSE_IN):
            goals, distance = self.closest()
            if number % _KEEP == 0:
                stay = _MAP_STAYS * self._map_weights()
                firm = np.where(np.isfinite(distance), pull * self._density, 0.0)
                solve = elastic.solver(stay + firm + self._floor).solve
            right = elastic.local_step(self.positions) + stay[:, None] * self._targets
            right += firm[:, None] * goals + self._floor * self.positions
            self.positions = solve(right)
            self._tell()

    def closest(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3) closest points on the scan and (n,) how far they are.

        Where a vertex has no partner on the scan (beyond the rim, or too far away), the point is
        where the vertex is and the distance NaN.
        """
        held = np.flatnonzero(self._trust > 0)
        normals = self._template.posed(self.positions).vertex_normals[held]
        found, inside = self._scan.closest(self.positions[held], normals)
        gap = np.linalg.norm(found - self.positions[held], axis=1)
        near = inside & (gap <= _FAR * self._edge)
        goals, distance = self.positions.copy(), np.full(len(self.positions), np.nan)
        goals[held[near]], distance[held[near]] = found[near], gap[near]
        return goals, distance

    def inverted_faces(self) -> np.ndarray:
        """(m,) bool: faces turned over against the surface around them."""
        template = self._template
        turns = template.elastic.rotations(self.positions)
        before = template.posed(template.rest.vertices).face_normals
        posed = template.posed(self.positions)
        around = np.einsum("fcij,fj->fi", turns[posed.faces], before)
        return np.einsum("fi,fi->f", around, posed.face_normals) < 0

    @property
    def _floor(self) -> float:
        return _FLOOR * self._template.elastic.unit

    def _map_weights(self) -> np.ndarray:
        """(n,) Cauchy weights: a match that disagrees with the surface around it is let go."""
        gap = ((self.positions - self._targets) ** 2).sum(axis=1)
        first = self._done == 0  # laid on as a whole, it is far from everything
        return self._trust / (1 + (0 if first else gap / (_WIDTH * self._edge) ** 2))

    def _tell(self) -> None:
        self._done += 1
        steps = len(_LAY_ON) + len(_SETTLE) + len(_CLOSE_IN)
        self._progress(Progress("fitting", self._done, steps))
