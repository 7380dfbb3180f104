"""Coherent point drift (Myronenko and Song 2010) with landmarks, of rustcpd and of biocpd.

The partial vertices are centres of Gaussians that drift onto the full vertices, smoothly; anchors
are pairs that are known beforehand. Both packages have the same author and the same model, one
compiled and one in NumPy, so both get the same numbers here.

They compare lengths with fixed numbers, so the partial vertices come at unit root mean square
radius. Each is tried with its nearest full vertices only: those far from the part, which have no
partner, then pull at nothing. docs/baselines.md has the measurements. Both shapes are rotated out
of the axes, which changes nothing but for rustcpd's search: that gives up where many vertices
share a coordinate, as on a flat scan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nho.geometry.alignment import random_rotation
from nho.lab.baselines.nearest import placed, read_off
from nho.lab.baselines.packages import failures_in_words
from nho.problem.preparation import Problem
from nho.problem.solution import Solution
from nho.runtime.run import Run

# Weight and width of the smoothing; the weight is what either package takes if nothing is said.
_SHARED: dict[str, Any] = {"alpha": 2.0, "beta": 1.0, "max_iterations": 100, "tolerance": 1e-6}
_RANK = 300  # of the smoothing kernel, by pivoted Cholesky: nothing random, no square matrix
_NEIGHBOURS = 10  # full vertices tried for each partial one
_OUTLIERS = 0.1  # share of full vertices without a partner, among those tried
_ANCHOR_VARIANCE = 1e-8  # the most reliable that both allow

# From (source, target, anchors) to the moved source.
_Register = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def solve_by_rustcpd(problem: Problem, run: Run) -> Solution:
    """Closest points after the drift that rustcpd finds."""
    return _drifted(problem, run, "rustcpd", _rustcpd)


def solve_by_biocpd(problem: Problem, run: Run) -> Solution:
    """Closest points after the drift that biocpd finds."""
    return _drifted(problem, run, "biocpd", _biocpd)


def _drifted(problem: Problem, run: Run, name: str, register: _Register) -> Solution:
    with run.stage("drift"), failures_in_words(name, problem.partial.mesh.name):
        positions, scale = placed(problem)
        centre = positions.mean(axis=0)
        unit = np.sqrt(((positions - centre) ** 2).sum(axis=1).mean())
        askew = random_rotation(np.random.default_rng(0)) / unit
        source, target = (
            (points - centre) @ askew for points in (positions, problem.full.mesh.vertices)
        )
        moved = register(source, target, problem.anchors)
    return read_off(problem, run, unit**2 * moved @ askew.T + centre, scale)


def _rustcpd(source: np.ndarray, target: np.ndarray, anchors: np.ndarray) -> np.ndarray:
    from rustcpd import register_deformable

    fitted: Any = register_deformable(
        target,
        source,
        low_rank=_RANK,
        low_rank_method="pivoted_cholesky",
        constraints=[(int(own), int(other)) for own, other in anchors],
        constraint_error=_ANCHOR_VARIANCE,
        outlier_weight=_OUTLIERS,
        k=min(_NEIGHBOURS, len(target)),
        parallel=False,  # its own threads would come on top of ours
        **_SHARED,
    )
    moved: np.ndarray = fitted.points
    return moved


def _biocpd(source: np.ndarray, target: np.ndarray, anchors: np.ndarray) -> np.ndarray:
    from biocpd import ConstrainedDeformableRegistration

    fitted: Any = ConstrainedDeformableRegistration(
        X=target,
        Y=source,
        low_rank=True,
        num_eig=_RANK,
        low_rank_method="pivoted_cholesky",
        source_id=np.array(anchors[:, 0]),
        target_id=np.array(anchors[:, 1]),
        e_alpha=_ANCHOR_VARIANCE,
        w=_OUTLIERS,
        k=_NEIGHBOURS,
        use_kdtree=True,
        dtype=np.float64,
        **_SHARED,
    )
    moved: np.ndarray = fitted.register()[0]
    return moved
