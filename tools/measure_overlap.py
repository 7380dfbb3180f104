"""How well missing partners are told on all pairs of some families, with one number of anchors.

    python tools/measure_overlap.py --data DIR --anchors 10 species
    python tools/measure_overlap.py --data DIR pfaust_m_lacking pfaust_h_lacking

A line a pair: share of the annotated partial vertices that have no partner, F1 of finding them, IoU
of those that have one, IoU of the region on the full shape, and the mean straight distance to the
true points (x100 of the square root of the full area) where there is a partner and one was given.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import nho
from nho.evaluation.metrics import overlap_scores, region_scores
from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.datasets.pair import AnnotatedPair


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


def main() -> None:
    """Measure the families of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--anchors", type=int, default=25)
    parser.add_argument("families", nargs="+", choices=list(FAMILIES), metavar="FAMILY")
    given = parser.parse_args()
    print("pair: no partner, F1 of that, IoU partial, IoU full, error")
    for family in given.families:
        rows = []
        for pair in FAMILIES[family].pairs(given.data):
            rows.append(measured(pair, given.anchors))
            print(f"{family} {pair.name}:", *(f"{value:.2f}" for value in rows[-1]), flush=True)
        print(f"mean of {family}:", *(f"{value:.2f}" for value in np.nanmean(rows, axis=0)))


if __name__ == "__main__":
    main()
