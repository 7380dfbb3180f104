"""Spikes: single vertices thrown far off the surface, as scanners and broken exports leave them.

A vertex is a spike if it stands on its ring of neighbours like a needle that nothing else on the
mesh explains. All three must hold, and none knows a unit:

- *sharp*: its edges are at least twice as long as the way round the ring;
- *alone*: they are at least twice as long as every other edge at the ring, so that the tip of a
  long limb of few triangles is none;
- *large*: they are longer than half the size of the shape, so that it matters.
"""

from __future__ import annotations

import numpy as np

from nho.geometry.mesh import BoolArray, FloatArray, IntArray, Mesh, trusted_mesh
from nho.geometry.mesh_measures import row_lengths

_SHARP = 2.0  # edge of a spike, over the way round its ring
_ALONE = 2.0  # over the longest other edge at the ring
_LARGE = 0.5  # over the size of the shape
_PASSES = 10  # spikes beside spikes show once the first are gone


def spikes(vertices: FloatArray, faces: IntArray) -> BoolArray:
    """(n,) whether a vertex is a spike of the triangles (m, 3)."""
    found = np.zeros(len(vertices), dtype=bool)
    if len(faces) == 0:
        return found
    used = np.zeros(len(vertices), dtype=bool)
    used[faces] = True
    size = robust_size(vertices[used])
    for _ in range(_PASSES):
        more = _spikes(vertices, faces, size)
        if not more.any():
            break
        found |= more
        faces = faces[~more[faces].any(axis=1)]
    return found


def without_spikes(mesh: Mesh) -> Mesh:
    """The mesh without the faces at its spikes; as it is if it has none."""
    found = spikes(mesh.vertices, mesh.faces)
    if not found.any():
        return mesh
    return trusted_mesh(mesh.vertices, mesh.faces[~found[mesh.faces].any(axis=1)], mesh.name)


def robust_size(points: FloatArray) -> float:
    """About the diameter of a shape, whatever a minority of its (n, 3) points does."""
    away = _lengths(points - np.median(points, axis=0))
    return 2 * float(np.median(away))


def _spikes(vertices: FloatArray, faces: IntArray, size: float) -> BoolArray:
    """One pass: those that show beside the ones still there."""
    # Side k lies opposite to corner k.
    ends = np.roll(faces, 1, axis=1), np.roll(faces, 2, axis=1)
    sides = np.stack(
        [_lengths(vertices[start] - vertices[end]) for start, end in zip(ends[0].T, ends[1].T)],
        axis=1,
    )
    none = np.zeros(len(vertices), dtype=bool)
    if not (sides.max(initial=0.0) > _LARGE * size):
        return none
    n = len(vertices)
    count = np.bincount(faces.ravel(), minlength=n)
    # Not all of them: some of the neighbours may be spikes too.
    edge = _lower_quarter(
        np.concatenate([faces, faces]).ravel(),
        np.concatenate([np.roll(sides, 1, axis=1), np.roll(sides, 2, axis=1)]).ravel(),
        n,
    )
    ring = count * _lower_quarter(faces.ravel(), sides.ravel(), n)
    sharp = (edge > _LARGE * size) & (edge >= _SHARP * ring)
    if not sharp.any():
        return none
    # The longest edge at every vertex, and then around it, that does not lead to a sharp one.
    other = np.where(sharp[ends[0]] | sharp[ends[1]], 0.0, sides)
    longest = np.zeros(n)
    for end in ends:
        np.maximum.at(longest, end, other)
    beside = np.zeros(n)
    np.maximum.at(beside, faces, longest[faces].max(axis=1)[:, None])
    found: BoolArray = sharp & (beside > 0) & (edge >= _ALONE * beside)
    # A fan of needles is a shape of its own.
    if found[faces].any(axis=1).all():
        return none
    return found


def _lengths(steps: FloatArray) -> FloatArray:
    """(n,) lengths of (n, 3) vectors; their squares do not overflow."""
    scale = float(np.abs(steps).max(initial=0.0)) or 1.0
    return row_lengths(steps / scale) * scale


def _lower_quarter(vertex: IntArray, values: FloatArray, n: int) -> FloatArray:
    """(n,) the value at every vertex that a quarter of its values lie below; 0 without values."""
    order = np.lexsort((values, vertex))
    count = np.bincount(vertex, minlength=n)
    middle = np.cumsum(count) - count + (count - 1) // 4
    quarters = np.zeros(n)
    used = count > 0
    quarters[used] = values[order][middle[used]]
    return quarters
