"""The work of one process: build a pair, run one case, or judge what the cases found.

Every measurement has a process of its own, for peak memory can only be read off a fresh one. A
process inherits the peak of the one that started it, so the runner itself stays small and leaves
the building and judging to such children too.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import CASES
from benchmarks.pairs import Task, source_pair, task_of_size
from nho.evaluation.metrics import geodesic_errors, region_scores
from nho.geometry.surface import SurfacePoints
from nho.runtime.memory import available_memory

JUDGED = 300  # partial vertices; each takes up to three Dijkstra runs
_VISITS = 30_000_000  # vertices those runs may settle in all: fewer rows are judged on large meshes
_PACKAGES = (
    "nho numpy scipy robust_laplacian torch gudhi pyfmaps geomfum trimesh rtree scikit-learn"
).split()


def describe(options: argparse.Namespace) -> dict[str, Any]:
    """Versions of everything that takes part."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def build(options: argparse.Namespace) -> dict[str, Any]:
    """Write the pair of a size; returns what it is."""
    task = task_of_size(
        source_pair(options.data, options.family, options.number), int(options.what)
    )
    task.save(options.task)
    return {
        "name": task.name,
        "partial_vertices": len(task.partial.vertices),
        "full_vertices": len(task.full.vertices),
        "anchors": len(task.anchors),
        "judged": len(judged_rows(task)),
    }


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Time one case, and keep what it found in ``<case>.npz`` beside the task."""
    import resource

    task = Task.load(options.task)
    limit_memory()
    case = CASES[options.what](options.threads)
    before = resource.getrusage(resource.RUSAGE_SELF)
    begin = time.perf_counter()
    outcome = case(task)
    seconds = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_SELF)
    found: dict[str, Any] = {}
    if outcome.points is not None:
        found |= {"face": outcome.points.face, "barycentric": outcome.points.barycentric}
    if outcome.region is not None:
        found["region"] = outcome.region
    if found:
        np.savez(options.task.with_name(f"{options.what}.npz"), **found)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "seconds": seconds if outcome.seconds is None else outcome.seconds,
        "cpu_seconds": cpu,
        "peak_mb": megabytes(after.ru_maxrss),
        "peak_mb_before": megabytes(before.ru_maxrss),
        "stages": outcome.stages,
        "notes": outcome.notes,
    }


def megabytes(maxrss: int) -> float:
    """Peak memory as getrusage tells it: in bytes on macOS, in kilobytes elsewhere."""
    return maxrss / (1e6 if sys.platform == "darwin" else 1e3 / 1.024)


def limit_memory() -> None:
    """Make a case that asks for more than is free fail, rather than the machine."""
    import resource

    free = available_memory()
    if free is not None and sys.platform.startswith("linux"):
        resource.setrlimit(resource.RLIMIT_DATA, (free, free))


def judged_rows(task: Task) -> np.ndarray:
    """Partial vertices at which maps are compared: evenly spread over those with a truth."""
    known = np.flatnonzero(task.truth.face >= 0)
    count = max(20, min(JUDGED, _VISITS // len(task.full.vertices)))
    return known[np.unique(np.linspace(0, len(known) - 1, count).round().astype(int))]


def judge(options: argparse.Namespace) -> dict[str, Any]:
    """Errors x100 and IoU in percent of every case, and how far reference and preset agree."""
    task = Task.load(options.task)
    rows = judged_rows(task)
    maps, regions = {}, {}
    for path in sorted(options.task.parent.glob("*.npz")):
        if path != options.task:
            with np.load(path, allow_pickle=False) as stored:
                maps[path.stem] = SurfacePoints(stored["face"], stored["barycentric"])
                if "region" in stored:
                    regions[path.stem] = stored["region"]
    scores: dict[str, Any] = {}
    if not maps:
        return {"scores": scores, "agreement": {}}
    # All in one call: they share the Dijkstra runs.
    found = SurfacePoints(
        np.concatenate([points.face[rows] for points in maps.values()]),
        np.concatenate([points.barycentric[rows] for points in maps.values()]),
    )
    errors = 100 * geodesic_errors(task.full, found, task.truth[np.tile(rows, len(maps))])
    for name, of_case in zip(maps, errors.reshape(len(maps), -1), strict=True):
        scores[name] = {
            "error": float(np.nanmean(of_case)),
            "error_median": float(np.nanmedian(of_case)),
        }
    areas = task.full.vertex_areas
    for name, region in regions.items():
        scores[name]["iou"] = 100 * region_scores(region, task.region, areas)["iou"]
    agreement = {}
    if {"paper", "torch-reference"} <= maps.keys():
        agreement = compared(task, rows, maps, regions, areas)
    return {"scores": scores, "agreement": agreement}


def compared(
    task: Task,
    rows: np.ndarray,
    maps: dict[str, SurfacePoints],
    regions: dict[str, np.ndarray],
    areas: np.ndarray,
) -> dict[str, float]:
    """Preset ``paper`` against the torch reference."""
    ours, theirs = (maps[name] for name in ("paper", "torch-reference"))
    same = ours.nearest_vertex(task.full) == theirs.nearest_vertex(task.full)
    apart = 100 * geodesic_errors(task.full, ours[rows], theirs[rows])
    regions_alike = region_scores(regions["paper"], regions["torch-reference"], areas)["iou"]
    return {
        "same_target": 100 * float(same.mean()),
        "apart": float(np.nanmean(apart)),
        "region_iou": 100 * regions_alike,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job", choices=("describe", "build", "run", "judge"))
    parser.add_argument("what", help="a size to build or a case to run; - otherwise")
    parser.add_argument("task", type=Path, help="the pair, as .npz")
    parser.add_argument("answer", type=Path, help="JSON to write")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--data")
    parser.add_argument("--family", default="pfaust_m")
    parser.add_argument("--number", type=int, default=0)
    options = parser.parse_args()
    jobs = {"describe": describe, "build": build, "run": run, "judge": judge}
    options.answer.write_text(json.dumps(jobs[options.job](options)))


if __name__ == "__main__":
    main()
