"""`nho eval`."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nho.cli.options import AsJson, RegionTruth, ResultFolder
from nho.errors import InputError
from nho.evaluation.ground_truth import read_ground_truth
from nho.evaluation.metrics import Evaluation, evaluate
from nho.geometry.mesh import FloatArray
from nho.problem.result import MatchResult, finite_or_none
from nho.transfer.cycles import cycle_errors


def eval_command(
    result: ResultFolder,
    ground_truth: Annotated[
        Path | None,
        typer.Option("--ground-truth", metavar="FILE", help=".map, .txt, .baryc_gt, .csv or .npz."),
    ] = None,
    back: Annotated[
        Path | None,
        typer.Option(
            "--back", metavar="RESULT", help="Match of the same two shapes in the other order."
        ),
    ] = None,
    unmatched: Annotated[
        bool,
        typer.Option(
            "--unmatched",
            help="Vertices that the file has no partner for (-1) have none; else it is unknown.",
        ),
    ] = False,
    region_truth: RegionTruth = "usual",
    as_json: AsJson = False,
) -> None:
    """Compare RESULT with a known map (error, region, overlap), or with the way back.

    Errors are edge-graph distances on the full shape over the square root of its area, times
    100. True images are the full vertices nearest to the known partners of partial vertices; how
    near another vertex is to them is measured along edges. Overlap scores count partial vertices
    with and without a partner, where the file tells (--unmatched, or the array of that name).

    Example: `nho eval result --ground-truth scan_template.map`

    Either shape may be called the full one. The cycle error is how far from themselves vertices of
    the partial shape come back to, straight, over the square root of its area, times 100:

    Example: `nho eval there --back back`
    """
    if ground_truth is None and back is None:
        raise InputError("nothing to compare with; give --ground-truth FILE or --back RESULT")
    answer = MatchResult.load(result)
    texts, values = [], {}
    if ground_truth is not None:
        truth = read_ground_truth(ground_truth, answer.partial, answer.full)
        truth = truth.under(region_truth, answer.full)
        if unmatched:
            truth = replace(truth, unmatched=truth.points.face < 0)
        scores = evaluate(answer, answer.full, truth)
        texts.append(evaluation_text(scores))
        values.update(scores.as_dict())
    if back is not None:
        cycle = cycle_scores(cycle_errors(answer, MatchResult.load(back)))
        texts.append(cycle_text(cycle))
        values.update(cycle)
    typer.echo(json.dumps(finite_or_none(values)) if as_json else "\n".join(texts))


def cycle_scores(errors: FloatArray) -> dict[str, float]:
    """How many of (n,) cycle errors are known, in percent, and how large these are, x100."""
    known = 100 * errors[np.isfinite(errors)]
    mean, median = (float(of(known)) if len(known) else math.nan for of in (np.mean, np.median))
    share = 100 * len(known) / len(errors)
    return {"cycle_error": mean, "cycle_error_median": median, "cycle_known": share}


def cycle_text(scores: dict[str, float]) -> str:
    """A line a person can read."""
    return (
        f"cycle error x100: mean {scores['cycle_error']:.2f}, median "
        f"{scores['cycle_error_median']:.2f}; {scores['cycle_known']:.1f} % have a way back"
    )


def evaluation_text(scores: Evaluation) -> str:
    """Two or three lines a person can read."""
    overlap = (
        f"\noverlap: IoU {scores.overlap_iou:.1f} %, precision {scores.overlap_precision:.1f} %, "
        f"recall {scores.overlap_recall:.1f} %; without a partner: F1 {scores.no_partner_f1:.1f} %"
    )
    return (
        f"geodesic error x100: mean {scores.geodesic_error:.2f} (nearest vertices "
        f"{scores.geodesic_error_vertex:.2f}), median {scores.geodesic_error_median:.2f}, "
        f"worst {scores.geodesic_error_worst:.2f}; {scores.matched:.1f} % matched\n"
        f"region: IoU {scores.iou:.1f} %, precision {scores.precision:.1f} %, "
        f"recall {scores.recall:.1f} %, F1 {scores.f1:.1f} %"
        + overlap
        * math.isfinite(scores.overlap_iou)
    )
