"""`shapes.html`: the mean in 3D with a slider for each component, scores, variance, scans."""

from __future__ import annotations

from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from nho.report.scene import VIEWER, drawn_part, drawn_shape, json_for_html, packaged_text, packed
from nho.report.views import first_view, frame
from nho.shapes.collection import Judgement, ScanFit
from nho.shapes.space import ShapeSpace

_SLIDERS = 6  # components that can be moved
_MOST = 15_000  # vertices that are drawn
_NONE = np.empty(0, dtype=np.int64)


def render_page(
    space: ShapeSpace,
    fits: dict[str, ScanFit],
    judgements: list[Judgement],
    notes: tuple[str, ...] = (),
) -> str:
    """The text of one self-contained HTML file."""
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(packaged_text("shapes.html.jinja", "nho.shapes"))
    error = np.sqrt((space.validation.hidden_error**2).mean(axis=0))
    text = template.render(
        style=Markup(packaged_text("style.css")),
        scripts=[
            *(Markup(packaged_text(name)) for name in VIEWER),
            Markup(packaged_text("shapes.js", "nho.shapes")),
        ],
        data=json_for_html(_scene(space)),
        space=space,
        count=len(space.names),
        components=len(space.model.variances),
        sliders=range(min(_SLIDERS, len(space.model.variances))),
        explained=space.explained.tolist(),
        hidden=error.tolist(),
        outliers=space.outliers(),
        rows=[(each, fits[each.name]) for each in judgements],
        notes=notes,
        percent=lambda value: f"{100 * value:.1f} %",
    )
    return str(text.encode("utf-8", "replace").decode("utf-8"))


def _scene(space: ShapeSpace) -> dict[str, Any]:
    """What the page draws: the mean, modes times their standard deviation, and scores."""
    mean = space.mean
    part, view = drawn_part(mean, _NONE, _MOST), first_view(mean)
    _, radius = frame(mean, view)
    grey = np.full((mean.n_vertices, 3), 190, dtype=np.uint8)
    deviations = np.sqrt(space.model.variances)
    modes = space.model.modes[:_SLIDERS, part.vertex] / radius
    moved = deviations[: len(modes), None, None] * modes
    return {
        "mean": drawn_shape(mean, part, view, {"plain": grey}),
        "modes": [packed(mode, "<f4") for mode in moved],
        "names": list(space.names),
        "scores": (space.scores / deviations).round(4).tolist(),
        "errors": (space.score_errors / deviations).round(4).tolist(),
        "sizes": space.sizes.tolist(),
        "outliers": sorted(space.outliers()),
        "explained": space.explained.round(4).tolist(),
    }
