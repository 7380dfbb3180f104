"""Is preset ``paper`` the paper's loop? Its answers beside those of the plain torch version.

    python -m benchmarks.same_result --size 1k --seeds 5

From the same weights the two agree to rounding for the first steps; then training amplifies the
rounding and single answers part. What must agree is their distribution over seeds.
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.__main__ import vertices
from benchmarks.cases import preset, torch_reference
from benchmarks.child import judged_rows
from benchmarks.pairs import source_pair, task_of_size
from nho.evaluation.metrics import geodesic_errors, region_scores


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", default="1k")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    task = task_of_size(source_pair(), vertices(options.size))
    rows, areas = judged_rows(task), task.full.vertex_areas
    scores: dict[str, list[tuple[float, float]]] = {"paper": [], "torch-reference": []}
    print(
        "| seed | paper: error, IoU | torch: error, IoU | losses differ, 20 steps |\n"
        "|---|---|---|---|"
    )
    for seed in range(options.seeds):
        cells, losses = [], []
        for name, run in (
            ("paper", preset("paper", seed=seed)(0)),
            ("torch-reference", torch_reference(0, seed)),
        ):
            found = run(task)
            errors = 100 * geodesic_errors(task.full, found.points[rows], task.truth[rows])
            iou = 100 * region_scores(found.region, task.region, areas)["iou"]
            scores[name].append((float(np.nanmean(errors)), iou))
            cells.append(f"{scores[name][-1][0]:.1f}, {iou:.1f}")
            losses.append(np.array(found.notes["losses"][:20]))
        gap = np.abs(losses[0] / losses[1] - 1).max()
        print(f"| {seed} | {cells[0]} | {cells[1]} | {gap:.1e} |", flush=True)
    for name, found in scores.items():
        mean, spread = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
        print(
            f"{name}: error {mean[0]:.1f} +- {spread[0]:.1f}, IoU {mean[1]:.1f} +- {spread[1]:.1f}"
        )


if __name__ == "__main__":
    main()
