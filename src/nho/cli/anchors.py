"""`nho anchors`: places for anchors, and their files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nho.cli.console import progress_display, say, say_notes
from nho.cli.options import FullFile, PartialFile
from nho.errors import InputError
from nho.evaluation.ground_truth import read_ground_truth
from nho.geometry.mesh import Mesh
from nho.geometry.sampling import sample_vertices
from nho.io.landmarks import (
    PAIR_FILES,
    LandmarkPairs,
    Landmarks,
    holds_pairs,
    read_landmarks,
    read_pairs,
    suffix_of,
    write_landmarks,
    write_pairs,
)
from nho.pipeline.automatic_anchors import AUTO, check_source, found_anchors, is_automatic
from nho.problem.anchors import write_anchors
from nho.runtime.input_protection import InputFiles, listed_files
from nho.settings import preset

OutFiles = Annotated[
    list[Path],
    typer.Option(
        "--out", metavar="FILE", help="File to write; the suffix chooses the format. Repeatable."
    ),
]
SIDES = ("partial", "full", "both")
app = typer.Typer(help="Make and convert anchors.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Make and convert anchors."""


@app.command("find")
def find_command(
    partial: PartialFile,
    full: FullFile,
    out: OutFiles,
    method: Annotated[
        str,
        typer.Option("--method", help="`auto`, by shape alone, or `auto:dpfm` and other networks."),
    ] = AUTO,
    checkpoints: Annotated[
        str,
        typer.Option(
            "--checkpoints",
            metavar="FILE,...",
            help="Checkpoint files of the network, comma-separated; default: the shipped ones.",
        ),
    ] = "",
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Find anchors between PARTIAL and FULL by shape, for you to check and correct.

    `nho match --anchors auto` finds the same anchors and matches at once, but treats them as
    hints, not as fixed points.

    Example: `nho anchors find scan.ply template.obj --out pairs.csv`
    """
    if not is_automatic(method):
        raise InputError(f"--method {method!r} is unknown; choose {AUTO} or {AUTO}:METHOD")
    check_source(method)
    _refuse_inputs(out, [partial, full, *listed_files(checkpoints)])
    partial_mesh, full_mesh = Mesh.read(partial), Mesh.read(full)
    settings = preset("default").replace(checkpoints=checkpoints)
    with progress_display(quiet) as progress:
        found = found_anchors(method, partial_mesh, full_mesh, settings, progress)
    say_notes([*found.notes, *write_anchors(out, found, partial_mesh, full_mesh)])
    say(f"wrote {len(found)} anchors to {' and '.join(map(str, out))}")


@app.command("sample")
def sample_command(
    partial: PartialFile,
    out: OutFiles,
    full: Annotated[
        Path | None,
        typer.Option("--full", metavar="FILE", help="The full surface (with --ground-truth)."),
    ] = None,
    ground_truth: Annotated[
        Path | None,
        typer.Option(
            "--ground-truth", metavar="FILE", help="Known map, to fill in the full vertices."
        ),
    ] = None,
    count: Annotated[int, typer.Option("--count", help="How many anchors.")] = 25,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="Farthest-point sampling by `geodesic` or `euclidean` distance, or `random`.",
        ),
    ] = "geodesic",
    seed: Annotated[
        int, typer.Option("--seed", help="Random seed of the first vertex (of all with `random`).")
    ] = 0,
) -> None:
    """Choose well-spread vertices of PARTIAL as anchors.

    With a ground truth the pairs are complete; without, the full points are empty, to be filled
    in. A format that holds one shape (.mrk.json, .fcsv, .pp, .ljson, .txt) gets the points of
    PARTIAL; give `--out` twice for those of both.

    Example: `nho anchors sample scan.ply --count 25 --out pairs.csv`

    Example: `nho anchors sample scan.ply --count 25 --out scan.mrk.json`
    """
    if (full is None) != (ground_truth is None):
        raise InputError("--full and --ground-truth go together; give both or neither")
    if len(out) == 2 and full is None:
        raise InputError("two files need the points of both shapes; add --full and --ground-truth")
    _refuse_inputs(out, [partial, full, ground_truth])
    mesh, full_mesh = Mesh.read(partial), None
    if full is None or ground_truth is None:
        chosen = sample_vertices(mesh, count, method, seed)
        partners = np.full(count, -1)
    else:
        full_mesh = Mesh.read(full)
        truth = read_ground_truth(ground_truth, mesh, full_mesh).points
        chosen = sample_vertices(mesh, count, method, seed, np.flatnonzero(truth.face >= 0))
        partners = truth[chosen].nearest_vertex(full_mesh)
    pairs = np.stack([chosen, partners], axis=1)
    if len(out) == 1 and suffix_of(out[0]) not in PAIR_FILES:
        write_landmarks(out[0], Landmarks.at_vertices(chosen), mesh)
    else:
        write_anchors(out, pairs, mesh, full_mesh)
    say(f"wrote {count} anchors to {' and '.join(map(str, out))}")


@app.command("convert")
def convert_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="One file, or two: the points of the partial and of the full shape.",
        ),
    ],
    out: OutFiles,
    partial: Annotated[
        Path | None,
        typer.Option(
            "--partial",
            metavar="FILE",
            help="The partial surface; needed to convert vertices or faces to coordinates or back.",
        ),
    ] = None,
    full: Annotated[
        Path | None, typer.Option("--full", metavar="FILE", help="The full surface, likewise.")
    ] = None,
    flip: Annotated[
        bool, typer.Option("--flip", help="Negate x and y of coordinates: LPS <-> RAS.")
    ] = False,
    scale: Annotated[
        float, typer.Option("--scale", help="Multiply coordinates: 0.001 converts mm to m.")
    ] = 1.0,
    side: Annotated[
        str, typer.Option("--side", help="What to flip and scale: `partial`, `full` or `both`.")
    ] = "both",
) -> None:
    """Convert landmarks and anchors between formats.

    Suffixes: .csv, .json (both hold pairs or one shape), .mrk.json and .fcsv (3D Slicer), .pp
    (MeshLab), .ljson (landmarker.io), .txt (Faceform Wrap). The surface is needed where vertices
    or faces become coordinates or the reverse.

    One file of one shape to another:

    Example: `nho anchors convert scan.mrk.json --out scan.pp`

    Two files to one file of pairs, and back:

    Example: `nho anchors convert scan.pp template.pp --out pairs.csv`

    Example: `nho anchors convert pairs.csv --out scan.pp --out template.pp --partial scan.ply
    --full template.ply`

    From LPS to RAS:

    Example: `nho anchors convert scan.mrk.json --out scan-ras.mrk.json --flip`
    """
    if side not in SIDES:
        raise InputError(f"--side is {side!r}; choose {', '.join(SIDES)}")
    if not (np.isfinite(scale) and scale > 0):
        raise InputError(f"--scale is {scale:g}; give a positive number")
    _refuse_inputs(out, [*files, partial, full])
    meshes = [None if path is None else Mesh.read(path) for path in (partial, full)]
    if len(files) == 1 and not holds_pairs(files[0]):
        count, notes = _convert_one(files[0], out, meshes, flip, scale)
    else:
        pairs = read_pairs(files, unfinished=True)
        changed = LandmarkPairs(
            pairs.partial if side == "full" else _changed(pairs.partial, flip, scale),
            pairs.full if side == "partial" else _changed(pairs.full, flip, scale),
            pairs.names,
            source=pairs.source,
        )
        notes = [*pairs.partial.notes, *pairs.full.notes, *pairs.notes]
        notes += write_pairs(out, changed, meshes[0], meshes[1])
        count = len(pairs)
    say_notes(notes)
    say(f"wrote {count} points to {' and '.join(map(str, out))}")


def _refuse_inputs(out: list[Path], inputs: list[Path | None]) -> None:
    known = InputFiles(path for path in inputs if path is not None)
    for path in out:
        known.refuse_file(path)


def _convert_one(
    file: Path, out: list[Path], meshes: list[Mesh | None], flip: bool, scale: float
) -> tuple[int, list[str]]:
    """Convert the points of one shape, whichever it is; returns how many, and notes."""
    if len(out) != 1:
        raise InputError(f"{file}: it holds the points of one shape; give --out once")
    if None not in meshes:
        raise InputError(
            f"{file}: it holds the points of one shape; give the surface that they belong to, as "
            "--partial or --full, not both"
        )
    landmarks = read_landmarks(file)
    mesh = meshes[0] or meshes[1]
    notes = [*landmarks.notes, *write_landmarks(out[0], _changed(landmarks, flip, scale), mesh)]
    return len(landmarks), notes


def _changed(landmarks: Landmarks, flip: bool, scale: float) -> Landmarks:
    landmarks = landmarks.flipped() if flip else landmarks
    return landmarks.scaled(scale) if scale != 1 else landmarks
