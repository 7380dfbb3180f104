"""Functional maps of landmark descriptors, then ZoomOut: what pyFM and geomfum offer.

k modes of the partial shape meet k / (its share of the area) modes of the full one: with pyFM
error 3.4 on the shipped sample, against 4.9 with equal numbers. Neither looks at coordinates, so
pose and unit do not matter to them.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.lab.baselines.packages import failures_in_words
from nho.lab.baselines.readout import solution_of
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run

# 25 landmarks make 2,600 descriptors; every tenth (error 4.9) did as well as every second (4.8) in
# a fraction of the time.
PYFM_FIT = {"w_descr": 1.0, "w_lap": 0.1, "w_dcomm": 1.0, "w_orient": 1.0}
_SUBSAMPLE = 10
_DESCRIBED = 128  # modes of the descriptors, at most
_FIRST, _LAST, _STEP = 30, 100, 5  # modes of the partial shape
_MOST = 200  # modes of the full shape, however small the part
_COMMUTING = 0.1  # weight of the Laplacians beside the descriptors
_ENERGIES = 10  # wave kernels of each landmark


def solve_by_pyfm(problem: Problem, run: Run) -> Solution:
    """The map that pyFM finds."""
    partial, full = problem.partial.mesh, problem.full.mesh
    with run.stage("zoomout"), failures_in_words("pyfm", partial.name):
        target, _ = zoomed_by_pyfm(partial, full, problem.anchors)
    return solution_of(problem, SurfacePoints.at_vertices(full, target), run.settings)


def solve_by_geomfum(problem: Problem, run: Run) -> Solution:
    """The map that geomfum finds."""
    partial, full = problem.partial.mesh, problem.full.mesh
    with run.stage("zoomout"), failures_in_words("geomfum", partial.name):
        target = _zoomed_by_geomfum(partial, full, problem.anchors)
    return solution_of(problem, SurfacePoints.at_vertices(full, target), run.settings)


def _modes(partial: Mesh, full: Mesh) -> tuple[float, int]:
    """Modes of the full shape for one of the partial, and the last number on the partial."""
    ratio = max(1.0, full.area / partial.area)
    return ratio, min(_LAST, partial.n_vertices - 2 * _STEP, int(_MOST / ratio))


def zoomed_by_pyfm(
    partial: Mesh, full: Mesh, anchors: np.ndarray
) -> tuple[np.ndarray, dict[str, float]]:
    """(n_partial,) vertices of the full shape, and seconds by stage."""
    clock = time.perf_counter()
    ratio, last = _modes(partial, full)
    first, step = min(_FIRST, last), (round(_STEP * ratio), _STEP)
    rounds = (last - first) // _STEP
    needed = max(round(first * ratio) + rounds * step[0], first + rounds * _STEP)
    if needed > partial.n_vertices - 2:  # pyFM takes as many modes of both
        ratio, step, needed = 1.0, (_STEP, _STEP), first + rounds * _STEP
    model = landmark_model(partial, full, anchors, needed)
    model.fit(K=(round(first * ratio), first), **PYFM_FIT)
    fitted = time.perf_counter()
    target = np.asarray(model.get_p2p(model.zoomout_refine(nit=rounds, step=step)))
    done = time.perf_counter()
    return target, {"landmark fit": fitted - clock, "zoomout": done - fitted}


def landmark_model(partial: Mesh, full: Mesh, anchors: np.ndarray, modes: int) -> Any:
    """A pyFM model (full -> partial) with wave kernel descriptors of the anchors."""
    from pyFM.functional import FunctionalMapping
    from pyFM.mesh import TriMesh

    modes = min(modes, partial.n_vertices - 2)
    # Its plain Laplacian is singular on meshes with degenerate triangles, the tufted one is not.
    shapes = (
        TriMesh(mesh.vertices, mesh.faces).process(
            min(max(modes, _DESCRIBED), mesh.n_vertices - 2), robust=True
        )
        for mesh in (full, partial)
    )
    return FunctionalMapping(*shapes).preprocess(
        descr_type="WKS",
        landmarks=anchors[:, ::-1],
        subsample_step=_SUBSAMPLE,
        k_process=modes,
        k_descr=min(_DESCRIBED, modes),
    )


def _zoomed_by_geomfum(partial: Mesh, full: Mesh, anchors: np.ndarray) -> np.ndarray:
    """(n_partial,) vertices of the full shape.

    The first map fits the descriptors and commutes with the Laplacians as well as it can, in closed
    form: geomfum's own optimiser needs geomstats.
    """
    from geomfum.convert import P2pFromFmConverter
    from geomfum.descriptor.spectral import LandmarkWaveKernelSignature
    from geomfum.refine import ZoomOut
    from geomfum.shape.mesh import TriangleMesh

    ratio, last = _modes(partial, full)
    first = min(_FIRST, last)
    step = (round(_STEP * ratio), _STEP)
    rounds = (last - first) // _STEP
    counts = round(first * ratio), first
    bases, seen = [], []
    for mesh, marks, count, more in zip((full, partial), anchors.T[::-1], counts, step):
        shape = TriangleMesh(mesh.vertices, mesh.faces)
        shape.laplacian.find_spectrum(spectrum_size=count + rounds * more, set_as_basis=True)
        shape.set_landmarks(np.array(marks))
        described = LandmarkWaveKernelSignature(n_domain=_ENERGIES)(shape)
        size = np.sqrt((described**2 @ mesh.vertex_areas) / mesh.area)[:, None]
        seen.append((described / size * mesh.vertex_areas) @ shape.basis.vecs[:, :count])
        bases.append(shape.basis)
    matrix = _fitted(*seen, *(basis.vals[:count] for basis, count in zip(bases, counts)))
    refined = ZoomOut(nit=rounds, step=step)(matrix, *bases) if rounds else matrix
    return np.asarray(P2pFromFmConverter()(refined, *bases))


def _fitted(own: np.ndarray, goal: np.ndarray, vals: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """(k', k) C with C own = goal, and as little as can be where eigenvalues differ."""
    gram, mixed = own.T @ own, own.T @ goal
    gaps = (vals[None, :] - goals[:, None]) ** 2
    weight = _COMMUTING * np.trace(gram) / gaps.mean() / len(vals)
    rows = [
        np.linalg.solve(gram + np.diag(weight * gap), column) for gap, column in zip(gaps, mixed.T)
    ]
    return np.stack(rows)
