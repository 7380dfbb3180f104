"""Many matches in one process: does anything grow? `python tools/soak.py --matches 500`

Every match reads two meshes and anchors from files, matches them (preset `default`, about 500
vertices), writes the folder with its report and reads the result again; every other one with the
cache. Prints memory, open files, threads and Python objects, and ends with 1 if any of them grows.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import psutil

import nho
from nho.geometry.sampling import sample_vertices
from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
from nho.problem.anchors import read_anchors, write_anchors
from nho.problem.result import MatchResult
from nho.report.result_folder import write_outputs

ANCHORS = (8, 25)  # few: the learned operator takes part; many: it does not
# What is in use twice is not yet a leak: allocators and caches fill up at first, and by chance.
MOST_GROWTH = 10 << 20  # bytes, from the second fifth of the run to its last fifth
MOST_OBJECTS = 3  # a match; one is the sample itself


@dataclass(frozen=True)
class Sample:
    """What the process holds after a match."""

    memory: int  # bytes of resident memory
    files: int
    threads: int  # of Python and of libraries
    objects: int  # that Python's garbage collector knows


def main() -> int:
    """Run the matches that were asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--matches", type=int, default=500)
    parser.add_argument("--every", type=int, default=50, help="matches between two lines")
    asked = parser.parse_args()
    print("| matches | memory MB | open files | threads | objects |\n|---|---|---|---|---|")
    samples: list[Sample] = []
    for sample in soak(asked.matches):
        samples.append(sample)
        if len(samples) % asked.every == 0:
            row = [len(samples), f"{sample.memory / 2**20:.1f}", sample.files, sample.threads]
            print("| " + " | ".join(map(str, [*row, sample.objects])) + " |", flush=True)
    found = leaks(samples)
    print("\n".join(found) or "nothing grows")
    return int(bool(found))


def soak(
    matches: int, subdivisions: int = 3, match: Callable[..., MatchResult] = nho.match
) -> Iterator[Sample]:
    """Match again and again, and look at the process after each time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tasks = [_files(folder, subdivisions, seed) for seed in range(4)]
        before = {key: os.environ.get(key) for key in ("NHO_CACHE", "NHO_CACHE_MB")}
        try:
            for number in range(matches):
                # Of two megabytes: entries come and go.
                cache = {"NHO_CACHE": str(folder / "cache"), "NHO_CACHE_MB": "2"}
                os.environ.update(cache if number // 4 % 2 else {"NHO_CACHE": "off"})
                _match(tasks[number % 4], folder / "out", match)
                yield _sample()
        finally:
            for key, value in before.items():
                os.environ.pop(key, None)
                os.environ.update({} if value is None else {key: value})


def leaks(samples: Sequence[Sample]) -> list[str]:
    """A sentence for everything that grows."""
    fifth = max(1, len(samples) // 5)
    early, late = samples[fifth : 2 * fifth], samples[-fifth:]
    found = []
    for what, most in (
        ("memory", MOST_GROWTH),
        ("files", 0),
        ("threads", 0),
        ("objects", MOST_OBJECTS * len(samples)),
    ):
        first, last = (median(getattr(sample, what) for sample in part) for part in (early, late))
        if last - first > most:
            found.append(f"{what} grow: from {first:.0f} to {last:.0f}")
    return found


def _files(folder: Path, subdivisions: int, seed: int) -> tuple[Path, Path, Path]:
    full = bumpy_sphere(subdivisions, seed)
    cut = cut_by_plane(full, np.array([0.2, 0.5, 1.0]), keep_area=0.6 + 0.05 * seed)
    chosen = sample_vertices(cut.mesh, ANCHORS[seed % 2])
    paths = tuple(folder / f"{role}{seed}" for role in ("partial", "full", "anchors"))
    partial, whole, anchors = (
        path.with_suffix(suffix) for path, suffix in zip(paths, (".ply", ".off", ".csv"))
    )
    cut.mesh.write(partial)
    full.write(whole)
    write_anchors(anchors, np.stack([chosen, cut.vertex_of_parent[chosen]], axis=1))
    return partial, whole, anchors


def _match(files: tuple[Path, Path, Path], out: Path, match: Callable[..., MatchResult]) -> None:
    partial, full = nho.Mesh.read(files[0]), nho.Mesh.read(files[1])
    result = match(partial, full, read_anchors(files[2], partial, full))
    write_outputs(out, partial, full, result)
    MatchResult.load(out)


def _sample() -> Sample:
    gc.collect()
    process = psutil.Process()
    handles = process.num_handles() if sys.platform == "win32" else process.num_fds()
    memory, objects = process.memory_info().rss, len(gc.get_objects())
    return Sample(memory, handles, process.num_threads(), objects)


if __name__ == "__main__":
    sys.exit(main())
