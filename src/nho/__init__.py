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

    from nho.anchor_files import read_anchors, write_anchors
    from nho.anchor_search import find_anchors
    from nho.anchors import Anchors
    from nho.errors import InputError, NhoError
    from nho.groundtruth import GroundTruth, read_ground_truth
    from nho.matching import match
    from nho.mesh import Mesh
    from nho.metrics import Evaluation, evaluate
    from nho.outputs import write_outputs
    from nho.progress import Progress
    from nho.result import MatchResult
    from nho.sampling import sample_vertices
    from nho.settings import Settings, preset
    from nho.surface import SurfacePoints, project

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
    "Anchors": "nho.anchors",
    "Evaluation": "nho.metrics",
    "GroundTruth": "nho.groundtruth",
    "InputError": "nho.errors",
    "MatchResult": "nho.result",
    "Mesh": "nho.mesh",
    "NhoError": "nho.errors",
    "Progress": "nho.progress",
    "Settings": "nho.settings",
    "SurfacePoints": "nho.surface",
    "evaluate": "nho.metrics",
    "find_anchors": "nho.anchor_search",
    "match": "nho.matching",
    "preset": "nho.settings",
    "project": "nho.surface",
    "read_anchors": "nho.anchor_files",
    "read_ground_truth": "nho.groundtruth",
    "sample_vertices": "nho.sampling",
    "write_anchors": "nho.anchor_files",
    "write_outputs": "nho.outputs",
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
