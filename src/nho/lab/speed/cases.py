"""Everything that is timed, by name. A case is loaded (imports, not timed) and then called."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nho.geometry.surface import SurfacePoints
from nho.lab.speed.sized_pairs import SizedPair

MODES = 100


@dataclass(frozen=True)
class CaseResult:
    """What a case found.

    Attributes
    ----------
    points : SurfacePoints, optional
        Map partial -> full; the floor has none.
    region : (n_full,) bool array, optional
    stages : dict
        Seconds by stage, as far as the case reports them.
    notes : dict
        Whatever else is worth keeping, ready for JSON.
    seconds : float, optional
        The time that counts, where the call does more than that.
    """

    points: SurfacePoints | None = None
    region: np.ndarray | None = None
    stages: dict[str, float] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    seconds: float | None = None


TimedCall = Callable[[SizedPair], CaseResult]


def floor(threads: int) -> TimedCall:
    """Both eigendecompositions with `scipy.sparse.linalg.eigsh`, BLAS at one thread, no more.

    Building the Laplacians does not count.
    """
    from threadpoolctl import threadpool_limits

    from nho.lab.speed.plain_geometry import EigenProblem

    def run(pair: SizedPair) -> CaseResult:
        stages = {}
        with threadpool_limits(limits=1):
            for name, mesh, dirichlet in (
                ("partial", pair.partial, True),
                ("full", pair.full, False),
            ):
                problem = EigenProblem(mesh.vertices, mesh.faces, dirichlet)
                begin = time.perf_counter()
                problem.solve(MODES)
                stages[name] = time.perf_counter() - begin
        return CaseResult(stages=stages, seconds=sum(stages.values()))

    return run


def preset(name: str, **changes: Any) -> Callable[[int], TimedCall]:
    """`nho.match` with a preset, some settings changed."""

    def load(threads: int) -> TimedCall:
        import nho

        settings = nho.preset(name).replace(threads=threads, **changes)

        def run(pair: SizedPair) -> CaseResult:
            partial, full = ((m.vertices, m.faces) for m in (pair.partial, pair.full))
            result = nho.match(partial, full, pair.anchors, settings)
            if result.settings.solve_vertices != settings.solve_vertices:
                raise MemoryError("not enough memory to solve on all vertices")
            notes: dict[str, Any] = {
                "status": result.status,
                "warnings": list(result.warnings),
                "losses": [step["loss"] for step in result.curves.get("fit", [])],
            }
            stages = {k: v for k, v in result.timings.items() if k != "total"}
            return CaseResult(result.points, result.region, stages, notes)

        return run

    return load


def peer(name: str) -> Callable[[int], TimedCall]:
    """A function of `peers`."""

    def load(threads: int) -> TimedCall:
        from nho.lab.speed import peers

        for module in peers.IMPORTS[name]:
            importlib.import_module(module)

        def run(pair: SizedPair) -> CaseResult:
            points, stages = getattr(peers, name)(pair)
            return CaseResult(points, stages=stages)

        return run

    return load


def torch_reference(threads: int, seed: int = 0) -> TimedCall:
    """The paper's loop in plain torch, from the very weights that preset ``paper`` starts with."""
    import torch

    import nho
    from nho.lab.speed import torch_reference as reference
    from nho.operator.network import Perceptron, uniform_by_fan_in
    from nho.operator.refinement import NeuralAdjointMap

    if threads:
        torch.set_num_threads(threads)
    settings = nho.preset("paper").replace(seed=seed)
    random = np.random.default_rng(seed)

    def start(kind: str, sizes: list[int]) -> np.ndarray:
        if kind == "nam":
            return NeuralAdjointMap(sizes[0], random).parameters
        return uniform_by_fan_in(Perceptron(tuple(sizes), settings.recipe.activation), random)

    def run(pair: SizedPair) -> CaseResult:
        partial, full = ((m.vertices, m.faces) for m in (pair.partial, pair.full))
        found = reference.match(partial, full, pair.anchors, settings, start)
        points = SurfacePoints.at_vertices(pair.full, found.target)
        return CaseResult(points, found.region, found.seconds, {"losses": found.losses[0]})

    return run


CASES: dict[str, Callable[[int], TimedCall]] = {
    "floor": floor,
    "default": preset("default"),
    "default-warm": preset("default"),
    "default-direct": preset("default", solve_vertices=0),
    "paper": preset("paper"),
    "pyfm": peer("pyfm"),
    "neural-zoomout": peer("neural_zoomout"),
    "nricp": peer("non_rigid_icp"),
    "torch-reference": torch_reference,
}
