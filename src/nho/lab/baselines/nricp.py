"""Non-rigid ICP with landmarks (Amberg et al. 2007), as `trimesh` has it.

The partial surface is laid on the full one by the anchors' similarity, then bent onto it: every
vertex has an affine map of its own, neighbours are to agree, anchors pull at their partners, and
the stiffness falls in four stages.

The part is bent and not the full shape, most of which has nothing to be drawn to and folds into
the part. Targets are vertices, not triangles, with normals from their neighbours: that needs no
`rtree`. docs/baselines.md has the measurements.

trimesh divides by the extent of what is bent, so its weights have no unit. What it lacks is a
start: without the anchors' similarity another pose or unit of the part would lead it astray.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nho.geometry.mesh import Mesh
from nho.lab.baselines.nearest import placed, read_off
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run


def solve(problem: Problem, run: Run) -> Solution:
    """Closest points of the bent surface."""
    with run.stage("bending"):
        positions, scale = placed(problem)
        partial, full = problem.partial.mesh, problem.full.mesh
        bent = bent_onto(positions, partial.faces, full, problem.anchors)
        return read_off(problem, run, bent, scale)


def bent_onto(
    placed: np.ndarray,
    faces: np.ndarray,
    full: Mesh,
    anchors: np.ndarray,
    onto_triangles: bool = False,
) -> np.ndarray:
    """(n, 3) positions after `trimesh.registration.nricp_amberg` with its own weights.

    Parameters
    ----------
    placed : (n, 3) float array
        Vertices, roughly where they belong.
    faces : (f, 3) int array
    anchors : (m, 2) int array
        Vertices of either surface.
    onto_triangles : bool
        Draw towards closest points of triangles, which needs `rtree`, not towards vertices.
    """
    import trimesh
    from trimesh.registration import nricp_amberg

    # No processing: it would merge and drop vertices.
    source = trimesh.Trimesh(placed, faces, process=False)
    target = trimesh.Trimesh(full.vertices, full.faces, process=False)
    own, other = anchors.T
    register: Any = nricp_amberg  # trimesh has no types
    bent = register(source, target, own, full.vertices[other], use_faces=onto_triangles)
    return np.asarray(bent, dtype=np.float64)
