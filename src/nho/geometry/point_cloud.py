"""A surface through a point cloud: every point joined to its neighbours on the tangent plane.

Each point proposes the triangles around it, those of the Delaunay triangulation of its neighbours
on its tangent plane. What three corners propose is a triangle; the rest fills in, the most
agreed and smallest first, where edges still lack a face. Once the surface is there, its normals say
where two sheets face each other, and the points there propose again without those of the other
sheet and without triangles that stand up between them; normals of the user say so at once. No point
is moved, added or reordered, except that noise across the surface is taken out before the points
are joined. Far-off points get no triangle.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from nho.errors import InputError
from nho.geometry.mesh import FloatArray, IntArray, Mesh, trusted_mesh
from nho.geometry.mesh_checks import checked_vertices
from nho.geometry.point_insertion import with_all_points
from nho.geometry.point_normals import (
    estimated_normals,
    one_sided,
    oriented_faces,
    plausible,
    signed_normals,
    unit_or_zero,
)
from nho.geometry.point_stars import facing_away, stands_up, star_triangles
from nho.geometry.triangle_votes import agreed_triangles
from nho.io.meshes.polygons import equal_points

_NEIGHBOURS = 16
_NOISY_NEIGHBOURS = 24  # to average over
_FEWEST = 10  # points
_THINNEST = 1e-7  # width over length: less is a line
_OUTLIER = 4.0  # times farther from its neighbours than these from theirs
_NOISE = 0.3  # of the distance between neighbours: below this, points stay where they are
_SAMPLE = 2_000  # points that the noise is measured at
_PASSES = 3  # over points where sheets face each other
_MANY = 50_000  # points: beyond, one pass, which does most; each of the others costs a sixth
_FEW = 0.0005  # share of such points that is not worth a pass
# Heights of noise above a fitted surface have a kurtosis of 2.2 to 2.8, whatever noise it is; those
# of two walls have less where the walls are close, and more where most neighbours are on one.
_KURTOSIS = 2.1, 2.9
_MOST_NOISE = 0.9  # of the distance between neighbours: with more, that distance grows as well
_TWO_WALLS = 0.2  # of that distance: what lies farther off and is no noise is another wall
_NORMALS_APART = 3.0  # times that distance: how far apart normals make two sides
_TORN = 0.15  # share of the points: more makes the surface doubtful
_THREADS = 4
_ROWS = 32_768  # points at a time, to bound memory

_DOUBT = (
    "its points lie where sheets are too close to be told apart (thin walls, fingers, parts that "
    "touch) and may be joined wrongly; give normals, more points or a mesh"
)


@dataclass(frozen=True)
class _Cloud:
    """Distinct points, and ``k`` neighbours of every one, itself not among them."""

    points: FloatArray  # (n, 3)
    normals: FloatArray | None  # (n, 3) of the user: of length one or zero, to the outside
    index: IntArray  # (n, k)
    spacing: FloatArray  # (n,) mean distance to the nearest six

    @classmethod
    def of(cls, points: FloatArray, normals: FloatArray | None, k: int = _NEIGHBOURS) -> _Cloud:
        """With neighbours that face the same way, if normals are known and say which it is."""
        k = min(k, len(points) - 1)
        index, spacing = _neighbours(points, k)
        if normals is None:
            return cls(points, None, index, spacing)
        normals = unit_or_zero(normals)
        if not one_sided(normals, points, index):
            return cls(points, None, index, spacing)
        if plausible(normals, points, index):
            # Points of two walls are far apart if their normals are coordinates as well.
            apart = _NORMALS_APART * float(np.median(spacing))
            index, spacing = _neighbours(np.hstack([points, apart * normals]), k)
        return cls(points, normals, index, spacing)

    def some_normals(self, rows: np.ndarray) -> FloatArray | None:
        """Of some points."""
        return None if self.normals is None else self.normals[rows]


@dataclass(frozen=True)
class _Noise:
    """How far points lie off a smooth surface, in distances between them."""

    share: float
    plausible: bool  # else points lie on two walls


def _neighbours(places: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
    """(n, k) nearest of every place, and (n,) the mean distance to the nearest six."""
    found = cKDTree(places).query(places, k + 1, workers=-1)
    distance, index = np.asarray(found[0]), np.asarray(found[1], dtype=np.int64)
    return index[:, 1:], distance[:, 1:7].mean(axis=1)


def mesh_of_points(
    points: FloatArray, name: str = "points", normals: npt.ArrayLike | None = None
) -> Mesh:
    """A mesh whose vertices are the points, in their order.

    Parameters
    ----------
    points : (n, 3) float array
    normals : (n, 3) float array, optional
        They say which side is outside, and keep sheets apart that lie close to each other;
        otherwise the side away from the centre is outside.
    """
    points = checked_vertices(points, name)
    if normals is not None and np.shape(normals) != points.shape:
        raise InputError(
            f"{name}: the normals have shape {np.shape(normals)} for {len(points)} points; give "
            "one for each"
        )
    first, _ = equal_points(points)
    if len(first) < _FEWEST:
        raise InputError(
            f"{name}: {len(first)} points and no faces are no surface; give at least {_FEWEST}"
        )
    extents = np.linalg.svd(points[first] - points[first].mean(axis=0), compute_uv=False)
    if extents[1] <= _THINNEST * extents[0]:
        raise InputError(
            f"{name}: its points lie on a line and are no surface; give a scan or a mesh"
        )
    first = first[cKDTree(points[first]).indices]  # close points close in memory: twice as fast
    cloud = _Cloud.of(points[first], None if normals is None else np.asarray(normals)[first])
    stray, noise = _outliers(cloud), _noise(cloud)
    notes = [f"a point cloud of {len(points)} points, joined to a surface"]
    if normals is not None and cloud.normals is None:
        notes.append("its normals do not agree on which side is outside, and were not used")
    if stray.any():
        first_stray = int(first[np.argmax(stray)])
        notes.append(f"left out {int(stray.sum())} points far off the rest (first: {first_stray})")
        cloud, first = _Cloud.of(cloud.points[~stray], cloud.some_normals(~stray)), first[~stray]
    if noise.share > _NOISE and noise.plausible:
        notes.append(
            f"its noise is {noise.share:.0%} of the distance between points, which was averaged out"
        )
        cloud = _Cloud.of(_smoothed(cloud), cloud.normals)
    faces, facing = _joined(cloud)
    if not len(faces):
        raise InputError(
            f"{name}: its points lie on a line and are no surface; give a scan or a mesh"
        )
    two_walls = noise.share > _TWO_WALLS and not noise.plausible
    doubtful = two_walls or facing and _torn(cloud, faces) > _TORN
    vertices = points.copy()
    vertices[first] = cloud.points
    doubts = (_DOUBT,) * doubtful
    return trusted_mesh(vertices, first[faces], name, tuple(notes), doubts, of_points=True)


def _torn(cloud: _Cloud, faces: IntArray) -> float:
    """Share of the points that lie on a rim beside a sheet that faces the other way."""
    surface = trusted_mesh(cloud.points, faces, "cloud")
    beside = _beside_other_sheets(surface.vertex_normals, cloud.index)
    if beside.mean() <= _TORN:
        return 0.0
    return float((beside & surface.boundary_vertices).mean())


def _outliers(cloud: _Cloud) -> np.ndarray:
    """(n,) bool: points far from their neighbours, which are close to theirs."""
    usual = np.median(cloud.spacing[cloud.index], axis=1)
    return np.asarray(cloud.spacing > _OUTLIER * usual)


def _noise(cloud: _Cloud) -> _Noise:
    """How far points lie off a smooth surface."""
    rows = np.arange(0, len(cloud.points), max(1, len(cloud.points) // _SAMPLE))
    fitted, heights = _on_paraboloids(cloud.points, rows, cloud.index[rows])
    gaps = np.linalg.norm(fitted - cloud.points[rows], axis=1)
    # The fit follows a point in part: six unknowns for so many neighbours and itself.
    follows = np.sqrt(1 - 6 / max(cloud.index.shape[1] + 1, 7))
    share = float(1.48 * np.median(gaps / cloud.spacing[rows]) / follows)
    squares = heights**2
    tiny = np.finfo(float).tiny
    kurtosis = (squares**2).mean(axis=1) / np.maximum(squares.mean(axis=1) ** 2, tiny)
    least, most = _KURTOSIS
    return _Noise(share, share < _MOST_NOISE and bool(least < np.median(kurtosis) < most))


def _smoothed(cloud: _Cloud) -> FloatArray:
    """Every point moved onto the paraboloid through its neighbourhood."""
    index = _Cloud.of(cloud.points, cloud.normals, _NOISY_NEIGHBOURS).index
    everywhere = np.arange(len(cloud.points))
    return _by_blocks(lambda rows: _on_paraboloids(cloud.points, rows, index[rows])[0], everywhere)


def _on_paraboloids(
    points: FloatArray, rows: IntArray, index: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Points moved along the normal onto the paraboloids through them and (r, k) neighbours.

    And how high all of them lie above: (r, k + 1), the point first.
    """
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
    fit = np.linalg.solve(normal_matrix, right[:, :, None])
    above = height - (terms @ fit)[:, :, 0]
    return points[rows] + fit[:, 0] * axes[:, :, 0], above


def _joined(cloud: _Cloud) -> tuple[IntArray, bool]:
    """(m, 3) triangles between the points, and whether there may be sheets that face each other."""
    points, index, outwards = cloud.points, cloud.index, cloud.normals
    everywhere = np.arange(len(points))
    normals = _by_blocks(lambda rows: estimated_normals(points, index[rows], rows), everywhere)
    signed, facing = outwards is not None, True
    if outwards is not None:
        normals = signed_normals(normals, outwards, index)
    stars = _stars(points, normals, everywhere, index, signed)
    faces = oriented_faces(points, agreed_triangles(points, stars), outwards)
    passes = _PASSES if len(points) <= _MANY else 1
    for _ in range(0 if signed else passes):
        # The surface knows better than the planes through neighbours which way normals point.
        found = trusted_mesh(points, faces, "cloud").vertex_normals
        normals = np.where(found.any(axis=1, keepdims=True), found, normals)
        unsure = _beside_other_sheets(normals, index)
        facing = bool(unsure.mean() >= _FEW)
        if not facing:
            break
        renewed = _stars(points, normals, np.flatnonzero(unsure), index, True)
        stars = np.concatenate([stars[~unsure[stars[:, 0]]], renewed])
        bridge = np.flatnonzero(unsure[stars].any(axis=1))
        bridge = bridge[stands_up(points, normals, stars[bridge])]
        faces = oriented_faces(points, agreed_triangles(points, np.delete(stars, bridge, axis=0)))
    return with_all_points(points, faces), facing


def _stars(
    points: FloatArray, normals: FloatArray, rows: IntArray, index: IntArray, signed: bool
) -> IntArray:
    """(m, 3) triangles around some points, the point first."""
    return _by_blocks(lambda some: star_triangles(points, normals, some, index, signed), rows)


def _beside_other_sheets(normals: FloatArray, index: IntArray) -> np.ndarray:
    """(n,) bool: the normal of a neighbour points the other way."""

    def block(rows: IntArray) -> np.ndarray:
        return np.asarray(facing_away(normals, rows, index[rows]).any(axis=1))

    return _by_blocks(block, np.arange(len(index)))


def _by_blocks(compute: Callable[[IntArray], np.ndarray], rows: IntArray) -> np.ndarray:
    """What is computed for some rows at a time, in threads, one after the other."""
    blocks = [rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS)]
    with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as threads:
        return np.concatenate(list(threads.map(compute, blocks)))
