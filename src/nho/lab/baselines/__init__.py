"""Named methods to compare with, behind one interface: two shapes and anchors in, a result out.

>>> from nho.lab import baselines
>>> result = baselines.run("anchor-distance", partial, full, anchors)   # doctest: +SKIP
"""

from __future__ import annotations

import functools

from nho.errors import InputError
from nho.geometry.mesh_like import MeshLike
from nho.lab.baselines import (
    anchor_distance,
    arap,
    coherent_drift,
    fspm,
    functional_maps,
    learned,
    nearest,
    nricp,
    pfm,
    piecewise_smooth,
    plain_drift,
    rigid_icp,
    spectrum_alignment,
    spline,
    spline_meshmonk,
    zoomout,
)
from nho.lab.baselines.interface import Method
from nho.problem.preparation import AnchorsLike
from nho.problem.result import MatchResult
from nho.progress import ProgressCallback
from nho.settings import PRESETS, Settings


def _network(name: str, network: str, zoomed: bool = False) -> Method:
    solver = functools.partial(learned.solve, network=network, zoomed=zoomed)
    return Method(name, solver, anchored=False, learned=True)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *(Method(name) for name in PRESETS),
        Method("nearest", nearest.solve),
        Method("similarity+icp", rigid_icp.solve),
        Method("tps", spline.solve),
        Method("tps+meshmonk", spline_meshmonk.solve, needs="meshmonk>=0.3,<0.4"),
        Method("rustcpd", coherent_drift.solve_by_rustcpd, needs="rustcpd>=4,<5"),
        Method("biocpd", coherent_drift.solve_by_biocpd, needs="biocpd>=1.3,<2"),
        Method("tps+pycpd", plain_drift.solve, needs="pycpd>=2,<3"),
        Method("pyfm", functional_maps.solve_by_pyfm, needs="pyfmaps>=1.3"),
        Method("geomfum", functional_maps.solve_by_geomfum, needs="geomfum>=1.0"),
        Method("anchor-distance", anchor_distance.solve),
        Method("anchor-distance+zoomout", zoomout.solve_from_distances),
        Method("anchor-distance+arap", arap.solve),
        Method("pfm", pfm.solve, anchored=False),
        Method("pfm-wks", pfm.solve_by_waves, anchored=False),
        Method("hamiltonian", spectrum_alignment.solve, anchored=False),
        Method("zoomout", zoomout.solve_from_anchors),
        Method("nricp", nricp.solve, needs="trimesh"),
        Method("fspm", fspm.solve, anchored=False),
        Method("piecewise-smooth", piecewise_smooth.solve, anchored=False),
        _network("dpfm", "dpfm"),
        _network("dpfm+zoomout", "dpfm", zoomed=True),
        _network("ulrssm", "ulrssm"),
        _network("wormhole", "wormhole"),
        _network("echomatch", "echomatch"),
        Method("nho-auto", anchored=False),
        Method("nho-dpfm", learned.solve_from_features, anchored=False, learned=True),
    )
}
BASELINES = {name: method for name, method in METHODS.items() if name not in PRESETS}


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
