"""Errors of matches with the faces thrown away: on the scan, on the full shape, on both.

python tools/measure_clouds.py --data DIR [--families tosca,faces] [--pairs 3] [--normals]
python tools/measure_clouds.py --vertices 1000000

DIR holds the data sets (see docs/datasets.md). For each pair the mean geodesic error x100 from 20
true anchors, as meshes and as clouds; "within" counts clouds with at most 1.2 times the error of
the meshes, "wrong" those with more than twice that which are not called doubtful. With --vertices
the shipped pair is subdivided to a full shape of so many, and times are shown instead.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import nho
from nho.evaluation.metrics import geodesic_errors
from nho.geometry.surface import project
from nho.lab.bench.datasets.family import FAMILIES
from nho.lab.bench.datasets.pair import AnnotatedPair
from nho.lab.speed.sized_pairs import sized_pair, source_pair

CASES = {"meshes": (), "scan": (0,), "full": (1,), "both": (0, 1)}  # which side is a cloud
DEFAULT = (
    "pfaust_m,pfaust_h,pfarm,tosca,shrec16_cuts,shrec16_holes,faces,skulls_cut,tibias_cut,"
    "scans,species"
)
ENOUGH = 1.2  # times the error of the meshes
WRONG = 2.0


def error_and_status(
    pair: AnnotatedPair, clouds: tuple[int, ...], normals: bool
) -> tuple[float, str]:
    """Mean geodesic error x100 on the full mesh, whatever was matched, and the status."""
    anchors = pair.anchors(20)
    shapes = [pair.partial, pair.full]
    for side in clouds:
        given = shapes[side].vertex_normals if normals else None
        shapes[side] = nho.Mesh.from_points(shapes[side].vertices, given)
    result = nho.match(*shapes, anchors)
    points = result.points
    if 1 in clouds:
        matched = points.face >= 0
        places = points.positions(result.full)
        points, _ = project(pair.full, np.where(matched[:, None], places, 0))
        points = points.where(matched)
    errors = 100 * geodesic_errors(pair.full, points, pair.truth.points)[pair.judged(anchors)]
    return float(np.nanmean(errors)), result.status


def show_times(vertices: int, cases: list[str]) -> None:
    """Seconds of a match from arrays to the result, surfaces through points included."""
    pair = sized_pair(source_pair(), vertices)
    meshes = pair.partial, pair.full
    print(f"{pair.partial.n_vertices} and {pair.full.n_vertices} vertices")
    usual = 0.0
    for case in cases:
        wall, processor = time.perf_counter(), time.process_time()
        shapes = [
            nho.Mesh.from_points(mesh.vertices)
            if side in CASES[case]
            else nho.Mesh(mesh.vertices, mesh.faces)
            for side, mesh in enumerate(meshes)
        ]
        joined = time.process_time() - processor
        nho.match(*shapes, pair.anchors)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        usual = usual or processor
        print(
            f"{case:8s} {processor:6.1f} s of processors, {joined:5.1f} of these to make the "
            f"shapes; {processor / usual:.2f} times {cases[0]}; {wall:.1f} s in all",
            flush=True,
        )


def main() -> None:
    """Match, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--vertices", type=int, default=0, help="times at this size, not errors")
    parser.add_argument("--families", default=DEFAULT)
    parser.add_argument("--pairs", type=int, default=2, help="of each family, evenly spaced")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--normals", action="store_true", help="the clouds have normals")
    asked = parser.parse_args()
    cases = asked.cases.split(",")
    if asked.vertices:
        return show_times(asked.vertices, cases)
    if asked.data is None:
        parser.error("--data is needed to measure errors")
    within, wrong = dict.fromkeys(cases, 0), dict.fromkeys(cases, 0)
    count = 0
    for family in asked.families.split(","):
        names = FAMILIES[family].names(asked.data)
        chosen = np.unique(np.linspace(0, len(names) - 1, asked.pairs).astype(int))
        for name in (names[row] for row in chosen):
            pair = FAMILIES[family].load(asked.data, name)
            found = {case: error_and_status(pair, CASES[case], asked.normals) for case in cases}
            count += 1
            for case, (error, status) in found.items():
                within[case] += error <= ENOUGH * found["meshes"][0]
                wrong[case] += error > WRONG * found["meshes"][0] and status == "ok"
            shown = "  ".join(
                f"{case} {error:5.2f} {'ok' if status == 'ok' else 'doubtful'}"
                for case, (error, status) in found.items()
            )
            print(f"{family:14s} {name:32s} {shown}", flush=True)
    print(f"of {count}: within", within, "wrong and sure", wrong)


if __name__ == "__main__":
    main()
