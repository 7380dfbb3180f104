"""Is preset ``paper`` the paper's loop? Its answers beside those of the plain torch version.

From the same weights the two agree to rounding for the first steps; then training amplifies the
rounding and single answers part. What must agree is their distribution over seeds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nho.evaluation.metrics import geodesic_errors, region_scores
from nho.lab.speed.cases import preset, torch_reference
from nho.lab.speed.sized_pairs import SizedPair

SAME_STEPS = 20  # of the first fit, before round-off has grown


def same_result(pair_file: str, seeds: list[int]) -> dict[str, Any]:
    """Run both from the weights of each seed.

    Returns
    -------
    dict
        ``seeds``: for each one the mean error x100 and the IoU in percent of ``paper`` and
        ``torch-reference``, and the ``loss_gap`` between them.
    """
    pair = SizedPair.load(Path(pair_file))
    rows, areas = pair.judged_rows(), pair.full.vertex_areas
    table = []
    for seed in seeds:
        entry: dict[str, Any] = {"seed": seed}
        curves = []
        for name, call in (
            ("paper", preset("paper", seed=seed, readout_operator="reduced")(0)),
            ("torch-reference", torch_reference(0, seed)),
        ):
            found = call(pair)
            assert found.points is not None and found.region is not None
            errors = 100 * geodesic_errors(pair.full, found.points[rows], pair.truth[rows])
            iou = 100 * region_scores(found.region, pair.region, areas)["iou"]
            entry[name] = {"error": float(np.nanmean(errors)), "iou": iou}
            curves.append(found.notes["losses"])
        table.append({**entry, "loss_gap": loss_gap(*curves)})
    return {"seeds": table}


def loss_gap(ours: list[float], theirs: list[float]) -> float:
    """Largest relative difference of the first losses."""
    return max(abs(a / b - 1) for a, b in list(zip(ours, theirs, strict=False))[:SAME_STEPS])
