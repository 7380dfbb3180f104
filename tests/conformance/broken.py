"""Classes of arrays that are no surface: every one is refused."""

from __future__ import annotations

import numpy as np

from tests.conformance.given import PIECE, REFUSED, WHOLE, Case, Given, same_order

V, F = PIECE.mesh.vertices, PIECE.mesh.faces
N = len(V)


def _partial(vertices, faces) -> Given:
    return Given(partial=same_order(vertices, faces, N))


def _at(index: int, value: float) -> Given:
    vertices = V.copy()
    vertices[index, 1] = value
    return _partial(vertices, F)


def _index(value: int) -> Given:
    faces = F.copy()
    faces[11, 2] = value
    return _partial(V, faces)


def _line(full: bool) -> Given:
    """Shrunk to a line: faces with corners but without area."""
    vertices = (WHOLE.vertices if full else V) * [1.0, 0, 0]
    if full:
        return Given(full=same_order(vertices, WHOLE.faces, len(vertices)))
    return _partial(vertices, F)


def _all_repeated() -> Given:
    return _partial(V, F[:, [0, 0, 1]])


def _ragged() -> Given:
    return _partial(V, [[0, 1, 2], [0, 1, 2, 3]])


def _refused(name, make, *words, told, **more) -> Case:
    return Case(name, REFUSED, make, words, told, **more)


BROKEN = (
    _refused(
        "NaN coordinate",
        lambda: _at(17, np.nan),
        "vertex 17 is",
        "not finite; remove it or re-export",
        told="the first such vertex is named; remove it",
    ),
    _refused(
        "infinite coordinate",
        lambda: _at(17, np.inf),
        "vertex 17 is",
        "not finite; remove it or re-export",
        told="likewise",
    ),
    _refused(
        "coordinates too large",
        lambda: _at(17, 1e160),
        "vertex 17 is",
        "too large to compute areas with",
        "another unit",
        told="above 1e151 areas overflow; the vertex is named; correct it or choose another unit",
    ),
    _refused(
        "coordinates too small",
        lambda: _partial(V * 1e-170, F),
        "coordinates up to",
        "too small to compute areas with; give the mesh in another unit",
        told="below 1e-146 areas vanish; choose another unit",
    ),
    _refused(
        "index out of range",
        lambda: _index(N),
        f"face 11 refers to vertex {N}",
        f"there are {N} vertices",
        "re-export",
        told="face, index and number of vertices are named; re-export",
    ),
    _refused(
        "negative index",
        lambda: _index(-1),
        "face 11 refers to vertex -1",
        "re-export",
        told="likewise",
    ),
    _refused(
        "partial shape without area",
        lambda: _line(False),
        "its area is zero",
        "give a surface",
        told="all corners on a line; give a surface",
    ),
    _refused(
        "full shape without area",
        lambda: _line(True),
        "its area is zero",
        "give a surface",
        told="likewise",
        culprit="full",
    ),
    _refused(
        "only faces with repeated corners",
        _all_repeated,
        f"all {len(F)} faces have a repeated vertex",
        "re-export",
        told="no surface is left; re-export",
    ),
    _refused(
        "no faces",
        lambda: _partial(V, np.zeros((0, 3), dtype=int)),
        "there are no faces",
        "make a surface of the points with Mesh.from_points",
        told="give triangles; points alone are joined to a surface by `Mesh.from_points`",
    ),
    _refused(
        "fewer than three vertices",
        lambda: _partial(V[:2], np.array([[0, 1, 1]])),
        "there are 2 vertices",
        "check what was exported",
        told="check what was exported",
    ),
    _refused(
        "vertices of two coordinates",
        lambda: _partial(V[:, :2], F),
        f"shape ({N}, 2)",
        "give x, y, z",
        told="give x, y, z",
        arrays_only=True,
    ),
    _refused(
        "vertices that are no numbers",
        lambda: _partial([["a", "b", "c"]] * N, F),
        "not an array of real numbers",
        "give shape (n, 3)",
        told="give an (n, 3) array",
        arrays_only=True,
    ),
    _refused(
        "faces of four columns",
        lambda: _partial(V, np.column_stack([F, F[:, 0]])),
        f"shape ({len(F)}, 4)",
        "triangulate first",
        told="triangulate first (files with quads are split)",
        arrays_only=True,
    ),
    _refused(
        "faces of different lengths",
        _ragged,
        "the faces are not one array",
        "give triangles",
        told="give triangles, an (m, 3) array",
        arrays_only=True,
    ),
    _refused(
        "faces with decimals",
        lambda: _partial(V, F + 0.5),
        "face 0 is",
        "not three whole numbers; give vertex indices",
        told="the face is named; give vertex indices",
        arrays_only=True,
    ),
)
