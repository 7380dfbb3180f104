"""Named methods to compare with, behind one interface: two shapes and anchors in, a result out.

>>> from nho.lab import baselines
>>> result = baselines.run("anchor-distance", partial, full, anchors)   # doctest: +SKIP
"""

from __future__ import annotations

from nho.errors import InputError
from nho.lab.baselines import (
    anchor_distance,
    arap,
    fspm,
    learned,
    nearest,
    nricp,
    pfm,
    piecewise_smooth,
    spectrum_alignment,
    zoomout,
)
from nho.lab.baselines.interface import Baseline, Method, Preset
from nho.problem.preparation import AnchorsLike, MeshLike
from nho.problem.result import MatchResult
from nho.progress import ProgressCallback
from nho.settings import PRESETS, Settings

__all__ = ["BASELINES", "METHODS", "Baseline", "Method", "run"]

BASELINES: dict[str, Method] = {
    "nearest": Baseline("nearest", nearest.solve),
    "anchor-distance": Baseline("anchor-distance", anchor_distance.solve),
    "anchor-distance+zoomout": Baseline("anchor-distance+zoomout", zoomout.solve_from_distances),
    "anchor-distance+arap": Baseline("anchor-distance+arap", arap.solve),
    "pfm": Baseline("pfm", pfm.solve, anchored=False),
    "pfm-wks": Baseline("pfm-wks", pfm.solve_by_waves, anchored=False),
    "hamiltonian": Baseline("hamiltonian", spectrum_alignment.solve, anchored=False),
    "zoomout": Baseline("zoomout", zoomout.solve_from_anchors),
    "nricp": Baseline("nricp", nricp.solve),
    "fspm": Baseline("fspm", fspm.solve, anchored=False),
    "piecewise-smooth": Baseline("piecewise-smooth", piecewise_smooth.solve, anchored=False),
    "dpfm": Baseline("dpfm", learned.Learned("dpfm"), anchored=False, learned=True),
    "dpfm+zoomout": Baseline(
        "dpfm+zoomout", learned.Learned("dpfm", zoomed=True), anchored=False, learned=True
    ),
    "ulrssm": Baseline("ulrssm", learned.Learned("ulrssm"), anchored=False, learned=True),
    "wormhole": Baseline("wormhole", learned.Learned("wormhole"), anchored=False, learned=True),
    "echomatch": Baseline("echomatch", learned.Learned("echomatch"), anchored=False, learned=True),
    "nho-auto": Preset("default", anchored=False),
    "nho-dpfm": Baseline("nho-dpfm", learned.solve_from_features, anchored=False, learned=True),
}

METHODS: dict[str, Method] = {name: Preset(name) for name in PRESETS} | BASELINES


def run(
    method_name: str,
    partial: MeshLike,
    full: MeshLike,
    anchors: AnchorsLike | None,
    settings: Settings | None = None,
    progress: ProgressCallback | None = None,
) -> MatchResult:
    """Match a partial surface to a full one by a named method; arguments as in `nho.match`.

    Of the settings a baseline reads only ``threads``, ``laplacian`` and ``checkpoints``: its
    numbers are its own and stand in its file.
    """
    if method_name not in METHODS:
        raise InputError(f"method {method_name!r} is unknown; choose {', '.join(METHODS)}")
    return METHODS[method_name](partial, full, anchors, settings, progress)
