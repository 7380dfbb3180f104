"""The whole shape: the scan where it was measured, the fitted template where it was not.

The mesh is that of the template, so it is watertight if the template is, finer where the scan is.
Measured vertices lie on the scan. What they are moved by for that fades into the predicted part,
so that there is no step at the seam. With a plane of symmetry, what was measured on the other side
is mirrored; beyond both, the template goes along as in a fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from nho.geometry.alignment import nearest_rotation
from nho.geometry.elastic import Elastic
from nho.geometry.geodesics import distance_to_nearest, edge_graph
from nho.geometry.mesh import Mesh
from nho.geometry.solvers import factorised
from nho.geometry.subdivision import with_middles
from nho.geometry.symmetry import Plane, Symmetry, plane_between
from nho.io.attributes import Attributes
from nho.problem.result import MatchResult
from nho.progress import ProgressCallback, ignore
from nho.transfer.error_bars import surface_error
from nho.transfer.fit import Fit, fit_template, size_of
from nho.transfer.fit_surfaces import Scan
from nho.transfer.maps import SurfaceMap

_FINER = 1.5  # edges longer than so many mean edges of the scan are halved
_ROUNDS = 3  # at most
_FAR = 1.5  # mean edges: points of the scan farther away are not taken
_FADE = 5.0  # mean edges over which a displacement fades
_SURE = 1e3  # pull of measured vertices against that of mirrored ones
_RIM = 2.0  # mean edges: nearer to the rim of the scan a point does not tell of the plane
_PAIRED = 0.2  # share of measured vertices whose partner was measured: enough to find the plane
_FLAT = 10.0  # an affine map that stretches one way so much more than another is none
_NEAR_PLANE = 0.5  # half widths of the template: what lies nearer to its plane counts most
_FEWEST = 50  # vertices that an affine map is fitted to


class Predicted(Protocol):
    """Where all (p, 3) vertices of the template are expected, in the unit of the scan, and errors.

    As `nho.ShapeSpace.estimate` returns it.
    """

    @property
    def positions(self) -> np.ndarray:
        """(p, 3) places of the vertices."""

    @property
    def errors(self) -> np.ndarray:
        """(p,) standard errors."""


@dataclass(frozen=True)
class Completion:
    """A complete shape in the pose and unit of a scan.

    Attributes
    ----------
    mesh : Mesh
        The first vertices are those of the template, in order; others lie in its edges.
    measured : (n,) bool array
        Vertices that lie on the scan; the others are predicted.
    mirrored : (n,) bool array
        Predicted vertices that follow what was measured on the other side.
    uncertainty : (n,) float array
        Of predicted vertices: 68 % are less than this from the true surface, in the unit of the
        scan. 0 where measured: how exact the scan itself is, is not known.
    """

    mesh: Mesh
    measured: np.ndarray
    mirrored: np.ndarray
    uncertainty: np.ndarray

    def attributes(self) -> Attributes:
        """What is known of every vertex, for a file."""
        return Attributes(
            vertex={
                "measured": self.measured,
                "mirrored": self.mirrored,
                "uncertainty": self.uncertainty.astype(np.float32),
            }
        )

    def summary(self) -> dict[str, float]:
        """How much was measured, and how uncertain the rest is."""
        areas = self.mesh.vertex_areas
        rest = ~self.measured
        return {
            "vertices": self.mesh.n_vertices,
            "measured_percent": float(100 * areas[self.measured].sum() / areas.sum()),
            "mirrored_percent": float(100 * areas[self.mirrored].sum() / areas.sum()),
            "median_uncertainty": float(np.median(self.uncertainty[rest])) if rest.any() else 0.0,
            "largest_uncertainty": float(self.uncertainty.max()),
        }


def complete(
    result: MatchResult,
    partial: Mesh,
    full: Mesh,
    *,
    symmetry: Symmetry | None = None,
    refine: bool = True,
    min_confidence: float = 0.0,
    fit: Fit | None = None,
    predicted: Predicted | None = None,
    progress: ProgressCallback = ignore,
) -> Completion:
    """Complete a scan by the template that it was matched to.

    Parameters
    ----------
    symmetry : Symmetry, optional
        Of the template (`nho.geometry.symmetry.find_symmetry`): missing parts are then taken from
        the other side where that was measured.
    refine : bool
        Halve edges on the scan until they are about as long as those of the scan; if not, the
        vertices are those of the template alone.
    fit : Fit, optional
        The fitted template, if that is known already.
    predicted : Predicted, optional
        What a shape space expects (`nho.shapes.prior.estimate_from_fit`): missing parts are then
        as it says, and so is their uncertainty. It knows of symmetry itself.
    """
    if fit is None:
        fit = fit_template(result, partial, full, min_confidence=min_confidence, progress=progress)
    positions = fit.mesh.vertices
    from_other_side = np.zeros(full.n_vertices, dtype=bool)
    if predicted is not None:
        positions = _as_predicted(fit, predicted)
    elif symmetry is not None:
        positions, from_other_side = _with_other_side(fit, full, symmetry)
    surface_map = SurfaceMap(result, partial, full, min_confidence=min_confidence)
    mesh, measured = full.moved(positions), fit.on_scan
    if refine:
        mesh, measured, from_other_side = _finer(
            mesh, measured, from_other_side, _FINER * partial.mean_edge_length
        )
    mesh, measured = _on_scan(mesh, measured, surface_map)
    unit = np.sqrt(full.area) * size_of(surface_map) / surface_map.scale
    away = distance_to_nearest(edge_graph(mesh), np.flatnonzero(measured))
    away = np.where(np.isfinite(away), away, away[np.isfinite(away)].max()) / unit
    from_other_side = from_other_side & ~measured
    error = unit * surface_error(away, from_other_side)
    if predicted is not None:
        # Vertices that are new lie on the scan.
        error[: full.n_vertices] = predicted.errors
    uncertainty = np.where(measured, 0.0, error)
    return Completion(mesh, measured, from_other_side, uncertainty)


def _as_predicted(fit: Fit, predicted: Predicted) -> np.ndarray:
    """(p, 3) the fit on the scan, elsewhere what is predicted, without a step between them."""
    away = np.where(fit.on_scan[:, None], fit.mesh.vertices - predicted.positions, 0.0)
    expected = fit.mesh.moved(predicted.positions)
    fade = (_FADE * expected.mean_edge_length) ** -2
    moved = _smooth(expected, np.where(fit.on_scan, _SURE, 0.0), away, fade)
    return np.where(fit.on_scan[:, None], fit.mesh.vertices, predicted.positions + moved)


def plane_of_fit(fit: Fit, full: Mesh, symmetry: Symmetry) -> Plane:
    """The plane of symmetry of the scanned subject, in the unit of the scan.

    Between pairs of points that were both measured, if there are many. Of a shape that is broken
    along its plane there are few, at the rim only, where the map is least exact: then the plane of
    the template goes along with what was measured near it, by an affine map.
    """
    rim = distance_to_nearest(edge_graph(full), np.flatnonzero(~fit.on_scan))
    inner = fit.on_scan & (rim > _RIM * full.mean_edge_length)
    both = inner & (symmetry.partner.interpolate(full, inner.astype(float)) > 1 - 1e-9)
    if both.sum() >= _PAIRED * max(inner.sum(), 1):
        images = symmetry.partner.positions(fit.mesh)
        return plane_between(fit.mesh.vertices[both], images[both], np.ones(int(both.sum())))
    height = (full.vertices - symmetry.plane.point) @ symmetry.plane.normal
    near = np.exp(-((height / (_NEAR_PLANE * np.quantile(np.abs(height), 0.95))) ** 2))
    weights = near * (inner if inner.sum() >= _FEWEST else fit.on_scan)
    weights /= weights.sum()
    centre, goal = weights @ full.vertices, weights @ fit.mesh.vertices
    root = np.sqrt(weights)[:, None]
    arms, moved = root * (full.vertices - centre), root * (fit.mesh.vertices - goal)
    affine = np.linalg.lstsq(arms, moved, rcond=None)[0].T
    if np.linalg.cond(affine) > _FLAT:  # what was measured is flat
        affine = nearest_rotation(moved.T @ arms)
    normal = np.linalg.solve(affine.T, symmetry.plane.normal)
    point = affine @ (symmetry.plane.point - centre) + goal
    return Plane(point, normal / np.linalg.norm(normal))


def _with_other_side(fit: Fit, full: Mesh, symmetry: Symmetry) -> tuple[np.ndarray, np.ndarray]:
    """Positions with the missing part of one side taken from the other, and where that is so."""
    posed, positions = fit.mesh, fit.mesh.vertices
    plane = plane_of_fit(fit, full, symmetry)
    seen = symmetry.partner.interpolate(posed, fit.on_scan.astype(float)) > 1 - 1e-9
    taken = seen & ~fit.on_scan
    if not taken.any() or not fit.on_scan.any():
        return positions, np.zeros(len(positions), dtype=bool)
    goal = plane.reflect(symmetry.partner.positions(posed)) - positions
    away = distance_to_nearest(edge_graph(posed), np.flatnonzero(fit.on_scan))
    # Next to the scan the scan decides: the two sides differ a little.
    trust = 1 - np.exp(-((away / (_FADE * posed.mean_edge_length)) ** 2))
    weights = np.where(fit.on_scan, _SURE, np.where(taken, trust, 0.0))
    moved = _smooth(posed, weights, np.where(taken[:, None], goal, 0.0))
    return positions + moved, taken


def _on_scan(mesh: Mesh, measured: np.ndarray, surface_map: SurfaceMap) -> tuple[Mesh, np.ndarray]:
    """The mesh with its measured vertices on the scan, and which these are."""
    scan, scale = Scan(surface_map), surface_map.scale
    rows = np.flatnonzero(measured)
    place, inside = scan.closest(scale * mesh.vertices[rows], mesh.vertex_normals[rows])
    away = place / scale - mesh.vertices[rows]
    near = inside & (np.linalg.norm(away, axis=1) <= _FAR * mesh.mean_edge_length)
    kept = np.zeros_like(measured)
    kept[rows[near]] = True
    goal = np.zeros_like(mesh.vertices)
    goal[rows[near]] = away[near]
    fade = (_FADE * mesh.mean_edge_length) ** -2
    moved = _smooth(mesh, np.where(kept, _SURE, 0.0), goal, fade)
    moved[kept] = goal[kept]
    return mesh.moved(mesh.vertices + moved), kept


def _smooth(mesh: Mesh, weights: np.ndarray, goal: np.ndarray, fade: float = 0.0) -> np.ndarray:
    """(n, 3) smooth field near its (n, 3) goal by (n,) weights, that fades elsewhere.

    Parameters
    ----------
    fade : float
        The field falls to nothing over a length of ``fade**-0.5``.
    """
    elastic = Elastic(mesh)
    pull = elastic.unit * weights
    rest = fade * mesh.vertex_areas + 1e-9 * elastic.unit
    matrix = elastic.stiffness + sp.diags(pull + rest)
    return factorised(matrix, mesh.name).solve(pull[:, None] * goal)


def _finer(
    mesh: Mesh, measured: np.ndarray, other: np.ndarray, longest: float
) -> tuple[Mesh, np.ndarray, np.ndarray]:
    """The mesh with all measured edges halved that are longer than allowed, round by round."""
    for _ in range(_ROUNDS):
        ends = mesh.edges
        chosen = np.flatnonzero(measured[ends].all(axis=1) & (mesh.edge_lengths > longest))
        if not len(chosen):
            break
        mesh = with_middles(mesh, chosen)
        measured, other = (np.r_[of, of[ends[chosen]].all(axis=1)] for of in (measured, other))
    return mesh, measured, other
