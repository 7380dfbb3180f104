"""Everything that is timed, by name. A case is loaded (imports, not timed) and then called."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from benchmarks.pairs import Task
from nho.geometry.surface import SurfacePoints

MODES = 100


@dataclass(frozen=True)
class Outcome:
    """What a case found.

    Attributes
    ----------
    points : SurfacePoints, optional
        Map partial -> full; the floor has none.
    region : (n_full,) bool array, optional
    stages : dict
        Seconds by stage, as far as the case tells.
    seconds : float, optional
        Of the whole, where the call does more than what is to be timed.
    notes : dict
        Whatever else is worth keeping, ready for JSON.
    """

    points: SurfacePoints | None = None
    region: np.ndarray | None = None
    stages: dict[str, float] = field(default_factory=dict)
    notes: dict[str, object] = field(default_factory=dict)
    seconds: float | None = None


Run = Callable[[Task], Outcome]


def floor(threads: int) -> Run:
    """Both eigendecompositions with `scipy.sparse.linalg.eigsh`, BLAS at one thread, no more.

    Building the Laplacians does not count.
    """
    import time

    from threadpoolctl import threadpool_limits

    from benchmarks.plain_geometry import EigenProblem

    def run(task: Task) -> Outcome:
        stages = {}
        with threadpool_limits(limits=1):
            for name, mesh, dirichlet in (
                ("partial", task.partial, True),
                ("full", task.full, False),
            ):
                problem = EigenProblem(mesh.vertices, mesh.faces, dirichlet)
                begin = time.perf_counter()
                problem.solve(MODES)
                stages[name] = time.perf_counter() - begin
        return Outcome(stages=stages, seconds=sum(stages.values()))

    return run


def preset(name: str, **changes: object) -> Callable[[int], Run]:
    """`nho.match` with a preset, some settings changed."""

    def load(threads: int) -> Run:
        import nho

        settings = nho.preset(name).replace(threads=threads, **changes)

        def run(task: Task) -> Outcome:
            partial, full = task.partial, task.full
            result = nho.match(
                (partial.vertices, partial.faces),
                (full.vertices, full.faces),
                task.anchors,
                settings,
            )
            if result.settings.solve_vertices != settings.solve_vertices:
                raise MemoryError("not enough memory to solve on all vertices")
            curve = [step["loss"] for step in result.curves.get("fit", [])]
            notes: dict[str, object] = {
                "status": result.status,
                "warnings": list(result.warnings),
                "losses": curve,
            }
            stages = {k: v for k, v in result.timings.items() if k != "total"}
            return Outcome(result.points, result.region, stages, notes)

        return run

    return load


def peer(name: str) -> Callable[[int], Run]:
    """A function of `peers`."""

    def load(threads: int) -> Run:
        from benchmarks import peers

        for module in peers.IMPORTS[name]:
            importlib.import_module(module)

        def run(task: Task) -> Outcome:
            points, stages = getattr(peers, name)(task)
            return Outcome(points, stages=stages)

        return run

    return load


def torch_reference(threads: int, seed: int = 0) -> Run:
    """The paper's loop in plain torch, from the very weights that preset ``paper`` starts with."""
    import torch

    import nho
    from benchmarks import torch_reference as reference
    from nho.operator.network import Perceptron, uniform_by_fan_in
    from nho.operator.refinement import NeuralAdjointMap

    if threads:
        torch.set_num_threads(threads)
    settings = nho.preset("paper").replace(seed=seed)
    random = np.random.default_rng(seed)

    def start(kind: str, sizes: list[int]) -> np.ndarray:
        if kind == "nam":
            return NeuralAdjointMap(sizes[0], random).parameters
        return uniform_by_fan_in(Perceptron(tuple(sizes), settings.activation), random)

    def run(task: Task) -> Outcome:
        partial, full = task.partial, task.full
        found = reference.match(
            (partial.vertices, partial.faces),
            (full.vertices, full.faces),
            task.anchors,
            settings,
            start,
        )
        points = SurfacePoints.at_vertices(full, found.target)
        return Outcome(points, found.region, found.seconds, {"losses": found.losses[0]})

    return run


CASES: dict[str, Callable[[int], Run]] = {
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
