"""`nho eval`."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from nho.cli.options import AsJson, RegionTruth, ResultFolder
from nho.evaluation.ground_truth import read_ground_truth
from nho.evaluation.metrics import Evaluation, evaluate
from nho.geometry.mesh import Mesh
from nho.problem.result import MatchResult, finite_or_none


def eval_command(
    result: ResultFolder,
    ground_truth: Annotated[
        Path,
        typer.Option("--ground-truth", metavar="FILE", help=".map, .txt, .baryc_gt, .csv or .npz."),
    ],
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
    """Compare RESULT with a known map: geodesic error, region and overlap scores.

    Errors are edge-graph distances on the full shape over the square root of its area, times
    100. True images are the full vertices nearest to the known partners of partial vertices; how
    near another vertex is to them is measured along edges. Overlap scores count partial vertices
    with and without a partner, where the file tells (--unmatched, or the array of that name).

    Example: `nho eval result --ground-truth scan_template.map`
    """
    answer = MatchResult.load(result)
    partial, full = Mesh.read(result / "partial.ply"), Mesh.read(result / "full.ply")
    truth = read_ground_truth(ground_truth, partial, full).under(region_truth, full)
    if unmatched:
        truth = replace(truth, unmatched=truth.points.face < 0)
    scores = evaluate(answer, full, truth)
    if as_json:
        typer.echo(json.dumps(finite_or_none(scores.as_dict())))
    else:
        typer.echo(evaluation_text(scores))


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
