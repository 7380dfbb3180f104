"""Your own method in the benchmark

Anything that takes two meshes and anchors and returns a `MatchResult` can be judged as the presets
are: same pairs, same anchors, same conditions (rotations, units, wrong anchors), same scores.
"""

import numpy as np

import nho
from nho.lab.baselines import BASELINES
from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.perturb import Conditions
from nho.lab.bench.tasks import Contender, contender, run_one


def by_nearest_anchor(partial, full, anchors, settings=None):
    """Every vertex goes where its nearest anchor went: the least one can do."""
    away = np.linalg.norm(partial.vertices[:, None] - partial.vertices[anchors[:, 0]], axis=2)
    vertex_map = anchors[away.argmin(axis=1), 1]
    points = nho.SurfacePoints.at_vertices(full, vertex_map)
    region = np.isin(np.arange(full.n_vertices), vertex_map)
    return nho.MatchResult(
        vertex_map=vertex_map,
        face=points.face,
        barycentric=points.barycentric,
        confidence=np.exp(-away.min(axis=1) / np.median(away)),
        region=region,
        region_score=region.astype(float),
        anchors=anchors,
        settings=nho.Settings(),
        timings={"total": 0.0},
    )


methods = [
    Contender("nearest anchor", by_nearest_anchor),
    contender("anchor-distance"),
    contender("default"),
]
conditions = {"as given": Conditions(anchors=20), "rotated": Conditions(anchors=20, rotate=0)}

pair = FAMILIES["synthetic"].load(None, "body-plane-2")
table = {}
for method in methods:
    for name, condition in conditions.items():
        scores = run_one(pair, method, condition)
        table[method.name, name] = scores.geodesic_error
        print(
            f"{method.name:>16}, {name:>8}: error {scores.geodesic_error:5.2f}, "
            f"IoU {scores.iou:4.1f} %"
        )
print("others to compare with:", ", ".join(BASELINES))
