"""Where one shape is points alone, the map is read off the template bent onto the scan.

A surface through points is a guess: where sheets lie as near as points do, it joins some of them
and turns parts inside out, and the map follows. Bending the template by that map brings the surface
of the other shape in: every point of the scan then goes to what is nearest, whatever its normal
says, unless that is far from where it was: where the scan touches itself, it may be another part.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nho.errors import InputError
from nho.geometry.closest import FacingSearch
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.problem.result import MatchResult
from nho.transfer.fit import fit_template

_MOST = 50_000  # points: beyond, sheets are farther apart than points, and bending takes long
_FARTHEST = 5.0  # mean edges of the full shape that a partner may move


def read_off_template(result: MatchResult, partial: Mesh, full: Mesh) -> MatchResult:
    """The result with the partners that points have on the bent template, where they had any."""
    guessed = partial.of_points or full.of_points
    if not guessed or max(partial.n_vertices, full.n_vertices) > _MOST:
        return result
    try:
        bent = fit_template(result, partial, full).mesh
    except InputError:  # too little was matched to bend anything
        return result
    nearest, _ = FacingSearch(bent)(partial.vertices)
    moved = nearest.positions(full) - result.points.positions(full)  # NaN without a partner
    taken = np.linalg.norm(moved, axis=1) <= _FARTHEST * full.mean_edge_length
    face = np.where(taken, nearest.face, result.face)
    barycentric = np.where(taken[:, None], nearest.barycentric, result.barycentric)
    vertex_map = SurfacePoints(face, barycentric).nearest_vertex(full)
    return replace(result, vertex_map=vertex_map, face=face, barycentric=barycentric)
