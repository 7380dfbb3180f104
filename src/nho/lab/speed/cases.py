"""Everything that is timed, by name. A case is loaded (imports, not timed) and then called."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nho.geometry.surface import SurfacePoints
from nho.lab.speed.sized_pairs import ANCHORS, SizedPair

MODES = 100
# Methods of `nho.lab.baselines` that are timed under their own names.
_TOOLS = ("similarity+icp", "tps", "tps+meshmonk", "tps+pycpd", "rustcpd", "biocpd", "geomfum")


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
    seconds, cpu_seconds : float, optional
        The time that counts, where the call does more than that.
    """

    points: SurfacePoints | None = None
    region: np.ndarray | None = None
    stages: dict[str, float] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    cpu_seconds: float | None = None


TimedCall = Callable[[SizedPair], CaseResult]


def floor(threads: int) -> TimedCall:
    """Both eigendecompositions with `scipy.sparse.linalg.eigsh`, BLAS at one thread, no more.

    Building the Laplacians does not count.
    """
    from threadpoolctl import threadpool_limits

    from nho.lab.speed.plain_geometry import EigenProblem

    def run(pair: SizedPair) -> CaseResult:
        stages, spent = {}, 0.0
        with threadpool_limits(limits=1):
            for name, mesh, dirichlet in (
                ("partial", pair.partial, True),
                ("full", pair.full, False),
            ):
                problem = EigenProblem(mesh.vertices, mesh.faces, dirichlet)
                begin, cpu = time.perf_counter(), time.process_time()
                problem.solve(MODES)
                stages[name] = time.perf_counter() - begin
                spent += time.process_time() - cpu
        return CaseResult(stages=stages, seconds=sum(stages.values()), cpu_seconds=spent)

    return run


def preset(
    name: str, anchors: int | None = ANCHORS, cloud: bool = False, **changes: Any
) -> Callable[[int], TimedCall]:
    """`nho.match` with a preset, some settings changed.

    Parameters
    ----------
    anchors : int or None
        How many; None = they are found.
    cloud : bool
        The partial shape is given as its vertices alone.
    """

    def load(threads: int) -> TimedCall:
        import nho

        settings = nho.preset(name).replace(threads=threads, **changes)

        def run(pair: SizedPair) -> CaseResult:
            partial, full = ((m.vertices, m.faces) for m in (pair.partial, pair.full))
            scan = nho.Mesh.from_points(pair.partial.vertices) if cloud else partial
            given = "auto" if anchors is None else pair.anchors[:: ANCHORS // anchors][:anchors]
            result = nho.match(scan, full, given, settings)
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


def baseline(name: str) -> Callable[[int], TimedCall]:
    """A method of `nho.lab.baselines`."""

    def load(threads: int) -> TimedCall:
        from nho.lab import baselines
        from nho.settings import Settings

        settings = Settings().replace(threads=threads)

        def run(pair: SizedPair) -> CaseResult:
            partial, full = ((m.vertices, m.faces) for m in (pair.partial, pair.full))
            result = baselines.run(name, partial, full, pair.anchors, settings)
            return CaseResult(result.points, result.region)

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
    "default-5": preset("default", anchors=5),
    "default-3": preset("default", anchors=3),
    "default-none": preset("default", anchors=None),
    "default-cloud": preset("default", cloud=True),
    "paper": preset("paper"),
    "pyfm": peer("pyfm"),
    "neural-zoomout": peer("neural_zoomout"),
    "nricp": peer("non_rigid_icp"),
    **{name: baseline(name) for name in _TOOLS},
    "torch-reference": torch_reference,
}
