"""Thin-plate spline of the anchors, then MeshMonk (White et al. 2019), used for faces and bones.

Every vertex of the floating surface is drawn to a weighted mean of its nearest target points, by
position and normal; the displacements are smoothed over neighbours, first much, then little.

The partial surface floats: the other way round errors were larger, though the full one has
MeshMonk's own rule for rims. Targets do not pull back (``symmetric``), since most of the full
surface has no partner. docs/baselines.md has the measurements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nho.lab.baselines.nearest import placed, read_off
from nho.lab.baselines.packages import failures_in_words
from nho.lab.baselines.spline import splined
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run

_EDGE = 3.0  # mean edge of the full shape; MeshMonk smooths over 3, thinking of millimetres
_ITERATIONS = 60  # steps, and smoothings of the first one


def solve(problem: Problem, run: Run) -> Solution:
    """Closest points of the floating surface where it ends."""
    positions, scale = placed(problem)
    with run.stage("spline"):
        positions = splined(problem, positions)
    with run.stage("meshmonk"), failures_in_words("meshmonk", problem.partial.mesh.name):
        positions = _floated(problem, positions)
    return read_off(problem, run, positions, scale)


def _floated(problem: Problem, positions: np.ndarray) -> np.ndarray:
    import meshmonk

    partial, full = problem.partial.mesh, problem.full.mesh
    centre, unit = full.vertices.mean(axis=0), full.mean_edge_length / _EDGE  # it has 32 bits
    own, other = ((points - centre) / unit for points in (positions, full.vertices))
    describe: Any = meshmonk.features_from_vertices
    register: Any = meshmonk.nonrigid_register
    fitted = register(
        floating_features=describe(own, partial.faces),
        target_features=describe(other, full.faces),
        floating_faces=partial.faces,
        target_faces=full.faces,
        correspondences_symmetric=False,
        num_iterations=_ITERATIONS,
        transform_num_viscous_iterations_start=_ITERATIONS,
        transform_num_elastic_iterations_start=_ITERATIONS,
    )
    floated: np.ndarray = unit * np.asarray(fitted.aligned_vertices, dtype=np.float64) + centre
    return floated
