"""From where a shape is first seen: turn and frame, for the report and for printed pictures."""

from __future__ import annotations

import numpy as np

from nho.geometry.alignment import nearest_rotation
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints

Frame = tuple[np.ndarray, float]  # centre and radius


def looking_at(mesh: Mesh) -> np.ndarray:
    """Rotation to a first view: along the thinnest side of the box, turned a little for depth.

    Rows are the directions to the right, up, and towards the eye.
    """
    extent = np.ptp(mesh.vertices[used(mesh)], axis=0)
    thinnest = 2 - int(np.argmin(extent[::-1]))  # a tie goes to z
    up, eye = ((1, 0), (2, 1), (1, 2))[thinnest]
    towards = np.eye(3)[eye] * (-1 if thinnest == 1 else 1)  # with z up, the front is at -y
    front = np.stack([np.cross(np.eye(3)[up], towards), np.eye(3)[up], towards])
    yaw, pitch = np.deg2rad((-22.0, 8.0))
    about_up = [[np.cos(yaw), 0, np.sin(yaw)], [0, 1, 0], [-np.sin(yaw), 0, np.cos(yaw)]]
    about_right = [[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]]
    return np.array(about_right) @ np.array(about_up) @ front


def rotation_onto_full(
    partial: Mesh, full: Mesh, points: SurfacePoints, weights: np.ndarray
) -> np.ndarray | None:
    """Rotation that best lays the partial over its match, so that both are seen from one side.

    Kabsch's solution; None if too little is matched to have one.

    Parameters
    ----------
    points : SurfacePoints
        Of ``full``, one per vertex of ``partial``.
    weights : (n_partial,) float array
        Such as the confidence.
    """
    matched = points.face >= 0
    if matched.sum() < 3:
        return None
    weights = np.nan_to_num(weights[matched].astype(np.float64))
    weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1.0)
    source = partial.vertices[matched]
    target = points[matched].positions(full)
    source = source - np.average(source, axis=0, weights=weights)
    target = target - np.average(target, axis=0, weights=weights)
    return nearest_rotation(target.T @ (source * weights[:, None]))


def turn_beside(
    partial: Mesh, full: Mesh, full_turn: np.ndarray, points: SurfacePoints, weights: np.ndarray
) -> np.ndarray:
    """Turn of the partial shape beside a full one seen under ``full_turn``."""
    fitted = rotation_onto_full(partial, full, points, weights)
    return looking_at(partial) if fitted is None else full_turn @ fitted


def frame(mesh: Mesh, turn: np.ndarray) -> Frame:
    """Centre and radius of a ball around the surface, in the middle of the first view."""
    corners = mesh.vertices[used(mesh)]  # a stray vertex must not shrink the shape
    seen = corners @ turn.T
    centre = (seen.min(axis=0) + seen.max(axis=0)) / 2 @ turn
    radius = float(np.linalg.norm(corners - centre, axis=1).max())
    return centre, radius if radius > 0 else 1.0


def framed(points: np.ndarray, around: Frame) -> np.ndarray:
    """Points in the unit ball; done here in float64, so that a far-off mesh keeps its detail."""
    centre, radius = around
    return (points - centre) / radius


def used(mesh: Mesh) -> np.ndarray:
    """(n,) bool: vertices of a face."""
    found = np.zeros(len(mesh.vertices), dtype=bool)
    found[mesh.faces] = True
    return found
