"""The work of one process: build a pair, run one case, or judge what the cases found.

Every measurement has a process of its own, for peak memory can only be read off a fresh one.

    python -m nho.lab.speed.child ANSWER.json JOB '{"argument": value, ...}'
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from nho.evaluation.metrics import geodesic_errors, region_scores
from nho.geometry.surface import SurfacePoints
from nho.lab.bench.scores import errors_of_maps
from nho.lab.effort import peak_megabytes
from nho.lab.speed.cases import CASES
from nho.lab.speed.many_anchors import many_anchors
from nho.lab.speed.same_result import same_result
from nho.lab.speed.sized_pairs import SizedPair, sized_pair, source_pair
from nho.lab.speed.start_up import start_up
from nho.runtime.memory import available_memory
from nho.runtime.npz import load_arrays

if sys.platform != "win32":  # `run_speed` refuses to begin there
    import resource


def build(pair_file: str, size: int, family: str, number: int, data: str | None) -> dict[str, Any]:
    """Write the pair of a size; returns what it is."""
    pair = sized_pair(source_pair(family, number, Path(data) if data else None), size)
    pair.save(Path(pair_file))
    return {
        "name": pair.name,
        "partial_vertices": pair.partial.n_vertices,
        "full_vertices": pair.full.n_vertices,
        "anchors": len(pair.anchors),
        "judged": len(pair.judged_rows()),
    }


def run(pair_file: str, case: str, threads: int) -> dict[str, Any]:
    """Time one case, and keep what it found in ``<case>.npz`` beside the pair."""
    path = Path(pair_file)
    pair = SizedPair.load(path)
    _limit_memory()
    call = CASES[case](threads)
    before, peak_before = resource.getrusage(resource.RUSAGE_SELF), peak_megabytes()
    begin = time.perf_counter()
    result = call(pair)
    seconds = time.perf_counter() - begin
    after, peak = resource.getrusage(resource.RUSAGE_SELF), peak_megabytes()
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found: dict[str, np.ndarray] = {}
    if result.points is not None:
        found |= {"face": result.points.face, "barycentric": result.points.barycentric}
    if result.region is not None:
        found["region"] = result.region
    if found:
        np.savez(path.with_name(f"{case}.npz"), **found)  # type: ignore[arg-type]
    return {
        "seconds": seconds if result.seconds is None else result.seconds,
        "cpu_seconds": spent if result.cpu_seconds is None else result.cpu_seconds,
        "peak_mb": peak,
        "peak_mb_before": peak_before,
        "stages": result.stages,
        "notes": result.notes,
    }


def _limit_memory() -> None:
    """Make a case that asks for more than is free fail, rather than the machine."""
    free = available_memory()
    if free is not None and sys.platform.startswith("linux"):
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        limit = free if hard == resource.RLIM_INFINITY else min(free, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def judge(pair_file: str) -> dict[str, Any]:
    """Errors x100 and IoU in percent of every case, and how far reference and preset agree."""
    path = Path(pair_file)
    pair = SizedPair.load(path)
    rows, areas = pair.judged_rows(), pair.full.vertex_areas
    maps, regions = {}, {}
    for answer in sorted(path.parent.glob("*.npz")):
        if answer != path:
            stored = load_arrays(answer)
            maps[answer.stem] = SurfacePoints(stored["face"], stored["barycentric"])
            if "region" in stored:
                regions[answer.stem] = stored["region"]
    if not maps:
        return {"scores": {}, "agreement": {}}
    of_rows = [points[rows] for points in maps.values()]
    errors = errors_of_maps(pair.full, of_rows, pair.truth[rows])
    scores = {
        name: {"error": float(np.nanmean(own)), "error_median": float(np.nanmedian(own))}
        for name, own in zip(maps, errors, strict=True)
    }
    for name, region in regions.items():
        scores[name]["iou"] = 100 * region_scores(region, pair.region, areas)["iou"]
    agreement = {}
    if {"paper", "torch-reference"} <= maps.keys():
        ours, theirs = maps["paper"], maps["torch-reference"]
        same = ours.nearest_vertex(pair.full) == theirs.nearest_vertex(pair.full)
        apart = 100 * geodesic_errors(pair.full, ours[rows], theirs[rows])
        alike = region_scores(regions["paper"], regions["torch-reference"], areas)["iou"]
        agreement = {
            "same_target": 100 * float(same.mean()),
            "apart": float(np.nanmean(apart)),
            "region_iou": 100 * alike,
        }
    return {"scores": scores, "agreement": agreement}


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "build": build,
    "run": run,
    "judge": judge,
    "start-up": start_up,
    "same-result": same_result,
    "many-anchors": many_anchors,
}

if __name__ == "__main__":
    answer_file, job, arguments = sys.argv[1:]
    Path(answer_file).write_text(json.dumps(JOBS[job](**json.loads(arguments))), encoding="utf-8")
