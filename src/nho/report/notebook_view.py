"""Both shapes in 3D for a cell of a notebook: the report's viewer in a frame of its own."""

from __future__ import annotations

from markupsafe import escape

from nho.problem.result import MatchResult
from nho.report import render_report

_MOST = 12_000  # vertices a shape: some two megabytes in the notebook
_HEIGHT = 720  # pixels


def notebook_view(result: MatchResult) -> str:
    """The viewer and the key figures as HTML that asks the network for nothing.

    A frame keeps styles and scripts of notebook and view apart, and many views from each other.
    """
    page = render_report(result.partial, result.full, result, brief=True, most=_MOST)
    return (
        f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" title="nho: both shapes in 3D" '
        f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'
    )
