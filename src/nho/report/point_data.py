"""What a result says of every vertex, by the names under which other programs show it."""

from __future__ import annotations

from typing import Literal

import numpy as np

from nho.errors import InputError
from nho.geometry.conversion import COLOR
from nho.problem.result import MatchResult
from nho.report.colours import view_colours


def point_data(result: MatchResult, side: Literal["partial", "full"]) -> dict[str, np.ndarray]:
    """Arrays with a row for every vertex of one of the shapes; see `MatchResult.point_data`."""
    if side not in ("partial", "full"):
        raise InputError(f"a result has the shapes 'partial' and 'full', not {side!r}")
    colours = view_colours(result.full, result)
    if side == "partial":
        return {
            "nho_vertex": result.vertex_map,
            "nho_confidence": result.confidence,
            "nho_overlap": result.overlap,
            COLOR: colours["partial"]["correspondence"],
        }
    return {
        "nho_region": result.region.astype(np.uint8),
        "nho_region_score": result.region_score,
        COLOR: colours["full"]["faded"],
    }
