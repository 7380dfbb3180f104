"""`nho match`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from nho.cli.console import progress_display
from nho.cli.saying import say
from nho.cli.stopping import if_stopped, result_in
from nho.geometry.mesh import Mesh
from nho.pipeline.automatic_anchors import check_source, is_automatic
from nho.pipeline.matching import match
from nho.problem.anchor_files import read_anchors
from nho.problem.anchors import Anchors
from nho.problem.result import MatchResult
from nho.report.result_folder import check_folder, write_outputs
from nho.settings import Settings, preset

PartialFile = Annotated[Path, typer.Argument(help="The partial surface (scan).")]
FullFile = Annotated[Path, typer.Argument(help="The full surface (template).")]
Preset = Annotated[str, typer.Option("--preset", help="`default` or `paper`.")]
Changes = Annotated[
    list[str], typer.Option("--set", metavar="KEY=VALUE", help="Change one setting; repeatable.")
]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of the initial weights.")]
Threads = Annotated[int | None, typer.Option("--threads", help="Worker threads; 0 = every core.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")]


def match_command(
    partial: PartialFile,
    full: FullFile,
    anchors: Annotated[
        list[Path],
        typer.Option(
            "--anchors",
            help="File of anchors; or twice: landmarks of PARTIAL, then of FULL; or `auto`.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for the result.")],
    flip_anchors: Annotated[
        str,
        typer.Option(
            "--flip-anchors",
            metavar="SIDE",
            help="Negate x and y of landmarks (LPS <-> RAS): `partial`, `full` or `both`.",
        ),
    ] = "none",
    preset_name: Preset = "default",
    changes: Changes = [],  # noqa: B006  (typer reads it, nothing changes it)
    seed: Seed = None,
    threads: Threads = None,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Summary as JSON on stdout.")] = False,
) -> None:
    """Match PARTIAL to FULL: region, dense map (partial to full) and confidence.

    Meshes: PLY, OBJ, OFF, STL, GLB, VTK, VTP. Anchors: CSV with columns `partial,full` (vertex
    indices from 0) or `partial_x,partial_y,partial_z,full_x,full_y,full_z`; or two files of
    landmarks, from 3D Slicer (.mrk.json, .fcsv), MeshLab (.pp), landmarker.io (.ljson), Faceform
    Wrap (.txt), or CSV with columns `name,x,y,z`, which pair by name or else by order.

    `--anchors auto` finds them by shape alone; `auto:dpfm`, `auto:ulrssm`, `auto:wormhole` and
    `auto:echomatch` by a network (needs `nho[features]`; `--set weights=FILE` for your own).

    Writes result.npz, settings.json, partial.ply, full.ply and report.html to the folder.

    Example: `nho match scan.ply template.obj --anchors pairs.csv --out result`

    Example: `nho match scan.ply template.obj --anchors scan.pp --anchors template.pp --out result`

    Example: `nho match scan.ply template.obj --anchors auto --out result`
    """
    settings = chosen_settings(preset_name, changes, seed, threads)
    check_folder(out)
    with if_stopped(result_in(out)):
        partial_mesh, full_mesh = Mesh.read(partial), Mesh.read(full)
        given: Anchors | str
        if len(anchors) == 1 and is_automatic(anchors[0]):
            check_source(anchors[0])
            given = str(anchors[0])
        else:
            given = read_anchors(anchors, partial_mesh, full_mesh, flip_anchors)
        with progress_display(quiet) as progress:
            result = match(partial_mesh, full_mesh, given, settings, progress)
        write_outputs(out, partial_mesh, full_mesh, result)
        if as_json:
            typer.echo(json.dumps({**summary(result), "out": str(out)}))
        elif not quiet:
            print_summary(result, out)


def chosen_settings(
    preset_name: str, changes: list[str], seed: int | None, threads: int | None
) -> Settings:
    """Preset, then ``--set``, then ``--seed`` and ``--threads``."""
    settings = preset(preset_name).with_text(changes)
    if seed is not None:
        settings = settings.replace(seed=seed)
    if threads is not None:
        settings = settings.replace(threads=threads)
    return settings


def summary(result: MatchResult) -> dict[str, object]:
    """The few numbers a user wants to see first."""
    return {
        "status": result.status,
        "matched_vertices": int((result.vertex_map >= 0).sum()),
        "partial_vertices": len(result.vertex_map),
        "region_vertices": int(result.region.sum()),
        "full_vertices": len(result.region),
        "mean_confidence": float(result.confidence.mean()),
        "seconds": round(result.timings["total"], 3),
        "warnings": list(result.warnings),
    }


def print_summary(result: MatchResult, out: Path) -> None:
    """A few lines on stdout; warnings on stderr."""
    for warning in result.warnings:
        say(f"warning: {warning}", err=True)
    if result.status != "ok":
        say(f"status: {result.status}", err=True)
    told = summary(result)
    typer.echo(
        f"matched {told['matched_vertices']} of {told['partial_vertices']} partial vertices, "
        f"mean confidence {told['mean_confidence']:.2f}; region: {told['region_vertices']} of "
        f"{told['full_vertices']} full vertices; {told['seconds']:.1f} s"
    )
    say(f"look at {out / 'report.html'}")
