"""The qualitative figures in 3D: one HTML file that asks the network for nothing."""

from __future__ import annotations

import math
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from nho.errors import InputError
from nho.lab.bench.figures.cases import SUPPORT, TRUTH, Case, methods_of
from nho.report.scene import (
    VIEWER,
    drawn_part,
    drawn_shape,
    json_for_html,
    packaged_text,
    too_large,
)

_PAGE_BYTES = 13e6  # for shapes; the rest of the page is small
_SHAPE_BYTES = 40 + 4  # of a vertex: its place, two faces, its number, and colours by position
_COLOUR_BYTES = 3
_LEAST = 2000  # vertices of a shape, below which it would not be recognised


def render_gallery(cases: list[Case], title: str = "Gallery") -> str:
    """All cases as the text of one self-contained HTML file, to be rotated and compared.

    Returns
    -------
    str
        HTML; scripts, styles and geometry are inside it. Large meshes are shown as coarse ones.
    """
    if not cases:
        raise InputError("a gallery needs at least one case; none was given")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["score"] = _score
    most = _most_vertices(cases)
    meshes = [mesh for case in cases for mesh in (case.pair.partial, case.pair.full)]
    template = packaged_text("gallery.html.jinja", __package__)
    text = environment.from_string(template).render(
        title=title,
        style=Markup(packaged_text("style.css")),
        scripts=[
            *(Markup(packaged_text(name)) for name in VIEWER),
            Markup(packaged_text("gallery.js", __package__)),
        ],
        data=json_for_html([_scene(case, most) for case in cases]),
        cases=cases,
        methods=methods_of(cases),
        legend={name: "rgb({} {} {})".format(*colour) for name, colour in SUPPORT.items()},
        coarse=any(too_large(mesh, most) for mesh in meshes),
    )
    # A name need not be valid Unicode; the text of the page has to be.
    return text.encode("utf-8", "replace").decode("utf-8")


def _scene(case: Case, most: int) -> dict[str, Any]:
    """What the page draws of a case; colours are called by the number of their method."""
    partial, full = case.pair.partial, case.pair.full
    methods = (TRUTH, *case.results)
    anchors = np.asarray(case.anchors).reshape(-1, 2)
    of_full = {str(i): case.support(method) for i, method in enumerate(methods)}
    of_full["position"] = case.position_colours
    of_partial = {str(i): case.transferred(method) for i, method in enumerate(methods)}
    return {
        "methods": list(methods),
        "scores": ["", *(_words(case, method) for method in case.results)],
        "full": drawn_shape(full, drawn_part(full, anchors[:, 1], most), case.full_view, of_full),
        "partial": drawn_shape(
            partial, drawn_part(partial, anchors[:, 0], most), case.partial_view, of_partial
        ),
    }


def _words(case: Case, method: str) -> str:
    scores = case.scores[method]
    return f"IoU {_score(scores.iou, 1)} %, mean error {_score(scores.geodesic_error, 2)}"


def _score(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "–"


def _most_vertices(cases: list[Case]) -> int:
    """Vertices allowed a shape, so that all of them together keep the page small."""

    def size(case: Case, most: float) -> float:
        vertex = (_SHAPE_BYTES + _COLOUR_BYTES * (1 + len(case.results))) * 4 / 3  # in base64
        counts = (case.pair.partial.n_vertices, case.pair.full.n_vertices)
        return vertex * sum(min(count, most) for count in counts)

    most = 60_000.0
    while most > _LEAST and sum(size(case, most) for case in cases) > _PAGE_BYTES:
        most *= 0.9
    return int(max(most, _LEAST))
