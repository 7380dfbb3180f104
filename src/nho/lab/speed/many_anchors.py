"""What more anchors cost: CPU seconds of a match against their number."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import nho
from nho.geometry.sampling import farthest_points
from nho.lab.bench.scores import errors_of_maps
from nho.lab.speed.sized_pairs import SizedPair

COUNTS = (25, 100, 300, 1000, 5000)
PRESETS = ("default", "paper")


def many_anchors(pair_file: str, threads: int, repeats: int) -> dict[str, Any]:
    """By preset a row a count: CPU seconds, their ratio to the first count, error x100."""
    pair = SizedPair.load(Path(pair_file))
    known = np.flatnonzero(pair.truth.face >= 0)
    counts = [count for count in COUNTS if count < len(known)]
    counts += [len(known)] * (len(counts) < len(COUNTS))  # as many as there are
    return {preset: _rows(pair, known, counts, preset, threads, repeats) for preset in PRESETS}


def _rows(
    pair: SizedPair,
    known: np.ndarray,
    counts: list[int],
    preset: str,
    threads: int,
    repeats: int,
) -> list[dict[str, float]]:
    settings = nho.preset(preset).replace(threads=threads)
    judged = pair.judged_rows()
    rows: list[dict[str, float]] = []
    for count in counts:
        chosen = known[farthest_points(pair.partial.vertices[known], count)]
        anchors = np.stack([chosen, pair.truth[chosen].nearest_vertex(pair.full)], axis=1)
        spent = []
        for _ in range(repeats):
            begin = time.process_time()
            result = nho.match(pair.partial, pair.full, anchors, settings)
            spent.append(time.process_time() - begin)
        error = errors_of_maps(pair.full, [result.points[judged]], pair.truth[judged])[0]
        seconds = median(spent)
        rows.append(
            {
                "anchors": count,
                "cpu_seconds": seconds,
                "by_first": seconds / (rows[0]["cpu_seconds"] if rows else seconds),
                "error": float(np.nanmean(error)),
            }
        )
    return rows
