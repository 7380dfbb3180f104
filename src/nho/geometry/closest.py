"""Closest surface points that also face the right way and look alike."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from nho.geometry.mesh import FloatArray, IntArray, Mesh
from nho.geometry.surface import SurfacePoints, closest_on_triangles

_ALIKE = 1e-5  # squared distances, in squared edges, that single precision may confuse


class FacingSearch:
    """Closest points on a surface among triangles with a similar normal, and similar relief.

    Where two sheets lie close together (fingers, an arm at the body) the nearest point may be on
    the wrong one. A triangle's normal therefore counts as three more coordinates, times
    ``normal_weight`` (a length; 0 = plain closest points), and so may its relief. The triangles
    tried are the ``tried`` nearest by centre, which is exact enough for triangles of similar size.

    Parameters
    ----------
    curvatures : (n, s) float array, optional
        Further coordinates of every vertex of the surface, in units of length.
    """

    def __init__(
        self,
        mesh: Mesh,
        normal_weight: float = 0.0,
        tried: int = 8,
        curvatures: np.ndarray | None = None,
    ) -> None:
        self._mesh = mesh
        self._weight = normal_weight
        self._tried = min(tried, mesh.n_faces)
        corners = mesh.vertices[mesh.faces]
        self._gaps = _Gaps(corners)
        of_faces = None if curvatures is None else curvatures[mesh.faces].mean(axis=1)
        further = self._further(mesh.face_normals, of_faces)
        self._tree = cKDTree(np.concatenate([corners.mean(axis=1), *further], axis=1))
        self._rows = None
        if further:
            rows = np.concatenate(further, axis=1).T / self._gaps.unit
            self._rows = np.ascontiguousarray(rows, dtype=np.float32)

    def __call__(
        self,
        points: np.ndarray,
        normals: np.ndarray | None = None,
        curvatures: np.ndarray | None = None,
    ) -> tuple[SurfacePoints, FloatArray]:
        """Closest points for (n, 3) points with unit normals, and their (n, 3) positions."""
        return self.among(self.candidates(points, normals, curvatures), points, normals, curvatures)

    def candidates(
        self,
        points: np.ndarray,
        normals: np.ndarray | None = None,
        curvatures: np.ndarray | None = None,
    ) -> IntArray:
        """(n, tried) triangles worth trying; they serve while the points move little."""
        coordinates = np.concatenate([points, *self._further(normals, curvatures)], axis=1)
        return self._tree.query(coordinates, k=self._tried)[1].reshape(len(points), -1)

    def among(
        self,
        faces: np.ndarray,
        points: np.ndarray,
        normals: np.ndarray | None = None,
        curvatures: np.ndarray | None = None,
    ) -> tuple[SurfacePoints, FloatArray]:
        """The same among (n, tried) given triangles."""
        gaps = self._gaps(faces, points)
        further = self._further(normals, curvatures)
        if further and self._rows is not None:
            own = np.concatenate(further, axis=1).T / self._gaps.unit
            away = self._rows.take(faces, axis=1)
            away -= own.astype(np.float32)[:, :, None]
            away *= away
            for row in away:
                gaps += row
        every, first = np.arange(len(points)), gaps.argmin(axis=1)
        best, least = faces[every, first], gaps[every, first]
        weights, squares = self._on(best, points)
        # Single precision takes some others for as near: these are looked at in double.
        near = gaps - least[:, None] < _ALIKE * (1 + least[:, None])
        rows, columns = np.nonzero(near & (faces != best[:, None]))
        others = faces[rows, columns]
        other_weights, other_squares = self._on(others, points[rows])
        order = np.lexsort((other_squares, rows))
        nearest = order[np.unique(rows[order], return_index=True)[1]]
        nearest = nearest[other_squares[nearest] < squares[rows[nearest]]]
        best[rows[nearest]], weights[rows[nearest]] = others[nearest], other_weights[nearest]
        found = SurfacePoints(best, weights)
        return found, found.positions(self._mesh)

    def _on(self, faces: np.ndarray, points: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Weights and squared distances of points on (n,) triangles closest to (n, 3) points."""
        return closest_on_triangles(points, self._mesh.vertices[self._mesh.faces[faces]])

    def _further(
        self, normals: np.ndarray | None, curvatures: np.ndarray | None
    ) -> list[np.ndarray]:
        """Normals and relief as coordinates beside the position."""
        facing = [self._weight * normals] if self._weight and normals is not None else []
        return facing if curvatures is None else [*facing, curvatures]


class _Gaps:
    """Squared distances from points to triangles: enough to choose one, and quick.

    The same four candidates as in `closest_on_triangles`, in scalar products alone, one
    contiguous row a coordinate. Single precision is enough for a choice, once the difference of
    the positions is known.

    Attributes
    ----------
    unit : float
        Length that distances are given in, about that of an edge.
    """

    def __init__(self, corners: FloatArray) -> None:
        a, b, c = corners.transpose(1, 2, 0)
        u, v = b - a, c - a
        self.unit = float(np.sqrt(_dot(u, u).mean())) or 1.0
        u, v = u / self.unit, v / self.unit
        uu, uv, vv = _dot(u, u), _dot(u, v), _dot(v, v)
        with np.errstate(divide="ignore", over="ignore"):
            inverse = 1 / (uu * vv - uv * uv)
            rows = [*u, *v, uu, uv, vv, inverse, *map(_inverse, (uu, vv, uu + vv - 2 * uv))]
            self._table = np.array(rows, dtype=np.float32)
        self._start = np.ascontiguousarray(a / self.unit)

    def __call__(self, faces: IntArray, points: FloatArray) -> np.ndarray:
        """(n, k) for (n, k) triangles and (n, 3) points."""
        flat = faces.ravel()
        away = np.repeat(points.T / self.unit, faces.shape[1], axis=1)
        w = (away - self._start.take(flat, axis=1)).astype(np.float32)
        table = self._table.take(flat, axis=1)
        uu, uv, vv, inverse, by_uu, by_vv, by_third = table[6:]
        ww, wu, wv = _dot(w, w), _dot(w, table[:3]), _dot(w, table[3:6])
        with np.errstate(invalid="ignore", over="ignore"):  # degenerate triangles: edges only
            s, t = (vv * wu - uv * wv) * inverse, (uu * wv - uv * wu) * inverse
            inside = (s >= 0) & (t >= 0) & (s + t <= 1)
            # In full, not by the normal equations: in a sliver s and t have few digits.
            foot = ww + s * (s * uu - 2 * wu) + t * (t * vv + 2 * (s * uv - wv))
        edge = np.minimum(_to_edge(ww, wu, uu, by_uu), _to_edge(ww, wv, vv, by_vv))
        third = _to_edge(ww - 2 * wu + uu, wv - wu - uv + uu, uu + vv - 2 * uv, by_third)
        edge = np.minimum(edge, third)
        return np.asarray(np.where(inside, np.fmin(foot, edge), edge).reshape(faces.shape))


def _inverse(length: np.ndarray) -> np.ndarray:
    """One over every squared length; 0 on an edge without length."""
    return np.where(length > 0, 1 / np.where(length > 0, length, 1.0), 0.0)


def _to_edge(
    square: np.ndarray, along: np.ndarray, length: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    """Squared distance to an edge, from that to its start and products with its direction."""
    share = np.clip(along * inverse, 0, 1)
    return np.asarray(square - share * (2 * along - share * length))


def _dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    products: np.ndarray = x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
    return products
