"""Points on a triangle mesh: a face and three barycentric weights each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from nho.geometry.mesh import FloatArray, Mesh


@dataclass(frozen=True)
class SurfacePoints:
    """``n`` points on a mesh.

    Attributes
    ----------
    face : (n,) int array
        Triangle that holds each point; -1 where there is no point.
    barycentric : (n, 3) float array
        Weights of the triangle's corners, >= 0, summing to one; NaN where there is no point.
    """

    face: np.ndarray
    barycentric: np.ndarray

    def __len__(self) -> int:
        return len(self.face)

    def __getitem__(self, rows: np.ndarray | slice) -> SurfacePoints:
        return SurfacePoints(self.face[rows], self.barycentric[rows])

    def where(self, kept: np.ndarray) -> SurfacePoints:
        """The same with no point where ``kept`` (n bool) is false."""
        return SurfacePoints(
            np.where(kept, self.face, -1), np.where(kept[:, None], self.barycentric, np.nan)
        )

    @classmethod
    def none(cls, count: int) -> SurfacePoints:
        """No point, ``count`` times."""
        return cls(np.full(count, -1), np.full((count, 3), np.nan))

    @classmethod
    def at_vertices(cls, mesh: Mesh, vertices: np.ndarray) -> SurfacePoints:
        """Vertices as surface points; an index of -1 (or a vertex of no face) is no point."""
        vertices = np.asarray(vertices, dtype=np.int64)
        # For every vertex the first corner that it is in; backwards, so that it is written last.
        corner_of = np.full(mesh.n_vertices, -1)
        corner_of[mesh.faces.ravel()[::-1]] = np.arange(mesh.faces.size)[::-1]
        corner = np.where(vertices >= 0, corner_of[vertices], -1)
        barycentric = np.full((len(vertices), 3), np.nan)
        known = corner >= 0
        barycentric[known] = np.eye(3)[corner[known] % 3]
        return cls(corner // 3, barycentric)

    def positions(self, mesh: Mesh) -> np.ndarray:
        """(n, 3) coordinates; NaN where there is no point."""
        corners = mesh.vertices[mesh.faces[self.face]]
        positions: FloatArray = np.einsum("nc,ncx->nx", self.barycentric, corners)
        return positions

    def nearest_vertex(self, mesh: Mesh) -> np.ndarray:
        """(n,) index of the triangle corner nearest to each point; -1 where there is no point."""
        corners = mesh.faces[self.face]
        gaps = mesh.vertices[corners] - self.positions(mesh)[:, None, :]
        nearest = np.argmin(np.nan_to_num((gaps**2).sum(axis=2)), axis=1)
        return np.where(self.face >= 0, corners[np.arange(len(corners)), nearest], -1)

    def interpolate(self, mesh: Mesh, values: np.ndarray) -> np.ndarray:
        """Vertex data (n_vertices, ...) of ``mesh`` at these points; NaN where there is none."""
        weights = self.barycentric.reshape(self.barycentric.shape + (1,) * (values.ndim - 1))
        interpolated: np.ndarray = (weights * values[mesh.faces[self.face]]).sum(axis=1)
        return interpolated


def project(mesh: Mesh, points: np.ndarray) -> tuple[SurfacePoints, np.ndarray]:
    """Closest point on the surface for each of (n, 3) points, with the (n,) distances.

    Exact: the nearest face corner bounds the distance, and every triangle whose bounding sphere
    comes closer than that is tried.
    """
    points = np.asarray(points, dtype=np.float64)
    corners = mesh.vertices[mesh.faces]
    centre = corners.mean(axis=1)
    radius = np.sqrt(((corners - centre[:, None]) ** 2).sum(axis=2).max(axis=1))
    used = np.unique(mesh.faces)
    reach = cKDTree(mesh.vertices[used]).query(points)[0]
    face = np.full(len(points), -1, dtype=np.int64)
    barycentric = np.full((len(points), 3), np.nan)
    best = np.full(len(points), np.inf)
    # Triangles by size, so that a few long ones do not widen the search for all the others.
    order = np.argsort(radius, kind="stable")
    for group in np.array_split(order, min(8, len(order))):
        tree = cKDTree(centre[group])
        widest = radius[group].max()
        near = tree.query_ball_point(points, (reach + widest) * (1 + 1e-9), return_sorted=True)
        counts = np.fromiter(map(len, near), dtype=np.int64, count=len(near))
        if not counts.sum():
            continue
        rows = np.repeat(np.arange(len(points)), counts)
        faces = group[np.concatenate([np.asarray(found, dtype=np.int64) for found in near])]
        weights, gaps = closest_on_triangles(points[rows], corners[faces])
        first = np.lexsort((faces, gaps, rows))
        first = first[np.r_[True, rows[first][1:] != rows[first][:-1]]]
        better = first[gaps[first] < best[rows[first]]]
        face[rows[better]] = faces[better]
        barycentric[rows[better]] = weights[better]
        best[rows[better]] = gaps[better]
    return SurfacePoints(face, barycentric), np.sqrt(best)


def closest_on_triangles(
    points: np.ndarray, triangles: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Closest point of triangle ``i`` to point ``i``.

    Parameters
    ----------
    points : (n, 3) float array
    triangles : (n, 3, 3) float array

    Returns
    -------
    barycentric : (n, 3) float array
    squared_distance : (n,) float array
    """
    # One contiguous row a coordinate: three times as fast as small vectors one by one.
    a, b, c = np.ascontiguousarray(triangles.transpose(1, 2, 0))
    u, v, w = b - a, c - a, points.T - a
    uu, uv, vv = _dot(u, u), _dot(u, v), _dot(v, v)
    wu, wv = _dot(w, u), _dot(w, v)
    # A point is a + s u + t v. Four candidates: the foot on the plane and one on each edge.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        determinant = uu * vv - uv * uv
        s = (vv * wu - uv * wv) / determinant
        t = (uu * wv - uv * wu) / determinant
        on_u, on_v = share_of_edge(wu, uu), share_of_edge(wv, vv)
        on_uv = share_of_edge(wv - wu + uu - uv, uu + vv - 2 * uv)
        inside = (s >= 0) & (t >= 0) & (s + t <= 1)  # False for NaN: a degenerate triangle
        # By how much the squared distance to each edge exceeds that to the first corner.
        by_u, by_v = on_u * (on_u * uu - 2 * wu), on_v * (on_v * vv - 2 * wv)
        rest = 1 - on_uv
        by_uv = rest * (rest * uu - 2 * wu) + on_uv * (on_uv * vv - 2 * wv + 2 * rest * uv)
    first, second = (by_u <= by_v) & (by_u <= by_uv), by_v <= by_uv
    edge_s = np.where(first, on_u, np.where(second, 0.0, rest))
    edge_t = np.where(first, 0.0, np.where(second, on_v, on_uv))
    edge_gap = w - edge_s * u - edge_t * v
    edge_distance = _dot(edge_gap, edge_gap)
    s, t = np.where(inside, s, 0), np.where(inside, t, 0)
    gap = w - s * u - t * v
    # In a sliver the determinant has few digits left: solve once more for what remains.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gu, gv = _dot(gap, u), _dot(gap, v)
        finer_s = s + (vv * gu - uv * gv) / determinant
        finer_t = t + (uu * gv - uv * gu) / determinant
        inside &= (finer_s >= 0) & (finer_t >= 0) & (finer_s + finer_t <= 1)
    s, t = np.where(inside, finer_s, 0), np.where(inside, finer_t, 0)
    gap = w - s * u - t * v
    distance = _dot(gap, gap)
    # In a sliver the foot on the plane may be off by more than the edges are away.
    inside &= distance <= edge_distance
    s, t = np.where(inside, s, edge_s), np.where(inside, t, edge_t)
    weights = np.stack([np.maximum(1 - s - t, 0), s, t], axis=1)
    return weights, np.where(inside, distance, edge_distance)


def _dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    products: FloatArray = x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
    return products


def share_of_edge(along: FloatArray, length: FloatArray) -> FloatArray:
    """Position along an edge, 0 to 1; 0 on an edge without length."""
    return np.clip(along / np.where(length > 0, length, np.inf), 0, 1)
