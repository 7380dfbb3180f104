"""Foreign matter on a shape: what a scan shows beside the thing that was scanned.

A surface of turned profile is stitched to a rim of the shape: it starts at the rim and goes outward
and down, ring by ring.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from nho.errors import InputError
from nho.geometry.mesh import FloatArray, Mesh

# Rings outward and down from the rim, in square roots of the area that lengths are measured by.
_TURN = np.linspace(0.2, 2.8, 11)
PROFILES: dict[str, FloatArray] = {
    "plinth": np.array(
        [(0.02 * k, 0.0) for k in range(1, 6)] + [(0.1, 0.025 * k) for k in range(1, 7)]
    ),
    "floor": np.array([(0.03 * k, 0.0) for k in range(1, 11)]),
    "pedestal": np.array([(0.02 * k, 0.05 * k) for k in range(1, 7)]),
    "ball": 0.12 * np.column_stack([np.sin(_TURN), 1 - np.cos(_TURN)]),
}


def stitched_on(
    mesh: Mesh, rim: np.ndarray, up: np.ndarray, profile: np.ndarray, unit: float
) -> Mesh:
    """The mesh with a foreign surface at some of its rims; its own vertices come first.

    Parameters
    ----------
    mesh : Mesh
    rim : (n,) bool array
        Boundary vertices to start from. Every loop of them gets a surface of its own.
    up : (3,) float array
        From the foreign surface to the mesh; its length does not matter.
    profile : (r, 2) float array
        How far every ring lies outward of the rim, and below it; `PROFILES` has some.
    unit : float
        Length of one in the profile, as a rule the square root of the whole shape's area.
    """
    starts = _rim_edges(mesh)
    starts = starts[rim[starts].all(axis=1)]
    if len(starts) == 0:
        raise InputError(f"{mesh.name}: no boundary edge among the vertices of the rim")
    up = np.asarray(up, dtype=np.float64) / np.linalg.norm(up)
    around = np.unique(starts)
    outward = _outward(mesh, starts, around, up)
    vertices, faces = [mesh.vertices], [mesh.faces]
    inner, count = np.arange(mesh.n_vertices), mesh.n_vertices
    for out, down in profile:
        vertices.append(mesh.vertices[around] + unit * (out * outward - down * up))
        outer = np.full(mesh.n_vertices, -1)
        outer[around] = count + np.arange(len(around))
        count += len(around)
        a, b = starts.T
        faces.append(np.column_stack([inner[b], inner[a], outer[a]]))
        faces.append(np.column_stack([inner[b], outer[a], outer[b]]))
        inner = outer
    return Mesh(np.concatenate(vertices), np.concatenate(faces), f"{mesh.name}, more stitched on")


def _rim_edges(mesh: Mesh) -> np.ndarray:
    """(b, 2) boundary edges, each in the direction of its face."""
    corners = mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    edge = np.unique(np.sort(corners, axis=1), axis=0, return_inverse=True)[1].ravel()
    return np.asarray(corners[np.bincount(edge)[edge] == 1])


def _outward(mesh: Mesh, edges: np.ndarray, around: np.ndarray, up: np.ndarray) -> np.ndarray:
    """(k, 3) unit directions away from the middle of a vertex's loop, level."""
    n = mesh.n_vertices
    links = sp.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    loop = connected_components(links, directed=False)[1][around]
    loop = np.unique(loop, return_inverse=True)[1]
    points = mesh.vertices[around]
    middle = np.stack([np.bincount(loop, column) for column in points.T], axis=1)
    away = points - (middle / np.bincount(loop)[:, None])[loop]
    away = away - np.outer(away @ up, up)
    return np.asarray(away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-12))
