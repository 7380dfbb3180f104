"""Match a partial 3D surface to a full one: region, dense map and confidence from a few anchors.

>>> import nho
>>> result = nho.match("scan.ply", "template.ply", "pairs.csv")   # doctest: +SKIP
>>> result.vertex_map, result.region, result.confidence           # doctest: +SKIP
"""

from nho.anchor_files import read_anchors, write_anchors
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
    "match",
    "preset",
    "project",
    "read_anchors",
    "read_ground_truth",
    "sample_vertices",
    "write_anchors",
    "write_outputs",
]
