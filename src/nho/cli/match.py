"""`nho match`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from nho.cli.console import if_stopped, progress_display, say, say_notes
from nho.cli.options import (
    AsJson,
    Changes,
    FullFile,
    Model,
    PartialFile,
    Preset,
    Quiet,
    Seed,
    Threads,
    chosen_settings,
    model_files,
    read_model,
)
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.pipeline.automatic_anchors import check_source, is_automatic
from nho.pipeline.matching import match
from nho.problem.anchors import Anchors, read_anchors
from nho.problem.result import MatchResult, stored_description
from nho.report.result_folder import check_folder, write_outputs
from nho.runtime.input_protection import InputFiles, listed_files


def match_command(
    partial: PartialFile,
    full: FullFile,
    anchors: Annotated[
        list[Path],
        typer.Option(
            "--anchors",
            metavar="FILE",
            help="Anchor file; or the option twice, with the landmarks of PARTIAL, then of FULL; "
            "or `auto`.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the result.")],
    flip_anchors: Annotated[
        str,
        typer.Option(
            "--flip-anchors",
            metavar="SIDE",
            help="Negate x and y of landmarks (LPS <-> RAS): `partial`, `full` or `both`.",
        ),
    ] = "none",
    model: Model = None,
    preset_name: Preset = "default",
    changes: Changes = [],  # noqa: B006  (typer reads it, nothing changes it)
    seed: Seed = None,
    threads: Threads = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Match PARTIAL to FULL: region, dense map (partial to full) and confidence.

    Meshes: PLY, OBJ, OFF, STL, GLB, VTK, VTP; point clouds: PLY, XYZ, PTS, NPY, LAS, LAZ, E57.
    Anchors: CSV with columns `partial,full` (vertex indices from 0) or
    `partial_x,partial_y,partial_z,full_x,full_y,full_z`; or two files of landmarks, from 3D Slicer
    (.mrk.json, .fcsv), MeshLab (.pp), landmarker.io (.ljson), Faceform Wrap (.txt), or CSV with
    columns `name,x,y,z`, paired by name, or else by order.

    `--anchors auto` finds them by shape alone; `auto:dpfm`, `auto:ulrssm`, `auto:wormhole` and
    `auto:echomatch` by a network (needs `nho[learned]`; `--set checkpoints=FILE` for your own).

    With `--model` the template is also bent to the shape that a shape space (`nho shapes`) expects
    of PARTIAL, and matched again; that map is taken if it stretches PARTIAL less.

    Writes result.npz, result.json, partial.ply, full.ply and report.html to the folder.

    Example: `nho match scan.ply template.obj --anchors pairs.csv --out result`

    Example: `nho match scan.ply template.obj --anchors scan.pp --anchors template.pp --out result`

    Example: `nho match scan.ply template.obj --anchors auto --out result`

    Example: `nho match scan.ply template.obj --anchors pairs.csv --model shapes --out result`
    """
    settings = chosen_settings(preset_name, changes, seed, threads)
    automatic = len(anchors) == 1 and is_automatic(anchors[0])
    given_files = [*([] if automatic else anchors), *model_files(model)]
    inputs = InputFiles([partial, full, *given_files, *listed_files(settings.checkpoints)])
    check_folder(out, inputs)
    with if_stopped(what_is_in(out)):
        partial_mesh, full_mesh = Mesh.read(partial), Mesh.read(full)
        space = read_model(model, full_mesh)
        given: Anchors | str
        if automatic:
            check_source(anchors[0])
            given = str(anchors[0])
        else:
            given = read_anchors(anchors, partial_mesh, full_mesh, flip_anchors)
        with progress_display(quiet) as progress:
            result = match(partial_mesh, full_mesh, given, settings, progress, space)
        write_outputs(out, partial_mesh, full_mesh, result, inputs=inputs)
        if as_json:
            typer.echo(json.dumps({**_summary(result), "out": str(out)}))
        elif not quiet:
            if space is not None:
                say_notes([*result.notes[-1:]])  # what became of the shape space
            print_summary(result, out)


def _summary(result: MatchResult) -> dict[str, object]:
    """The few numbers that a user wants to see first."""
    return {
        "status": result.status,
        **result.summary(),
        "seconds": round(result.timings["total"], 3),
        "warnings": list(result.warnings),
        "notes": list(result.notes),
    }


def print_summary(result: MatchResult, out: Path) -> None:
    """Print a few lines to stdout; warnings to stderr."""
    for warning in result.warnings:
        say(f"warning: {warning}", err=True)
    if result.status != "ok":
        say(f"status: {result.status}", err=True)
    shown = _summary(result)
    others = " (the others have no partner)" if (result.vertex_map < 0).any() else ""
    typer.echo(
        f"matched {shown['matched_vertices']} of {shown['partial_vertices']} partial vertices"
        f"{others}, mean confidence {shown['mean_confidence']:.2f}; region: "
        f"{shown['region_vertices']} of {shown['full_vertices']} full vertices; "
        f"{shown['seconds']:.1f} s"
    )
    more = len(result.notes)
    listed = f" ({more} note{'s' * (more != 1)} in it)" if more else ""
    say(f"look at {out / 'report.html'}{listed}")


def what_is_in(out: Path) -> Callable[[], str]:
    """What to say when the command is stopped: which result the folder then holds, if any."""
    earlier = _record(out)

    def message() -> str:
        now = _record(out)
        if now is None:
            return "nothing was written; run the same command to start again"
        if now == earlier:
            return f"{out} still holds the earlier result; run the same command to start again"
        return f"but the result in {out} is complete"

    return message


def _record(out: Path) -> bytes | None:
    """A file that differs from result to result, as it holds their timings."""
    try:
        return stored_description(out)
    except (OSError, InputError):
        return None
