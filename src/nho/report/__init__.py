"""The report of a match: one HTML file that shows everything and asks the network for nothing."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.spikes import without_spikes
from nho.io.attributes import Attributes
from nho.problem.result import HAS_PARTNER, MatchResult
from nho.report.colours import (
    NO_PARTNER,
    REGION_INSIDE,
    REGION_OUTSIDE,
    ViewColours,
    scalar_colours,
    view_colours,
)
from nho.report.curves import charts
from nho.report.own_look import SIDES, own_colours, packed_texture, with_own_colours
from nho.report.scene import VIEWER, json_for_html, packaged_text, too_large, viewer_data

__all__ = ["key_figures", "render_report"]


def render_report(
    partial: Mesh,
    full: Mesh,
    result: MatchResult,
    metrics: Mapping[str, object] | None = None,
    colours: ViewColours | None = None,
    *,
    brief: bool = False,
    most: int | None = None,
    files: tuple[Attributes, Attributes] | None = None,
) -> str:
    """The report of a match as the text of one self-contained HTML file.

    Parameters
    ----------
    partial, full : Mesh
        The meshes that were matched, in the vertex order of ``result``.
    metrics : mapping, optional
        More values to show, by name.
    colours : dict, optional
        What `view_colours` returned for this match, if that is known already.
    brief : bool
        Only the key figures, the 3D view and warnings.
    most : int, optional
        Vertices of the largest mesh that is drawn as a whole.
    files : (Attributes, Attributes), optional
        What the files of both meshes hold: their colours and textures can then be looked at.

    Returns
    -------
    str
        HTML; scripts, styles and geometry are inside it.
    """
    _check(partial, full, result)
    colours = colours or view_colours(full, result)
    sizes = len(partial.vertices), len(full.vertices)
    data = viewer_data(partial, full, result, with_own_colours(colours, files, sizes), most)
    if files is not None:
        for side, mesh, attributes in zip(SIDES, (partial, full), files, strict=True):
            if not too_large(mesh, most):
                data[side]["texture"] = packed_texture(mesh, attributes)
    seen = files is not None and any(
        own_colours(attributes) is not None or data[side].get("texture")
        for side, attributes in zip(SIDES, files, strict=True)
    )
    text = _template().render(
        style=Markup(packaged_text("style.css")),
        scripts=[Markup(packaged_text(name)) for name in (*VIEWER, "viewer.js")],
        data=json_for_html(data),
        as_scanned=seen,
        in_part=[mesh.name for mesh in (partial, full) if too_large(mesh, most)],
        brief=brief,
        partial=partial,
        full=full,
        result=result,
        numbers=key_figures(partial, full, result),
        charts=charts(result.curves),
        settings=result.settings.flat(),
        timings=_timings(result),
        metrics=metrics or {},
        suspects=[
            (result.anchor_name(row), *map(int, result.anchors[row]))
            for row in sorted(result.suspect_anchors)
        ],
        scale=_css_gradient(),
        inside=_css_colour(REGION_INSIDE),
        outside=_css_colour(REGION_OUTSIDE),
        no_partner=_css_colour(NO_PARTNER),
    )
    # The name of a file need not be valid Unicode; the text of the report has to be.
    return text.encode("utf-8", "replace").decode("utf-8")


@functools.cache  # compiling it takes as long as all the rest of a small page
def _template() -> jinja2.Template:
    """The page without its content."""
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["number"] = _number
    return environment.from_string(packaged_text("template.html.jinja"))


def _check(partial: Mesh, full: Mesh, result: MatchResult) -> None:
    """Raise unless the result can belong to these meshes."""
    result.check_meshes(partial, full)
    for row in result.suspect_anchors:
        if not 0 <= row < len(result.anchors):
            raise InputError(
                f"suspect anchor {row} is not one of the {len(result.anchors)} anchors of the "
                "result; rows count from 0"
            )
    if not -1 <= result.next_anchor < len(partial.vertices):
        raise InputError(
            f"{partial.name}: next anchor {result.next_anchor} is not one of its "
            f"{len(partial.vertices)} vertices; indices count from 0"
        )


def key_figures(partial: Mesh, full: Mesh, result: MatchResult) -> dict[str, Any]:
    """The figures of the overview; None where there are none."""
    summary = result.summary()
    n_matched, n_partial = summary["matched_vertices"], summary["partial_vertices"]
    # A vertex stands for a third of each face around it, hence a face for its share of corners.
    surface = without_spikes(full)
    covered = surface.face_areas @ result.region[surface.faces].mean(axis=1)
    scan = without_spikes(partial)
    alone = scan.face_areas @ (result.overlap < HAS_PARTNER)[scan.faces].mean(axis=1)
    return {
        "partial_vertices": len(partial.vertices),
        "partial_faces": len(partial.faces),
        "full_vertices": len(full.vertices),
        "full_faces": len(full.faces),
        "anchors": len(result.anchors),
        "matched": n_matched / n_partial if n_partial else None,
        "no_partner": float(alone / scan.area) if scan.area > 0 else None,
        "region": float(covered / surface.area) if surface.area > 0 else None,
        "confidence": summary["mean_confidence"] if n_matched else None,
    }


def _timings(result: MatchResult) -> list[tuple[str, float, float]]:
    """(stage, seconds, share of the longest) rows."""
    longest = max(result.timings.values(), default=0.0)
    return [
        (stage, seconds, seconds / longest if longest > 0 else 0.0)
        for stage, seconds in result.timings.items()
    ]


def _number(value: Any) -> str:
    """A number as people read it; anything else as its text."""
    if value is None:
        return "–"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{int(value):,}"
    if isinstance(value, float | np.floating):
        return f"{float(value):.4g}"
    return str(value)


def _css_gradient() -> str:
    stops = scalar_colours(np.linspace(0, 1, 16))
    return f"linear-gradient(to right, {', '.join(map(_css_colour, stops))})"


def _css_colour(colour: Any) -> str:
    red, green, blue = map(int, colour)
    return f"rgb({red} {green} {blue})"
