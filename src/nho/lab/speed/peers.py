"""What a user could pick instead, from the same anchors: pyFM, geomfum and trimesh.

geomfum and trimesh run with their defaults, untuned. pyFM runs with the weights of its quick start;
for bases and descriptors six variants were tried on the shipped sample at 1,000 vertices, and the
one with the least true error is used. That favours pyFM: no user could choose so.
"""

from __future__ import annotations

import logging
import time

import numpy as np

from nho.geometry.surface import SurfacePoints, project
from nho.lab.baselines.functional_maps import PYFM_FIT, landmark_model, zoomed_by_pyfm
from nho.lab.baselines.nricp import bent_onto
from nho.lab.speed.sized_pairs import SizedPair

Found = tuple[SurfacePoints, dict[str, float]]

# What each needs, so that importing it can be kept out of its time.
IMPORTS = {
    "pyfm": ("pyFM.functional", "pyFM.mesh"),
    "neural_zoomout": ("pyFM.functional", "torch", "geomfum.refine", "geomfum.shape.mesh"),
    "non_rigid_icp": ("trimesh.registration", "rtree"),
}

_LAST, _STEP = 100, 5  # modes
_NAM_FIRST = 20  # geomfum's maps are square: as many modes on either shape


def pyfm(pair: SizedPair) -> Found:
    """Functional map from landmark descriptors, then ZoomOut (pyFM)."""
    target, stages = zoomed_by_pyfm(pair.partial, pair.full, pair.anchors)
    return SurfacePoints.at_vertices(pair.full, target), stages


def neural_zoomout(pair: SizedPair) -> Found:
    """A functional map of the anchors (pyFM), refined by geomfum's Neural ZoomOut."""
    import torch
    from geomfum.convert import NamFromP2pConverter
    from geomfum.refine import NeuralZoomOut
    from geomfum.shape.mesh import TriangleMesh

    logging.disable(logging.WARNING)  # it reports every operator it sets up
    torch.manual_seed(0)
    clock = time.perf_counter()
    model = landmark_model(pair.partial, pair.full, pair.anchors, 128)
    model.fit(K=(_NAM_FIRST, _NAM_FIRST), **PYFM_FIT)
    target = model.get_p2p()
    fitted = time.perf_counter()
    bases = []
    for mesh in (pair.full, pair.partial):
        shape = TriangleMesh(mesh.vertices, mesh.faces)
        shape.laplacian.find_spectrum(spectrum_size=_LAST, set_as_basis=True)
        bases.append(shape.basis)
    spectra = time.perf_counter()
    first = NamFromP2pConverter()(target, *(basis.truncate(_NAM_FIRST) for basis in bases))
    refiner = NeuralZoomOut(nit=(_LAST - _NAM_FIRST) // _STEP, step=_STEP)
    map_to_full = refiner.p2p_from_fm_converter(refiner(first, *bases), *bases)
    done = time.perf_counter()
    points = SurfacePoints.at_vertices(pair.full, np.asarray(map_to_full))
    stages = {"landmark fit": fitted - clock, "spectra": spectra - fitted}
    return points, {**stages, "neural zoomout": done - spectra}


def non_rigid_icp(pair: SizedPair) -> Found:
    """`trimesh.registration.nricp_amberg` of the partial surface onto the full one.

    Rotated and moved onto the anchors first, as it needs a rough rigid fit; the closest points of
    the deformed surface are its map.
    """
    from trimesh import transform_points
    from trimesh.registration import procrustes

    clock = time.perf_counter()
    p, q = pair.anchors.T
    rigid, _, _ = procrustes(
        pair.partial.vertices[p], pair.full.vertices[q], reflection=False, scale=False
    )
    placed = transform_points(pair.partial.vertices, rigid)
    bent = bent_onto(placed, pair.partial.faces, pair.full, pair.anchors, onto_triangles=True)
    fitted = time.perf_counter()
    points, _ = project(pair.full, bent)
    return points, {"registration": fitted - clock, "closest points": time.perf_counter() - fitted}
