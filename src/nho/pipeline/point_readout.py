"""Points alone are read off the template bent onto them.

The surface through points is a guess: where sheets lie as near as points do, it joins some of them
and turns parts inside out. The template's surface is known. Bent onto the points by the map found,
it corrects the map where the guess was wrong, and every point goes to what is nearest on it.
"""

from __future__ import annotations

from dataclasses import replace

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import project
from nho.problem.result import MatchResult
from nho.transfer.fit import fit_template


def read_off_template(result: MatchResult, partial: Mesh, full: Mesh) -> MatchResult:
    """The result with the partners that points have on the bent template, where they had any."""
    try:
        bent = fit_template(result, partial, full).mesh
    except InputError:  # too little was matched to bend anything
        return result
    points = project(bent, partial.vertices)[0].where(result.points.face >= 0)
    return replace(
        result,
        vertex_map=points.nearest_vertex(full),
        face=points.face,
        barycentric=points.barycentric,
    )
