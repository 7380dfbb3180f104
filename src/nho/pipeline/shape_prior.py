"""A shape space helps a match: the template is first bent to what the space expects of the scan.

A template is matched, and fitted to what it found. The shape space sees what of the fit was
measured, and expects a whole shape: the same vertices, nearer to the scanned individual. That is
matched instead. Its map is taken if it stretches the scan less: no truth is needed for that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.problem.result import MatchResult
from nho.shapes.prior import estimate_from_fit
from nho.shapes.space import ShapeSpace
from nho.transfer import fit_template

_LESS = 0.95  # of the stretch: so little must be left for the expected shape to be taken


def with_prior(
    first: MatchResult,
    meshes: tuple[Mesh, Mesh],
    space: ShapeSpace,
    rematch: Callable[[Mesh], MatchResult],
) -> MatchResult:
    """The first result, or the one with the expected template if that stretches the scan less.

    Parameters
    ----------
    rematch : callable
        Matches the partial shape to another template with the same vertices.
    """
    partial, full = meshes
    about = f"the shape space of {len(space.names)} shapes"
    if space.validation.hidden_error.mean(axis=0).argmin() == 0:
        note = f"{about} was not used: its components predict no unseen shape better than none do"
        return replace(first, notes=(*first.notes, note))
    try:
        expected = expected_template(first, partial, full, space)
    except InputError as problem:  # too little was matched to fit anything
        return replace(first, notes=(*first.notes, f"the shape space was not used: {problem}"))
    second = rematch(expected)
    before, after = stretch(first, partial, full), stretch(second, partial, expected)
    if not (after < _LESS * before and second.chance >= _LESS * first.chance):
        note = f"{about} was not used: the shape it expects is no easier to match than the template"
        return replace(first, notes=(*first.notes, note))
    note = (
        f"matched to the shape that {about} expects: it stretches edges by {100 * after:.1f} %, "
        f"the template by {100 * before:.1f} %"
    )
    return replace(
        second,
        vertex_map=second.points.nearest_vertex(full),
        anchors=first.anchors,
        anchor_names=first.anchor_names,
        suspect_anchors=first.suspect_anchors,
        scale=first.scale,
        alternatives=first.alternatives,
        notes=(*first.notes, note),
        warnings=first.warnings,
        meshes=meshes,
    )


def expected_template(result: MatchResult, partial: Mesh, full: Mesh, space: ShapeSpace) -> Mesh:
    """The template as the space expects it for this scan, with the vertices and faces it had."""
    fit = fit_template(result, partial, full)
    found = estimate_from_fit(space, result, partial, full, fit)
    return full.moved(found.positions * result.scale)


def stretch(result: MatchResult, partial: Mesh, full: Mesh) -> float:
    """Median |log ratio| of the lengths of edges of the scan and of their images on a template.

    Apart from size: a larger individual is not stretched. Infinite where nothing is matched.
    """
    matched = result.face >= 0
    edges = partial.edges[matched[partial.edges].all(axis=1)]
    images = result.points.positions(full)
    before, after = (
        np.linalg.norm(at[edges[:, 0]] - at[edges[:, 1]], axis=1)
        for at in (partial.vertices, images)
    )
    there = (before > 0) & (after > 0)
    if not there.any():
        return float("inf")
    ratio = np.log(after[there] / before[there])
    return float(np.median(np.abs(ratio - np.median(ratio))))
