"""A surface through a point cloud: every point joined to its neighbours on the tangent plane.

Each point proposes the triangles around it, those of the Delaunay triangulation of its neighbours
on its tangent plane. What three corners propose is a triangle; the rest fills in, the most
agreed and smallest first, where edges still lack a face. No point is moved, added or reordered,
except that noise across the surface is taken out before the points are joined. Far-off points get
no triangle.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from nho.errors import InputError
from nho.geometry.mesh import FloatArray, IntArray, Mesh, trusted_mesh
from nho.geometry.mesh_checks import checked_vertices
from nho.geometry.point_insertion import with_all_points
from nho.geometry.point_normals import estimated_normals, oriented_faces
from nho.geometry.point_stars import star_triangles
from nho.geometry.triangle_votes import agreed_triangles
from nho.io.meshes.polygons import equal_points

_NEIGHBOURS = 16
_NOISY_NEIGHBOURS = 24  # to average over
_FEWEST = 10  # points
_OUTLIER = 4.0  # times farther from its neighbours than these from theirs
_NOISE = 0.3  # of the distance between neighbours: below this, points stay where they are
_SAMPLE = 2_000  # points that the noise is measured at
_THREADS = 4
_ROWS = 32_768  # points at a time, to bound memory


@dataclass(frozen=True)
class _Neighbourhood:
    """``k`` neighbours of every point, itself not among them."""

    index: IntArray  # (n, k)
    spacing: FloatArray  # (n,) mean distance to the nearest six


def mesh_of_points(
    points: FloatArray, name: str = "points", normals: npt.ArrayLike | None = None
) -> Mesh:
    """A mesh whose vertices are the points, in their order.

    Parameters
    ----------
    points : (n, 3) float array
    normals : (n, 3) float array, optional
        They say which side is outside; otherwise the side away from the centre is.
    """
    points = checked_vertices(points, name)
    if len(points) < _FEWEST:
        raise InputError(
            f"{name}: {len(points)} points and no faces are no surface; give at least {_FEWEST}"
        )
    if normals is not None and np.shape(normals) != points.shape:
        raise InputError(
            f"{name}: the normals have shape {np.shape(normals)} for {len(points)} points; give "
            "one for each"
        )
    first, _ = equal_points(points)
    first = first[cKDTree(points[first]).indices]  # close points close in memory: twice as fast
    unique = points[first]
    around = _neighbourhood(unique, min(_NEIGHBOURS, len(unique) - 1))
    stray = _outliers(around)
    noise = _noise(unique, around)
    notes = [f"a point cloud of {len(points)} points, joined to a surface"]
    if stray.any():
        first_stray = int(first[np.argmax(stray)])
        notes.append(f"left out {int(stray.sum())} points far off the rest (first: {first_stray})")
        unique, first = unique[~stray], first[~stray]
        around = _neighbourhood(unique, min(_NEIGHBOURS, len(unique) - 1))
    places = unique
    if noise > _NOISE:
        notes.append(
            f"its noise is {noise:.0%} of the distance between points, which was averaged out"
        )
        places = _smoothed(unique)
        around = _neighbourhood(places, min(_NEIGHBOURS, len(places) - 1))
    faces = _joined(places, around, None if normals is None else np.asarray(normals)[first])
    vertices = points.copy()
    vertices[first] = places
    return trusted_mesh(vertices, first[faces], name, tuple(notes))


def _neighbourhood(points: FloatArray, k: int) -> _Neighbourhood:
    found = cKDTree(points).query(points, k + 1, workers=-1)
    distance, index = np.asarray(found[0]), np.asarray(found[1], dtype=np.int64)
    return _Neighbourhood(index[:, 1:], distance[:, 1:7].mean(axis=1))


def _outliers(around: _Neighbourhood) -> np.ndarray:
    """(n,) bool: points far from their neighbours, which are close to theirs."""
    usual = np.median(around.spacing[around.index], axis=1)
    return np.asarray(around.spacing > _OUTLIER * usual)


def _noise(points: FloatArray, around: _Neighbourhood) -> float:
    """How far points lie off a smooth surface, in distances between neighbours."""
    rows = np.arange(0, len(points), max(1, len(points) // _SAMPLE))
    fitted, _ = _on_paraboloids(points, rows, around.index[rows])
    gaps = np.linalg.norm(fitted - points[rows], axis=1)
    # The fit follows a point in part: six unknowns for so many neighbours and itself.
    follows = np.sqrt(1 - 6 / (around.index.shape[1] + 1))
    return float(1.48 * np.median(gaps / around.spacing[rows]) / follows)


def _smoothed(points: FloatArray) -> FloatArray:
    """Every point moved onto the paraboloid through its neighbourhood."""
    around = _neighbourhood(points, min(_NOISY_NEIGHBOURS, len(points) - 1))
    moved = np.empty_like(points)
    for start in range(0, len(points), _ROWS):
        rows = np.arange(start, min(start + _ROWS, len(points)))
        moved[rows], _ = _on_paraboloids(points, rows, around.index[rows])
    return moved


def _on_paraboloids(
    points: FloatArray, rows: IntArray, index: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Points moved along the normal onto the paraboloids through them and (n, k) neighbours."""
    offsets = np.concatenate([np.zeros((len(rows), 1, 3)), points[index] - points[rows, None]], 1)
    centred = offsets - offsets.mean(axis=1, keepdims=True)
    axes = np.linalg.eigh(np.einsum("nkx,nky->nxy", centred, centred))[1]
    height, v, u = np.moveaxis(np.einsum("nkx,nxa->nka", offsets, axes), 2, 0)
    size = np.sqrt((u**2 + v**2).mean(axis=1, keepdims=True))
    u, v = u / size, v / size
    terms = np.stack([np.ones_like(u), u, v, u * u, u * v, v * v], axis=2)
    normal_matrix = np.einsum("nki,nkj->nij", terms, terms)
    normal_matrix += 1e-9 * np.eye(6) * index.shape[1]  # points on a line fix no paraboloid
    right = np.einsum("nki,nk->ni", terms, height)
    constant = np.linalg.solve(normal_matrix, right[:, :, None])[:, 0, 0]
    return points[rows] + constant[:, None] * axes[:, :, 0], axes[:, :, 0]


def _joined(points: FloatArray, around: _Neighbourhood, outwards: FloatArray | None) -> IntArray:
    """(m, 3) triangles between the points; ``outwards`` says which side is outside."""
    normals = estimated_normals(points, around.index)
    starts = range(0, len(points), _ROWS)
    rows = [np.arange(start, min(start + _ROWS, len(points))) for start in starts]
    with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as threads:
        stars = list(
            threads.map(lambda each: star_triangles(points, normals, each, around.index), rows)
        )
    faces = agreed_triangles(points, np.concatenate(stars))
    return with_all_points(points, oriented_faces(points, faces, outwards))
