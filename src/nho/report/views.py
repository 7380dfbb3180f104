"""From where a shape is first seen: view and frame, for the report and for printed pictures.

A view is a (3, 3) rotation: its rows are the directions to the right, up, and towards the eye.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.alignment import nearest_rotation
from nho.geometry.mesh import FloatArray, Mesh
from nho.geometry.spikes import without_spikes
from nho.geometry.surface import SurfacePoints

Frame = tuple[FloatArray, float]  # centre and radius


def first_view(mesh: Mesh) -> FloatArray:
    """View along the thinnest side of the box, rotated a little for depth."""
    extent = np.ptp(_corners(mesh), axis=0)
    thinnest = 2 - int(np.argmin(extent[::-1]))  # a tie goes to z
    up, eye = ((1, 0), (2, 1), (1, 2))[thinnest]
    towards = np.eye(3)[eye] * (-1 if thinnest == 1 else 1)  # with z up, the front is at -y
    front = np.stack([np.cross(np.eye(3)[up], towards), np.eye(3)[up], towards])
    yaw, pitch = np.deg2rad((-22.0, 8.0))
    about_up = [[np.cos(yaw), 0, np.sin(yaw)], [0, 1, 0], [-np.sin(yaw), 0, np.cos(yaw)]]
    about_right = [[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]]
    view: FloatArray = np.array(about_right) @ np.array(about_up) @ front
    return view


def view_beside(
    partial: Mesh,
    full: Mesh,
    full_view: FloatArray,
    points: SurfacePoints,
    weights: np.ndarray,
) -> FloatArray:
    """View of the partial shape beside a full one, so that both are seen from one side.

    Kabsch's rotation of the partial onto its match; `first_view` if too little is matched.

    Parameters
    ----------
    full_view : (3, 3) float array
    points : SurfacePoints
        On ``full``, one per vertex of ``partial``.
    weights : (n_partial,) float array
        Such as the confidence.
    """
    matched = points.face >= 0
    if matched.sum() < 3:
        return first_view(partial)
    weights = np.nan_to_num(weights[matched].astype(np.float64))
    weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1.0)
    source = partial.vertices[matched]
    target = points[matched].positions(full)
    source = source - np.average(source, axis=0, weights=weights)
    target = target - np.average(target, axis=0, weights=weights)
    onto_full = nearest_rotation(target.T @ (source * weights[:, None]))
    view: FloatArray = full_view @ onto_full
    return view


def frame(mesh: Mesh, view: FloatArray) -> Frame:
    """Centre and radius of a ball around the surface, in the middle of the view."""
    corners = _corners(mesh)
    seen = corners @ view.T
    centre = (seen.min(axis=0) + seen.max(axis=0)) / 2 @ view
    radius = float(np.linalg.norm(corners - centre, axis=1).max())
    return centre, radius if radius > 0 else 1.0


def framed(points: FloatArray, around: Frame) -> FloatArray:
    """(n, 3) points in the unit ball; in float64, so that a far-off mesh keeps its detail."""
    centre, radius = around
    return (points - centre) / radius


def _corners(mesh: Mesh) -> FloatArray:
    """Vertices of faces, without spikes: nothing stray must shrink the shape."""
    return mesh.vertices[without_spikes(mesh).used_vertices]
