"""Match a partial 3D surface to a full one: region, dense map and confidence from a few anchors.

>>> import nho
>>> result = nho.match("scan.ply", "template.ply", "pairs.csv")   # doctest: +SKIP
>>> result.vertex_map, result.region, result.confidence           # doctest: +SKIP

A shape that you can try it on, and a part of it:

>>> from nho.evaluation.sample import load_sample
>>> sample = load_sample("plane")
>>> scan, template = sample.partial, sample.full
>>> scan, template
(Mesh('part of posed.ply', 2743 vertices, 5291 faces), Mesh('full.ply', 5000 vertices, 9996 faces))

Importing the package imports nothing else: NumPy and SciPy take a second, in which the command
`nho` must be able to hear a Ctrl-C. Public names and modules are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # type checkers know the name; the module `typing` takes 20 ms to import
if TYPE_CHECKING:
    from typing import Any

    from nho.anchor_search import find_anchors as find_anchors
    from nho.errors import InputError as InputError
    from nho.errors import NhoError as NhoError
    from nho.evaluation.ground_truth import GroundTruth as GroundTruth
    from nho.evaluation.ground_truth import read_ground_truth as read_ground_truth
    from nho.evaluation.metrics import Evaluation as Evaluation
    from nho.evaluation.metrics import evaluate as evaluate
    from nho.geometry.mesh import Mesh as Mesh
    from nho.geometry.sampling import sample_vertices as sample_vertices
    from nho.geometry.surface import SurfacePoints as SurfacePoints
    from nho.geometry.surface import project as project
    from nho.pipeline.matching import match as match
    from nho.problem.anchors import Anchors as Anchors
    from nho.problem.anchors import read_anchors as read_anchors
    from nho.problem.anchors import write_anchors as write_anchors
    from nho.problem.result import MatchResult as MatchResult
    from nho.progress import Progress as Progress
    from nho.report.result_folder import write_outputs as write_outputs
    from nho.settings import GuidedRecipe as GuidedRecipe
    from nho.settings import PaperRecipe as PaperRecipe
    from nho.settings import Settings as Settings
    from nho.settings import preset as preset
    from nho.shapes.space import ShapeSpace as ShapeSpace

_HOMES = {
    "Anchors": "nho.problem.anchors",
    "Evaluation": "nho.evaluation.metrics",
    "GroundTruth": "nho.evaluation.ground_truth",
    "GuidedRecipe": "nho.settings",
    "InputError": "nho.errors",
    "MatchResult": "nho.problem.result",
    "Mesh": "nho.geometry.mesh",
    "NhoError": "nho.errors",
    "PaperRecipe": "nho.settings",
    "Progress": "nho.progress",
    "Settings": "nho.settings",
    "ShapeSpace": "nho.shapes.space",
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
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    try:
        return import_module(f"nho.{name}")
    except ModuleNotFoundError as problem:
        if problem.name != f"nho.{name}":  # a library that one of ours needs
            raise
        raise AttributeError(f"module 'nho' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
