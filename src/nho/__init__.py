"""Match a partial 3D surface to a full one: region, dense map and confidence from a few anchors.

>>> import nho
>>> result = nho.match("scan.ply", "template.ply", "pairs.csv")   # doctest: +SKIP
>>> result.vertex_map, result.region, result.confidence           # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # type checkers know the name; the module `typing` takes 20 ms to import
if TYPE_CHECKING:
    from typing import Any

    from nho.anchor_search import find_anchors
    from nho.errors import InputError, NhoError
    from nho.evaluation.ground_truth import GroundTruth, read_ground_truth
    from nho.evaluation.metrics import Evaluation, evaluate
    from nho.geometry.mesh import Mesh
    from nho.geometry.sampling import sample_vertices
    from nho.geometry.surface import SurfacePoints, project
    from nho.pipeline.matching import match
    from nho.problem.anchors import Anchors, read_anchors, write_anchors
    from nho.problem.result import MatchResult
    from nho.progress import Progress
    from nho.report.result_folder import write_outputs
    from nho.settings import Settings, preset

__all__ = [
    "Anchors",
    "Evaluation",
    "GroundTruth",
    "InputError",
    "MatchResult",
    "Mesh",
    "NhoError",
    "Progress",
    "Settings",
    "SurfacePoints",
    "evaluate",
    "find_anchors",
    "match",
    "preset",
    "project",
    "read_anchors",
    "read_ground_truth",
    "sample_vertices",
    "write_anchors",
    "write_outputs",
]

_HOMES = {
    "Anchors": "nho.problem.anchors",
    "Evaluation": "nho.evaluation.metrics",
    "GroundTruth": "nho.evaluation.ground_truth",
    "InputError": "nho.errors",
    "MatchResult": "nho.problem.result",
    "Mesh": "nho.geometry.mesh",
    "NhoError": "nho.errors",
    "Progress": "nho.progress",
    "Settings": "nho.settings",
    "SurfacePoints": "nho.geometry.surface",
    "evaluate": "nho.evaluation.metrics",
    "find_anchors": "nho.anchor_search",
    "match": "nho.pipeline.matching",
    "preset": "nho.settings",
    "project": "nho.geometry.surface",
    "read_anchors": "nho.problem.anchors",
    "read_ground_truth": "nho.evaluation.ground_truth",
    "sample_vertices": "nho.geometry.sampling",
    "write_anchors": "nho.problem.anchors",
    "write_outputs": "nho.report.result_folder",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for. NumPy and SciPy take a second, in which the command `nho` must be
    able to hear a Ctrl-C, so importing the package imports nothing else."""
    if name in _HOMES:
        found = getattr(import_module(_HOMES[name]), name)
    elif name.startswith("_"):
        raise AttributeError(f"module 'nho' has no attribute {name!r}")
    else:
        try:
            found = import_module(f"nho.{name}")
        except ModuleNotFoundError as problem:
            if problem.name != f"nho.{name}":
                raise
            raise AttributeError(f"module 'nho' has no attribute {name!r}") from None
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
