"""`nho demo`: `nho match` and `nho eval` of the shipped pair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nho.cli.console import if_stopped, progress_display
from nho.cli.evaluate import evaluation_text
from nho.cli.match import print_summary, what_is_in
from nho.cli.options import Changes, Preset, Quiet, Seed, Threads, chosen_settings
from nho.evaluation.ground_truth import GroundTruth
from nho.evaluation.metrics import evaluate
from nho.evaluation.sample import load_sample, sample_paths
from nho.geometry.sampling import sample_vertices
from nho.geometry.surface import SurfacePoints
from nho.pipeline.matching import match
from nho.report.result_folder import check_folder, write_outputs
from nho.runtime.input_protection import InputFiles, listed_files


def demo_command(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for the result.")
    ] = Path("nho-demo"),
    kind: Annotated[str, typer.Option("--kind", help="The cut: `plane` or `balls`.")] = "plane",
    count: Annotated[int, typer.Option("--anchors", help="How many anchors.")] = 25,
    preset_name: Preset = "default",
    changes: Changes = [],  # noqa: B006  (typer reads it, nothing changes it)
    seed: Seed = None,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Match the shipped pair: part of a human body, in another pose and with other triangles.

    Prints the errors against the exact ground truth and says where the report is.

    Example: `nho demo --out nho-demo`
    """
    settings = chosen_settings(preset_name, changes, seed, threads)
    inputs = InputFiles([sample_paths(), *listed_files(settings.checkpoints)])
    check_folder(out, inputs)
    sample = load_sample(kind)
    chosen = sample_vertices(sample.partial, count)
    anchors = np.stack([chosen, sample.truth_vertex[chosen]], axis=1)
    with if_stopped(what_is_in(out)):
        with progress_display(quiet) as progress:
            result = match(sample.partial, sample.full, anchors, settings, progress)
        points = SurfacePoints(sample.truth_face, sample.truth_barycentric)
        scores = evaluate(result, sample.full, GroundTruth(points, sample.truth_region))
        write_outputs(out, sample.partial, sample.full, result, scores.as_dict(), inputs=inputs)
        typer.echo(evaluation_text(scores))
        print_summary(result, out)
