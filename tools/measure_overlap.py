"""How well missing partners are told on all pairs of some families, with one number of anchors.

    python tools/measure_overlap.py --data DIR --anchors 10 species
    python tools/measure_overlap.py --data DIR pfaust_m_lacking pfaust_h_lacking
    python tools/measure_overlap.py --data DIR --time --pairs 3 --anchors 5 tosca tosca_foreign
    python tools/measure_overlap.py --data DIR --back --pairs 3 species

A line a pair: share of the annotated partial vertices that have no partner, F1 of finding them, IoU
of those that have one, IoU of the region on the full shape, and the mean straight distance to the
true points (x100 of the square root of the full area) where there is a partner and one was given.
With `--time`: CPU seconds of `nho.match` without and with `overlap`, and their ratio. With
`--back`: mean and median cycle error of the match and the one in the other order (x100), and the
percentage of vertices with a partner that have a way back.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import nho
from nho.evaluation.metrics import overlap_scores, region_scores
from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.datasets.pair import AnnotatedPair
from nho.transfer import cycle_errors


def measured(pair: AnnotatedPair, count: int) -> np.ndarray:
    """(5,) what a line shows."""
    result = nho.match(pair.partial, pair.full, pair.anchors(count))
    truth = pair.truth
    scores = overlap_scores(result, truth)
    region = region_scores(result.region, truth.region, pair.full.vertex_areas)
    absent = np.zeros(len(pair.annotated), bool) if truth.unmatched is None else truth.unmatched
    both = np.flatnonzero(pair.annotated & (result.face >= 0))
    found, true = (of[both].positions(pair.full) for of in (result.points, truth.points))
    away = 100 * np.linalg.norm(found - true, axis=1).mean() / np.sqrt(pair.full.area)
    share = 100 * absent.sum() / (absent | pair.annotated).sum()
    overlap = scores["no_partner_f1"], scores["overlap_iou"]
    return np.array([share, *overlap, 100 * region["iou"], away])


def timed(pair: AnnotatedPair, count: int) -> np.ndarray:
    """(3,) CPU seconds without and with `overlap`, and how many times as long it takes."""
    seconds, anchors = [], pair.anchors(count)
    for overlap in (False, True):
        settings = nho.preset("default").replace(overlap=overlap, threads=1)
        start = time.process_time()
        nho.match(pair.partial, pair.full, anchors, settings)
        seconds.append(time.process_time() - start)
    return np.array([*seconds, seconds[1] / seconds[0]])


def both_ways(pair: AnnotatedPair, count: int) -> np.ndarray:
    """(3,) cycle errors of the match and of that in the other order, and how many are known."""
    anchors = pair.anchors(count)
    there = nho.match(pair.partial, pair.full, anchors)
    errors = 100 * cycle_errors(there, nho.match(pair.full, pair.partial, anchors[:, ::-1]))
    known = np.isfinite(errors)
    share = 100 * known.sum() / (there.face >= 0).sum()
    return np.array([errors[known].mean(), np.median(errors[known]), share])


def main() -> None:
    """Measure the families of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--anchors", type=int, default=25)
    parser.add_argument("--pairs", type=int, metavar="N", help="the first N of each family")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--time", action="store_true", help="measure time in place of truth")
    other.add_argument("--back", action="store_true", help="measure the way there and back")
    parser.add_argument("families", nargs="+", choices=list(FAMILIES), metavar="FAMILY")
    given = parser.parse_args()
    measure, middle, words = measured, np.nanmean, "no partner, F1, IoU partial, IoU full, error"
    if given.time:
        measure, middle, words = timed, np.median, "CPU s without, with, ratio"
    if given.back:
        measure, words = both_ways, "cycle error, median, way back"
    print("pair:", words)
    for family in given.families:
        rows = []
        for name in FAMILIES[family].names(given.data)[: given.pairs]:
            rows.append(measure(FAMILIES[family].load(given.data, name), given.anchors))
            print(f"{family} {name}:", *(f"{value:.2f}" for value in rows[-1]), flush=True)
        of = "median" if given.time else "mean"
        print(f"{of} of {family}:", *(f"{value:.2f}" for value in middle(rows, axis=0)))


if __name__ == "__main__":
    main()
