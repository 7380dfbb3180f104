"""The steps of a fit: the template follows the map, then closes in on the scan.

Weights of targets are shares of the elastic unit (`Elastic.unit`), less where vertices are denser
than on average: there, noise of the targets would fold the surface.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.alignment import similarity
from nho.progress import Progress, ProgressCallback
from nho.transfer.fit_surfaces import Scan, Template

_ATTACH = (0.1,) * 12  # pull of the map while rotations are extended from the rim ...
_SETTLE = (0.3,) * 12  # ... and while all of it settles
_CLOSE_IN = (0.3,) * 6 + (1.0,) * 6 + (3.0,) * 6  # pull of the closest points
_MAP_STAYS = 0.1  # pull of the map meanwhile: keeps the surface from sliding
_KEEP = 6  # iterations between factorisations
_WIDTH = 3.0  # mean edges: matches farther from the smooth surface lose their pull
_FAR = 1.5  # mean edges: closest points farther away are not followed
_FLOOR = 1e-9  # pull to where they are, for parts that nothing else pulls


class Fitting:
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
        has_target = trust > 0
        start = template.rest.vertices
        _, rotation, _ = similarity(start[has_target], targets[has_target])
        shift = targets[has_target].mean(axis=0) - rotation @ start[has_target].mean(axis=0)
        self.positions = start @ rotation.T + shift
        self._rotations = np.broadcast_to(rotation, (len(start), 3, 3))

    def follow_map(self) -> None:
        """Go where the map says; what is not on the scan rotates with the rim, then settles."""
        for pulls, extended in ((_ATTACH, True), (_SETTLE, False)):
            for number, pull in enumerate(pulls):
                if number % _KEEP == 0:
                    weights = pull * self._map_weights()
                    solve = self._template.elastic.solver(weights + self._floor).solve
                right = self._template.elastic.local_step(self.positions, self._rotations)
                right += weights[:, None] * self._targets + self._floor * self.positions
                self.positions = solve(right)
                self._rotations = self._template.elastic.rotations(self.positions)
                if extended:
                    self._rotations = self._template.extended(self._rotations)
                self._report()

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
            self._report()

    def closest(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3) closest points on the scan and (n,) how far they are.

        Where a vertex has no partner on the scan (beyond the rim, or too far away), the point is
        where the vertex is and the distance NaN.
        """
        rows = np.flatnonzero(self._trust > 0)
        normals = self._template.posed(self.positions).vertex_normals[rows]
        found, inside = self._scan.closest(self.positions[rows], normals)
        gap = np.linalg.norm(found - self.positions[rows], axis=1)
        near = inside & (gap <= _FAR * self._edge)
        goals, distance = self.positions.copy(), np.full(len(self.positions), np.nan)
        goals[rows[near]], distance[rows[near]] = found[near], gap[near]
        return goals, distance

    def inverted_faces(self) -> np.ndarray:
        """(m,) bool: faces flipped against the surface around them."""
        template = self._template
        rotations = template.elastic.rotations(self.positions)
        before = template.posed(template.rest.vertices).face_normals
        posed = template.posed(self.positions)
        around = np.einsum("fcij,fj->fi", rotations[posed.faces], before)
        return np.asarray(np.einsum("fi,fi->f", around, posed.face_normals) < 0)

    @property
    def _floor(self) -> float:
        return _FLOOR * self._template.elastic.unit

    def _map_weights(self) -> np.ndarray:
        """(n,) Cauchy weights: a match that disagrees with the surface around it loses its pull."""
        gap = ((self.positions - self._targets) ** 2).sum(axis=1)
        first = self._done == 0  # moved as a whole, it is far from everything
        return np.asarray(self._trust / (1 + (0 if first else gap / (_WIDTH * self._edge) ** 2)))

    def _report(self) -> None:
        self._done += 1
        steps = len(_ATTACH) + len(_SETTLE) + len(_CLOSE_IN)
        self._progress(Progress("fitting", self._done, steps))
