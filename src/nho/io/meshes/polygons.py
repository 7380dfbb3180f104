"""What the readers share: whole numbers, polygons to triangles, equal points."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.io.meshes.ear_clipping import clip_ears, crossing, folded_fans

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Every whole number up to here is exact as a float64, which is how text files are parsed.
_EXACT = 2.0**53
# Cutting ears takes time by the square of the corners; beyond this, polygons stay fans.
_MOST_CORNERS = 1_000
_WORK, _WORK_PER_CORNER = 10**7, 50  # squares of corners for a file: about seconds, in proportion
_CORNERS_AT_ONCE = 200_000  # bounds the memory


def whole_numbers(values: npt.NDArray[Any]) -> IntArray | None:
    """The values as int64, or None if one is not a whole number that int64 can hold."""
    if values.dtype.kind == "u":
        return None if np.any(values > np.iinfo(np.int64).max) else values.astype(np.int64)
    if values.dtype.kind == "i":
        return values.astype(np.int64)
    if values.dtype.kind != "f":
        return None
    numbers = values.astype(np.float64)
    # A NaN fails the first comparison, so the cast below never sees one.
    if not np.all(np.abs(numbers) <= _EXACT) or np.any(numbers != np.floor(numbers)):
        return None
    return numbers.astype(np.int64)


def ragged(flat: npt.NDArray[Any], starts: IntArray, counts: IntArray) -> npt.NDArray[Any]:
    """Concatenate `flat[starts[i] : starts[i] + counts[i]]` over all i."""
    begin_in_result = np.cumsum(counts) - counts
    return flat[np.repeat(starts - begin_in_result, counts) + np.arange(int(counts.sum()))]


@dataclass(frozen=True, eq=False)
class Triangles:
    """Polygons of a file cut into triangles, in the order of the file.

    Attributes
    ----------
    faces : (m, 3) int, vertices.
    polygon : (m,) int, the polygon that every triangle comes from.
    corners : (m, 3) int, its corners, counted through all polygons.
    notes : a sentence on polygons that could not be cut well.
    """

    faces: IntArray
    polygon: IntArray
    corners: IntArray
    notes: tuple[str, ...]


def triangulate(
    corners: npt.NDArray[np.generic], counts: IntArray, vertices: FloatArray, name: str
) -> Triangles:
    """Cut polygons into triangles after checking every index.

    A polygon with k corners gives k - 2 triangles: the fan around its first corner, or, where that
    would fold over itself, triangles cut off as ears.

    Parameters
    ----------
    corners : (counts.sum(),) vertex indices of all polygons, one after the other, 0-based.
    counts : (p,) corners of every polygon.
    vertices : (n, 3) what the indices refer to.
    name : file name for messages.
    """
    if len(counts) == 0:
        raise InputError(
            f"{name}: there are no faces, only {len(vertices)} points; export triangles, "
            "or the points alone as .ply or .xyz"
        )
    if counts.min() < 3:
        face = int(np.argmax(counts < 3))
        raise InputError(
            f"{name}: face {face} has {int(counts[face])} corners, at least 3 are needed; "
            "remove it or re-export the mesh"
        )
    indices = whole_numbers(corners)
    if indices is None:
        raise InputError(f"{name}: a vertex index is not a whole number; re-export the mesh")
    check_range(indices, len(vertices), name, np.cumsum(counts) - counts)
    polygon, triangles = fans(counts)
    failed = _unfold(triangles, counts, vertices, indices)
    notes: tuple[str, ...] = ()
    if len(failed):
        what = "1 polygon" if len(failed) == 1 else f"{len(failed)} polygons"
        notes = (
            f"{what} with sides that cross, or with too many corners, became plain fans of "
            f"triangles (first: face {failed.min()}), whose surface may be wrong; triangulate the "
            "mesh before",
        )
    return Triangles(indices[triangles], polygon, triangles, notes)


def _unfold(
    triangles: IntArray, counts: IntArray, vertices: FloatArray, indices: IntArray
) -> IntArray:
    """Replace the fans that fold over themselves; returns the polygons where that failed."""
    failed = [np.flatnonzero(counts > _MOST_CORNERS)]
    work = 0
    start, row = np.cumsum(counts) - counts, np.cumsum(counts - 2) - (counts - 2)
    width = 4  # polygons of similar size are cut together, filled up with their first corner
    while width // 2 < min(int(counts.max()), _MOST_CORNERS):
        alike = np.flatnonzero((counts > max(width // 2, 3)) & (counts <= width))
        alike = alike[counts[alike] <= _MOST_CORNERS]
        for block in np.array_split(alike, 1 + len(alike) * width // _CORNERS_AT_ONCE):
            step = np.arange(width)
            at = start[block, None] + np.where(step < counts[block, None], step, 0)
            folded, flat, no_side = folded_fans(vertices[indices[at]])
            failed.append(block[no_side])
            chosen = np.flatnonzero(folded & ~no_side)
            work += len(chosen) * width * width
            if work > _WORK + _WORK_PER_CORNER * len(indices):
                failed.append(block[chosen])
                continue
            crossed = crossing(flat[chosen])
            failed.append(block[chosen[crossed]])
            chosen = chosen[~crossed]
            if len(chosen) == 0:
                continue
            own = counts[block[chosen]]
            ears, done = clip_ears(flat[chosen], own)
            failed.append(block[chosen[~done]])
            taken = done[:, None] & (np.arange(width - 2) < own[:, None] - 2)
            into = row[block[chosen], None] + np.arange(width - 2)
            triangles[into[taken]] = (start[block[chosen], None, None] + ears)[taken]
        width *= 2
    return np.concatenate(failed)


def fans(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Cut polygons with these numbers of corners, all 3 or more, into fans of triangles.

    Returns
    -------
    polygon : (m,) int, the polygon that every triangle comes from.
    corners : (m, 3) int, its corners, counted through all polygons.
    """
    triangles = counts - 2
    polygon = np.repeat(np.arange(len(counts)), triangles)
    step = np.arange(len(polygon)) - (np.cumsum(triangles) - triangles)[polygon]
    first = (np.cumsum(counts) - counts)[polygon]
    return polygon, np.column_stack([first, first + 1 + step, first + 2 + step])


def lengths_of(offsets: IntArray | None, n_corners: int, name: str) -> IntArray:
    """Corners of every cell from offsets 0, ..., n_corners."""
    # Offsets are compared and not subtracted: differences of 64-bit extremes wrap around, and
    # np.repeat writes beyond its memory when the sum of its counts does.
    if offsets is None or (
        len(offsets)
        and (offsets[0] != 0 or offsets[-1] != n_corners or np.any(offsets[1:] < offsets[:-1]))
    ):
        raise InputError(f"{name}: the cell offsets do not fit the corners; re-export the mesh")
    return np.diff(offsets)


def check_range(indices: IntArray, n_vertices: int, name: str, begin: IntArray) -> None:
    """Refuse indices outside 0..n_vertices-1, naming the first face (`begin` of its corners)."""
    if indices.min() >= 0 and indices.max() < n_vertices:
        return
    at = int(np.argmax((indices < 0) | (indices >= n_vertices)))
    face = int(np.searchsorted(begin, at, side="right")) - 1
    raise InputError(
        f"{name}: face {face} refers to vertex {int(indices[at])} but there are {n_vertices} "
        f"vertices (0-{n_vertices - 1}); re-export the mesh"
    )


def equal_points(points: FloatArray) -> tuple[IntArray, IntArray]:
    """Group points whose coordinates are exactly equal (0.0 and -0.0 are the same number).

    Parameters
    ----------
    points : (n, 3) float

    Returns
    -------
    first : (k,) int, the first point of every group, ascending.
    group : (n,) int, the group of every point; groups are numbered by first appearance.
    """
    # Sorting brings equal points together; the sort is stable, so the first of a run is the
    # earliest point of its group.
    order = np.lexsort(points.T[::-1])
    ordered = points[order]
    new_run = np.ones(len(points), dtype=bool)
    new_run[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    run_of_point = np.empty(len(points), dtype=np.int64)
    run_of_point[order] = np.cumsum(new_run) - 1
    first_of_run = order[new_run]
    appearance = np.argsort(first_of_run)
    group_of_run = np.empty(len(appearance), dtype=np.int64)
    group_of_run[appearance] = np.arange(len(appearance))
    return first_of_run[appearance].astype(np.int64), group_of_run[run_of_point]
