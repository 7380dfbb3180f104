"""CPU time of preset `default` by the number of anchors, over that of the two eigendecompositions.

    python tools/measure_few_anchors.py --vertices 5000 25 5 3 auto

On the shipped sample, one thread, nothing cached. The floor is measured before and after every
match, so that the ratio says something on a busy machine as well. The error is the mean straight
distance to the true points (x100 of the square root of the full area).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import nho
from nho.geometry.sampling import farthest_points
from nho.lab.speed.cases import floor
from nho.lab.speed.sized_pairs import ANCHORS, SizedPair, sized_pair, source_pair


def cpu_seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returns."""
    begin = time.process_time()
    result = call()
    return time.process_time() - begin, result


def of(pair: SizedPair, count: int) -> np.ndarray:
    """(count, 2) anchors: some of the pair's own, or more, as far from each other as can be."""
    if count <= ANCHORS:
        return pair.anchors[:: ANCHORS // count][:count]
    known = np.flatnonzero(pair.truth.face >= 0)
    chosen = known[farthest_points(pair.partial.vertices[known], count)]
    return np.stack([chosen, pair.truth[chosen].nearest_vertex(pair.full)], axis=1)


def measured(pair: SizedPair, wanted: str) -> tuple[float, float, float]:
    """CPU seconds of a match, those of the floor, and the error."""
    settings = nho.preset("default").replace(threads=1)
    anchors: str | np.ndarray = wanted
    if wanted != "auto":
        anchors = of(pair, int(wanted))
    os.environ["NHO_CACHE"] = "off"
    eigen = floor(1)
    before, _ = cpu_seconds(lambda: eigen(pair))
    seconds, result = cpu_seconds(lambda: nho.match(pair.partial, pair.full, anchors, settings))
    after, _ = cpu_seconds(lambda: eigen(pair))
    rows = pair.judged_rows()
    rows = rows[result.face[rows] >= 0]
    found, true = (of[rows].positions(pair.full) for of in (result.points, pair.truth))
    error = 100 * float(np.linalg.norm(found - true, axis=1).mean())
    return seconds, (before + after) / 2, error


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vertices", type=int, default=5000)
    parser.add_argument("anchors", nargs="+", help="a number, or auto")
    given = parser.parse_args()
    pair = sized_pair(source_pair(), given.vertices)
    measured(pair, str(ANCHORS))  # imports and first calls do not count
    print("anchors: CPU s, floor, ratio, error")
    for wanted in given.anchors:
        seconds, least, error = measured(pair, wanted)
        print(f"{wanted}: {seconds:.2f} {least:.2f} {seconds / least:.2f} {error:.2f}", flush=True)


if __name__ == "__main__":
    main()
