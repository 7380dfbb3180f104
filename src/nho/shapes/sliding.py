"""Slide vertices along their surfaces until shapes bend as little as possible from the mean.

A vertex of a smooth cheek has no place of its own: that it slid along the surface is no difference
between shapes. As semilandmarks of geometric morphometrics do (Bookstein 1997; Gunz, Mitteroecker
and Bookstein 2005), a sample of the vertices moves in its tangent planes to where a thin-plate
spline from the mean has the least bending energy; the others go along, back onto the surface.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from nho.geometry.mesh import FloatArray, Mesh
from nho.geometry.surface import project
from nho.geometry.tangents import tangent_frames
from nho.shapes.given_shapes import spread_vertices
from nho.shapes.procrustes import pose_onto, procrustes_mean

_SLIDERS = 400  # vertices that slide by themselves
_NEAREST = 6  # of them lead each of the others
_KNOWN = 0.05  # weight from which a vertex slides
_ROUNDS = 2
_STAY = 1e-3  # pull to where a vertex is, against the mean stiffness


def slide(shapes: np.ndarray, template: Mesh, weights: np.ndarray | None = None) -> None:
    """Slide the vertices of (n, p, 3) shapes, in place and one by one; they may be mapped.

    Parameters
    ----------
    weights : (n, p) float array, optional
        How well every vertex is known: those below 0.05 do not slide.
    """
    if weights is None:
        weights = np.broadcast_to(np.float64(1.0), shapes.shape[:2])
    areas = template.vertex_areas / template.vertex_areas.sum()
    rows = spread_vertices(areas, _SLIDERS)
    shares = np.full(len(rows), 1 / len(rows))
    tree = cKDTree(template.vertices[rows])
    apart, near = tree.query(template.vertices, min(_NEAREST, len(rows)))
    lead = np.asarray(1 / (apart + 1e-3 * template.mean_edge_length))
    lead /= lead.sum(axis=1, keepdims=True)
    for _ in range(_ROUNDS):
        few = np.stack([np.asarray(shape[rows], dtype=np.float64) for shape in shapes])
        known = np.stack([np.asarray(row[rows], dtype=np.float64) for row in weights])
        mean = procrustes_mean(few, known, shares, template.vertices[rows])
        for number in range(len(shapes)):
            sliding = known[number] >= _KNOWN
            if sliding.sum() < _NEAREST:
                continue
            shape = np.asarray(shapes[number], dtype=np.float64)
            pose = pose_onto(few[number], mean, known[number] * shares)
            laid = template.moved(pose.apply(shape))
            moved = np.zeros_like(mean)
            chosen = rows[sliding]
            moved[sliding] = _slide(
                laid.vertices[chosen], laid.vertex_normals[chosen], mean[sliding]
            )
            goal = laid.vertices + np.einsum("pk,pkx->px", lead, moved[near])
            place = project(laid, goal)[0].positions(laid)
            there = (np.asarray(weights[number]) >= _KNOWN)[:, None]
            shapes[number] = np.where(there, pose.undo(place), shape)


def _slide(places: np.ndarray, normals: np.ndarray, mean: np.ndarray) -> FloatArray:
    """(k, 3) motions in the tangent planes after which the bending energy is least."""
    energy = bending_energy(mean)
    first, second = tangent_frames(normals)
    matrix = np.zeros((2 * len(places), 2 * len(places)))
    right = np.zeros(len(matrix))
    for axis in range(3):
        along = np.concatenate([np.diag(first[:, axis]), np.diag(second[:, axis])], axis=1)
        bent = energy @ along
        matrix += along.T @ bent
        right -= bent.T @ places[:, axis]
    matrix[np.diag_indices_from(matrix)] += _STAY * np.trace(energy) / len(energy)
    found = np.linalg.solve(matrix, right)
    moved: FloatArray = first * found[: len(places), None] + second * found[len(places) :, None]
    return moved


def bending_energy(points: np.ndarray) -> FloatArray:
    """(k, k) matrix B of (k, 3) points: values v of a thin-plate spline cost ``v @ B @ v``.

    What is affine costs nothing. The kernel of space is minus the distance.
    """
    k = len(points)
    system = np.zeros((k + 4, k + 4))
    system[:k, :k] = -cdist(points, points)
    system[:k, k:] = np.c_[np.ones(k), points]
    system[k:, :k] = system[:k, k:].T
    energy = np.linalg.pinv(system, hermitian=True)[:k, :k]
    return np.asarray((energy + energy.T) / 2)
