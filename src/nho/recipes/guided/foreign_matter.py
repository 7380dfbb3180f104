"""Foreign matter on the partial shape: a plinth, a floor, a touching thing.

Drawn to a full shape that is closed, a plinth lies on it as well as anything. So the surface is
let go, all but what lies well around the anchors: what belongs to the full shape stays near it, and
what does not springs away. It also has another relief than the place that it was drawn to, and the
crease where it begins was flattened there. Together these are log odds for every vertex, for and
against a partner, and the cheapest cut, which follows creases, separates what they call foreign. A
limb that bent springs away as well if no anchor is near: what is cut off is judged as a whole, and
has to be large, far from the anchors, and unlike what it lies on; where anchors are few, most limbs
have none, so it has to be plainly unlike it.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.graph_cut import connected_after_cut, patches
from nho.geometry.mesh import BoolArray, FloatArray, Mesh
from nho.recipes.guided.bending import Bending
from nho.recipes.guided.comparable import ComparablePair
from nho.recipes.guided.first_pose import Pose
from nho.recipes.guided.pose_fit import Fit, fit_of
from nho.recipes.guided.starts import Curvatures

# Constant, and weights of the logarithms of gap and angle after letting go, of the difference in
# relief, and of the crease that was flattened: docs/decisions.md
_LOG_ODDS = (13.067, 2.264, 0.901, 0.747, 0.929)
_MOST = 3.0  # log odds
_COUNTS = 0.3  # of an edge between vertices that lie well
_RELIEF_SMOOTHING, _CREASE_SMOOTHING = 10, 4  # rounds of averaging
_SHARP = 1.0  # radian; a crease that is cut as easily as a full misfit
_EASE = 0.9  # by how much a crease or a misfit makes it cheaper to cut there
_LEAST = 0.04  # area of foreign matter; the full shape has area one
_FAR = 0.6  # of the anchors' spacing: its mean distance from them, at least
_MANY_ANCHORS = 13  # marked ones: enough that most limbs have one
_UNLIKE, _UNLIKE_OF_FEW = 0.4, 1.7  # standard deviations of relief: its mean difference, at least
_UNLIKE_IN_ALL = 0.045  # and that times its area: the smaller, the more unlike


class ForeignMatter:
    """Tells foreign matter in one pose after the other.

    Parameters
    ----------
    curvatures : pair of (n_partial, s) and (n_full, s) float arrays
        Relief of both shapes.
    """

    def __init__(self, pair: ComparablePair, bending: Bending, curvatures: Curvatures) -> None:
        self._pair, self._bending, self._curvatures = pair, bending, curvatures

    def creases(self, pose: Pose) -> FloatArray:
        """(n_partial,) radians by which the sharpest change at a vertex was bent by a pose."""
        return flattened_creases(self._pair.partial, pose.positions)

    def log_odds(self, pose: Pose, held: BoolArray, creases: FloatArray) -> FloatArray:
        """(n_partial,) -3 to 3, how much likelier it is to be foreign than to have a partner.

        Parameters
        ----------
        held : (n_partial,) bool array
            What is not let go.
        creases : (n_partial,) float array
            Of the pose in which all of the surface was drawn to the full shape.
        """
        partial, full, elastic = self._pair.partial, self._pair.full, self._bending.elastic
        positions = elastic.released(pose.positions, held)
        loose = fit_of(partial, positions, full, self._bending.read_off(positions), elastic)
        constant, of_gap, of_angle, of_relief, of_crease = _LOG_ODDS
        odds = constant + of_gap * np.log(2e-3 + loose.gap)
        odds += of_angle * np.log(1e-2 + np.maximum(1 - loose.agreement, 0))
        odds += of_relief * np.log(0.1 + self._unlike(pose))
        odds += of_crease * np.log(0.02 + elastic.averaged(creases, _CREASE_SMOOTHING))
        return np.asarray(np.clip(odds, -_MOST, _MOST))

    def likely(self, pose: Pose, vertices: BoolArray, first: bool) -> BoolArray:
        """(n_partial,) bool: those of the vertices that are foreign, judged patch by patch.

        ``first``: in a pose in which all of the surface was drawn to the full shape, where it tells
        something that foreign matter looks like nothing that it lies on.
        """
        pair = self._pair
        away = pair.distances.to_nearest(pair.partial) / pair.distances.spacing
        few = len(self._bending.pinned) < _MANY_ANCHORS
        unlike = self._unlike(pose) if first else None
        least = _UNLIKE_OF_FEW if few else _UNLIKE
        return likely_parts(pair.partial, vertices, away, unlike, least)

    def _unlike(self, pose: Pose) -> FloatArray:
        """(n_partial,) standard deviations of relief between the surface and what it lies on."""
        own, others = self._curvatures
        unlike = np.abs(own - others[pose.points.nearest_vertex(self._pair.full)]).mean(axis=1)
        return self._bending.elastic.averaged(unlike, _RELIEF_SMOOTHING)

    def own_part(
        self, fit: Fit, sure: BoolArray, odds: FloatArray, creases: FloatArray
    ) -> BoolArray:
        """(n_partial,) bool: what the cheapest cut by the log odds leaves to the shape itself."""
        edges = self._pair.partial.edges
        ease = np.maximum(fit.misfit, np.clip(creases / _SHARP, 0, 1))
        costs = 1 - _EASE * ease[edges].max(axis=1)
        return connected_after_cut(edges, costs, np.flatnonzero(sure), _COUNTS * odds)


def flattened_creases(mesh: Mesh, positions: np.ndarray) -> FloatArray:
    """(n,) radians, largest change of the angle between two faces at an edge of each vertex."""
    corners = np.sort(mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    order = np.lexsort(corners.T)
    corners, face = corners[order], np.repeat(np.arange(len(mesh.faces)), 3)[order]
    inner = np.flatnonzero((corners[1:] == corners[:-1]).all(axis=1))
    edges, beside = corners[inner], np.stack([face[inner], face[inner + 1]])
    before, after = (_angles(of, beside) for of in (mesh, mesh.moved(positions)))
    largest = np.zeros(mesh.n_vertices)
    for end in edges.T:
        np.maximum.at(largest, end, np.abs(after - before))
    return largest


def _angles(mesh: Mesh, beside: np.ndarray) -> FloatArray:
    """(k,) radians between pairs of faces, 0 where the surface is flat, negative in a valley."""
    one, other = mesh.face_normals[beside]
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    across = middle[beside[1]] - middle[beside[0]]
    angle = np.arccos(np.clip((one * other).sum(axis=1), -1, 1))
    return np.asarray(np.where((across * one).sum(axis=1) > 0, -angle, angle))


def likely_parts(
    mesh: Mesh,
    vertices: BoolArray,
    away: np.ndarray,
    unlike: np.ndarray | None = None,
    least: float = _UNLIKE,
) -> BoolArray:
    """(n,) bool: vertices of patches that are large, and far from the anchors as a whole.

    Anchors are marked where there is a partner: what surrounds one is a limb that bent.

    Parameters
    ----------
    away : (n,) float array
        Distance to the nearest anchor, over their spacing.
    unlike : (n,) float array, optional
        Difference in relief to what it lies on. If given, patches need ``least`` in the mean.
    """
    patch = patches(mesh.edges, vertices)
    shares = np.where(vertices, mesh.vertex_areas, 0.0)
    areas = np.bincount(patch, shares)
    foreign = (areas >= _LEAST) & (np.bincount(patch, shares * away) >= _FAR * areas)
    if unlike is not None:
        needed = np.maximum(least * areas, _UNLIKE_IN_ALL)
        foreign &= np.bincount(patch, shares * unlike) >= needed
    return np.asarray(vertices & foreign[patch])
