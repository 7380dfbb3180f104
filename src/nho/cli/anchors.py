"""`nho anchors`: places for anchors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nho.anchor_files import write_anchors
from nho.errors import InputError
from nho.groundtruth import read_ground_truth
from nho.mesh import Mesh
from nho.sampling import sample_vertices

app = typer.Typer(help="Make and check anchors.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Make and check anchors."""


@app.command("sample")
def sample_command(
    partial: Annotated[Path, typer.Argument(help="The partial surface.")],
    out: Annotated[Path, typer.Option("--out", help="CSV to write.")],
    full: Annotated[
        Path | None, typer.Option("--full", help="The full surface (with --ground-truth).")
    ] = None,
    ground_truth: Annotated[
        Path | None,
        typer.Option("--ground-truth", help="Known map, to fill in the full vertices."),
    ] = None,
    count: Annotated[int, typer.Option("--count", help="How many anchors.")] = 25,
    method: Annotated[
        str, typer.Option("--method", help="`geodesic` or `euclidean` FPS, or `random`.")
    ] = "geodesic",
    seed: Annotated[int, typer.Option("--seed", help="Draws the first (or every) vertex.")] = 0,
) -> None:
    """Choose well-spread vertices of PARTIAL as anchors.

    With a ground truth the CSV is complete; without, the column `full` is empty, to be filled in.

    Example: `nho anchors sample scan.ply --count 25 --out pairs.csv`
    """
    mesh = Mesh.read(partial)
    if (full is None) != (ground_truth is None):
        raise InputError("--full and --ground-truth go together; give both or neither")
    if full is None or ground_truth is None:
        chosen = sample_vertices(mesh, count, method, seed)
        partners = np.full(count, -1)
    else:
        full_mesh = Mesh.read(full)
        truth = read_ground_truth(ground_truth, mesh, full_mesh).points
        chosen = sample_vertices(mesh, count, method, seed, np.flatnonzero(truth.face >= 0))
        partners = truth[chosen].nearest_vertex(full_mesh)
    write_anchors(out, np.stack([chosen, partners], axis=1))
    typer.echo(f"wrote {count} anchors to {out}")
