"""Cut polygons that are not convex into triangles, by ears, many polygons at a time.

An ear is a corner whose triangle with its two neighbours holds no other corner. Cutting ears off
one by one leaves the surface of the polygon exactly, where a fan would cover what lies outside.
"""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# In units of the polygon's own extent and area.
_FOLDED = 1e-7  # a triangle of a fan that is turned over by more than this is no rounding error
_FLAT = 1e-12  # doubled area below which three corners lie on a line
_RETRIES = 10  # times that all ears of a polygon are looked for anew
_FLAT_LAST = 1e6  # what a flat ear costs; others cost the square of their cut


def folded_fans(points: FloatArray) -> tuple[BoolArray, FloatArray, BoolArray]:
    """Which fans are turned over somewhere, and the polygons in their best planes.

    Parameters
    ----------
    points : (g, k, 3) corners; shorter polygons are filled up with their first corner.

    Returns
    -------
    folded : (g,) bool; flat : (g, k, 2) float, anticlockwise; no_side : (g,) bool, polygons whose
    parts cancel, such as a figure of eight.
    """
    local = points - points[:, :1]
    extent = np.abs(local).max(axis=(1, 2), keepdims=True)
    local = local / np.where(extent > 0, extent, 1)
    crosses = np.cross(local[:, 1:-1], local[:, 2:])
    normal = crosses.sum(axis=1)  # Newell's: the plane that the polygon has most area in
    length = np.linalg.norm(normal, axis=1)
    no_side = length <= _FOLDED * np.linalg.norm(crosses, axis=2).sum(axis=1)
    unit = normal / np.where(length > 0, length, 1)[:, None]
    area = np.einsum("gkx,gx->gk", crosses, unit)
    folded = (area < -_FOLDED * length[:, None]).any(axis=1)
    # Any direction that is not along the normal makes a basis of the plane with it.
    across = np.cross(unit, np.eye(3)[np.abs(unit).argmin(axis=1)])
    across /= np.maximum(np.linalg.norm(across, axis=1), np.finfo(float).tiny)[:, None]
    plane = np.stack([across, np.cross(unit, across)], axis=2)
    return folded, local @ plane, no_side & (np.abs(crosses).max(axis=(1, 2)) > 0)


def crossing(flat: FloatArray) -> BoolArray:
    """(g,) whether two sides of a polygon (g, k, 2) cross; touching is no crossing."""
    start, end = flat, np.roll(flat, -1, axis=1)
    found = np.zeros(len(flat), dtype=bool)
    for side in range(flat.shape[1]):
        a, b = start[:, side, None], end[:, side, None]
        apart = _sign(_doubled(a, b, start)) * _sign(_doubled(a, b, end)) < 0
        apart &= _sign(_doubled(start, end, a)) * _sign(_doubled(start, end, b)) < 0
        found |= apart.any(axis=1)
    return found


def clip_ears(flat: FloatArray, counts: IntArray) -> tuple[IntArray, BoolArray]:
    """Cut polygons into triangles.

    Parameters
    ----------
    flat : (g, k, 2) corners, anticlockwise, the first ``counts`` (g,) of each row.

    Returns
    -------
    triangles : (g, k - 2, 3) corners of each row, the first ``counts - 2`` of them.
    done : (g,) bool; False where no ear was left.
    """
    return _Clipping(flat, counts).run()


class _Clipping:
    """Polygons on the way to triangles.

    Attributes
    ----------
    left : (g, k) bool, corners that are not cut off yet.
    before, after : (g, k) int, their neighbours.
    cost : (g, k) float, of cutting a corner off; infinite if it is no ear.
    """

    def __init__(self, flat: FloatArray, counts: IntArray) -> None:
        g, k = flat.shape[:2]
        self.flat, self.counts = flat, counts
        self.rows = np.arange(g)
        corner = np.broadcast_to(np.arange(k), (g, k))
        self.left = corner < counts[:, None]
        self.before = np.where(corner == 0, counts[:, None] - 1, corner - 1)
        self.after = np.where(corner + 1 >= counts[:, None], 0, corner + 1)
        self.cost = np.full((g, k), np.inf)
        self.retries = np.zeros(g, dtype=np.int64)

    def run(self) -> tuple[IntArray, BoolArray]:
        g, k = self.left.shape
        triangles = np.zeros((g, k - 2, 3), dtype=np.int64)
        stuck = np.zeros(g, dtype=bool)
        self._look_anew(self.rows)
        for step in range(k - 2):
            rows = np.flatnonzero((self.counts - 2 > step) & ~stuck)
            again = rows[np.isinf(self.cost[rows].min(axis=1)) & (self.retries[rows] < _RETRIES)]
            if len(again):  # a corner in the way may be gone, or no longer turn inwards
                self.retries[again] += 1
                self._look_anew(again)
            ear = self.cost[rows].argmin(axis=1)
            found = np.isfinite(self.cost[rows, ear])
            stuck[rows[~found]] = True
            rows, ear = rows[found], ear[found]
            a, c = self.before[rows, ear], self.after[rows, ear]
            triangles[rows, step] = np.column_stack([a, ear, c])
            self.left[rows, ear] = False
            self.cost[rows, ear] = np.inf
            self.after[rows, a], self.before[rows, c] = c, a
            for neighbour in (a, c):
                self.cost[rows, neighbour] = self._cost(rows, neighbour)
        return triangles, ~stuck

    def _look_anew(self, rows: IntArray) -> None:
        for corner in range(self.left.shape[1]):
            there = rows[self.left[rows, corner]]
            self.cost[there, corner] = self._cost(there, np.full(len(there), corner))

    def _cost(self, rows: IntArray, corner: IntArray) -> FloatArray:
        """(r,) cost of cutting off one corner in each of the rows."""
        a, b, c = (
            self.flat[rows, which][:, None]
            for which in (self.before[rows, corner], corner, self.after[rows, corner])
        )
        turn, cost = _doubled(a, b, c)[:, 0], ((a - c) ** 2).sum(axis=(1, 2))
        cost = np.where(turn > _FLAT, cost, cost + _FLAT_LAST)
        cost[turn < -_FLAT] = np.inf
        cost[self._blocked(rows, (a, b, c)) & (turn > _FLAT)] = np.inf
        return np.asarray(cost)

    def _blocked(self, rows: IntArray, ear: tuple[FloatArray, ...]) -> BoolArray:
        """(r,) whether another corner lies in a triangle, one in each of the rows."""
        a, b, c = ear
        at, inside = self.flat[rows], self.left[rows]
        for start, end in ((a, b), (b, c), (c, a)):
            inside &= _doubled(start, end, at) >= -_FLAT
        row, corner = np.nonzero(inside)
        # Not its own corners, nor what lies there too: bridges to holes go there and back.
        point = at[row, corner]
        other = np.ones(len(row), dtype=bool)
        for own in ear:
            other &= (point != own[row, 0]).any(axis=1)
        blocked = np.zeros(len(rows), dtype=bool)
        blocked[row[other]] = True
        return blocked


def _doubled(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """Doubled areas of triangles (..., 2), positive if they run anticlockwise."""
    along, towards = b - a, c - a
    areas: FloatArray = along[..., 0] * towards[..., 1] - along[..., 1] * towards[..., 0]
    return areas


def _sign(areas: FloatArray) -> npt.NDArray[np.int8]:
    return (areas > _FLAT).astype(np.int8) - (areas < -_FLAT)
