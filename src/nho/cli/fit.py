"""`nho fit`: the template deformed onto the scan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from nho.cli.console import progress_display
from nho.cli.match import FullFile, PartialFile, Quiet
from nho.cli.saying import say
from nho.cli.transfer import AsJson, MinConfidence, ResultFolder
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.attributes import read_with_attributes
from nho.io.attributes.write import check_writable, write_with_attributes
from nho.problem.result import finite_or_none
from nho.transfer import fit_template, load_for

_MESHES = (".ply", ".obj", ".glb", ".vtp", ".npz")


def fit_command(
    result: ResultFolder,
    partial: PartialFile,
    full: FullFile,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help=".ply, .obj, .glb, .vtp or .npz.")
    ],
    min_confidence: MinConfidence = 0.0,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Deform FULL onto PARTIAL: the whole template in the pose and unit of the scan.

    Where the scan is, the template lies on it; where it is not, the template goes along as
    rigidly as possible, and bridges holes smoothly. Vertices and faces are those of FULL, so its
    texture, colours and labels stay; `on_scan` tells which vertices lie on the scan (1) and which
    were carried along (0). PARTIAL and FULL are the files that were matched.

    Example: `nho fit result scan.ply template.obj --out fitted.obj`
    """
    check_writable(out)
    if out.suffix.lower() not in _MESHES:
        raise InputError(f"{out.name}: a fitted template is a mesh; choose {', '.join(_MESHES)}")
    partial_mesh = Mesh.read(partial)
    full_mesh, attributes = read_with_attributes(full)
    answer = load_for(result, partial_mesh, full_mesh)
    with progress_display(quiet) as progress:
        fit = fit_template(
            answer, partial_mesh, full_mesh, min_confidence=min_confidence, progress=progress
        )
    marked = attributes.replace(vertex={**attributes.vertex, "on_scan": fit.on_scan})
    notes = [*attributes.notes, *write_with_attributes(out, fit.mesh, marked)]
    told = {**fit.summary(), "out": str(out)}
    for note in notes:
        say(f"note: {note}", err=True)
    if as_json:
        typer.echo(json.dumps(finite_or_none({**told, "notes": notes})))
    elif not quiet:
        say(
            f"{told['on_scan']} of {told['vertices']} vertices lie on the scan, at a distance of "
            f"{told['mean_distance_percent']:.3f} % of its diagonal (95 % within "
            f"{told['p95_distance_percent']:.3f} %); {told['inverted_faces']} faces turned over; "
            f"wrote {out}"
        )
