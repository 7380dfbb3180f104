"""`nho complete` and `nho mirror`: missing parts, and the other side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nho.cli.console import progress_display, say, say_notes
from nho.cli.options import AsciiPly, AsJson, Model, Quiet, model_files, read_model
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.symmetry import Plane, find_symmetry, mirrored
from nho.io.attributes import (
    check_output_file,
    read_with_attributes,
    write_with_attributes,
)
from nho.pipeline.automatic_anchors import check_source, is_automatic
from nho.pipeline.matching import match
from nho.problem.anchors import read_anchors
from nho.problem.result import MatchResult
from nho.progress import ProgressCallback
from nho.report.result_folder import files_in
from nho.runtime.input_protection import InputFiles
from nho.shapes.prior import estimate_from_fit
from nho.transfer import complete, fit_template, load_for

_MESHES = (".ply", ".obj", ".glb", ".vtp", ".npz")
_AXES = {"x": 0, "y": 1, "z": 2}
_HARDLY = 0.05  # share of the missing surface: if less was taken from the other side, a note tells


def complete_command(
    scan: Annotated[Path, typer.Argument(metavar="SCAN", help="The partial surface.")],
    template: Annotated[Path, typer.Argument(metavar="TEMPLATE", help="The full surface.")],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", help="The complete shape: .ply, .glb, .vtp or .npz."),
    ],
    result: Annotated[
        Path | None,
        typer.Option("--result", metavar="DIR", help="Their match, as `nho match` wrote it."),
    ] = None,
    anchors: Annotated[
        list[Path],
        typer.Option(
            "--anchors", metavar="FILE", help="Instead of --result: match them now; as `nho match`."
        ),
    ] = [],  # noqa: B006  (typer reads it, nothing changes it)
    symmetric: Annotated[
        bool,
        typer.Option(
            "--mirror", help="Take missing parts from the other side of a symmetric template."
        ),
    ] = False,
    model: Model = None,
    refine: Annotated[
        bool,
        typer.Option(
            "--refine/--no-refine",
            help="As fine as the scan where it was measured, or only the template's vertices.",
        ),
    ] = True,
    min_confidence: Annotated[
        float,
        typer.Option("--min-confidence", help="Ignore matches with a lower confidence (0 to 1)."),
    ] = 0.0,
    ascii_ply: AsciiPly = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Complete SCAN by TEMPLATE: what was measured, and a prediction of the rest.

    Where SCAN was measured, the shape is SCAN itself; elsewhere it is TEMPLATE fitted to it, or
    with `--mirror` the other side of the scanned subject; there is no step between them. The mesh
    is that of TEMPLATE, watertight if TEMPLATE is, finer where SCAN is. `measured` is 1 for
    vertices on SCAN, `mirrored` 1 for those from the other side, and `uncertainty` says how far
    predicted ones are from the true surface (68 % are nearer), in the unit of SCAN. With `--model`
    a shape space (`nho shapes`) predicts what is missing, with its own uncertainty.

    Example: `nho complete skull.ply template.ply --result result --out complete.ply`

    Example: `nho complete skull.ply template.ply --anchors pairs.csv --mirror --out complete.ply`

    Example: `nho complete skull.ply template.ply --result result --model shapes --out complete.ply`
    """
    if (result is None) == (not anchors):
        raise InputError("give either --result DIR (a finished match) or --anchors, one of the two")
    _check_mesh_file(out)
    if model is not None and symmetric:
        raise InputError(
            "give either --model or --mirror; a model made by `nho shapes --symmetric` does both"
        )
    given = [*(files_in(result) if result else []), *anchors, *model_files(model)]
    inputs = InputFiles([scan, template, *given])
    inputs.refuse_file(out)
    partial, full = Mesh.read(scan), Mesh.read(template)
    space = read_model(model, full)
    symmetry = find_symmetry(full) if symmetric else None
    with progress_display(quiet) as progress:
        found = _match(partial, full, result, anchors, progress)
        fit, predicted = None, None
        if space is not None:
            fit = fit_template(
                found, partial, full, min_confidence=min_confidence, progress=progress
            )
            predicted = estimate_from_fit(space, found, partial, full, fit)
        completion = complete(
            found,
            partial,
            full,
            symmetry=symmetry,
            refine=refine,
            min_confidence=min_confidence,
            fit=fit,
            predicted=predicted,
            progress=progress,
        )
    marks = completion.attributes()
    notes = list(write_with_attributes(out, completion.mesh, marks, inputs, ascii_ply))
    if found.status != "ok":
        notes.insert(0, f"status of the match: {found.status}")
    if space is not None and not space.validation.part_fits:
        notes.append(
            "the shape space was made without `nho shapes --halves`: the uncertainty leaves out "
            "errors of the map and is too small"
        )
    summary = completion.summary()
    if symmetric:
        notes += _note_on_mirror(summary)
    say_notes(notes)
    if as_json:
        typer.echo(json.dumps({**summary, "status": found.status, "out": str(out), "notes": notes}))
    elif not quiet:
        other = f", {summary['mirrored_percent']:.1f} % from the other side" if symmetric else ""
        say(
            f"{summary['measured_percent']:.0f} % of the surface measured, the rest predicted"
            f"{other}, to within {summary['median_uncertainty']:.3g} (median), at most "
            f"{summary['largest_uncertainty']:.3g}; wrote {out}"
        )


def _note_on_mirror(summary: dict[str, float]) -> list[str]:
    """That the other side could not help, if it is missing as well."""
    missing = 100 - summary["measured_percent"]
    if summary["mirrored_percent"] >= _HARDLY * missing:
        return []
    return [
        "what is missing on one side is missing on the other as well: --mirror changed next to "
        "nothing, and the fitted template predicts the rest"
    ]


def mirror_command(
    mesh: Annotated[Path, typer.Argument(metavar="MESH", help="The surface.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Its mirror image.")],
    plane: Annotated[
        str,
        typer.Option(
            "--plane",
            metavar="PLANE",
            help="`auto`: its own plane of symmetry; or `x`, `y`, `z`: across that axis, through "
            "the middle of its box.",
        ),
    ] = "auto",
    ascii_ply: AsciiPly = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Mirror MESH, at its own plane of symmetry or at a plane of the axes.

    For a left bone and the template of a right one, and for the other side of a symmetric shape.
    Vertices keep their order and what is on them; faces are flipped so that the outside stays
    outside. The plane of symmetry is found from the map of the shape to its mirror image.

    Example: `nho mirror left_femur.ply --plane x --out right_femur.ply`

    Example: `nho mirror face.ply --out other_side.ply`
    """
    if plane not in ("auto", *_AXES):
        raise InputError(f"--plane is {plane!r}; choose auto, x, y or z")
    _check_mesh_file(out)
    inputs = InputFiles([mesh])
    inputs.refuse_file(out)
    surface, attributes = read_with_attributes(mesh)
    if plane == "auto":
        symmetry = find_symmetry(surface)
        chosen, asymmetry = symmetry.plane, float(np.median(symmetry.distance))
    else:
        middle = (surface.vertices.min(axis=0) + surface.vertices.max(axis=0)) / 2
        chosen, asymmetry = Plane(middle, np.eye(3)[_AXES[plane]]), None
    if attributes.uv is not None:
        attributes = attributes.replace(uv=attributes.uv[:, [0, 2, 1]])
    image = mirrored(surface, chosen)
    notes = [*attributes.notes, *write_with_attributes(out, image, attributes, inputs, ascii_ply)]
    say_notes(notes)
    normal, point = chosen.normal.tolist(), chosen.point.tolist()
    if as_json:
        about = {"normal": normal, "point": point, "asymmetry": asymmetry}
        typer.echo(json.dumps({**about, "out": str(out), "notes": notes}))
    elif not quiet:
        shown = ", ".join(f"{value:.3f}" for value in normal)
        off = "" if asymmetry is None else f"; half of the points are at most {asymmetry:.3g} off"
        say(f"mirrored at a plane with the normal ({shown}){off}; wrote {out}")


def _match(
    partial: Mesh,
    full: Mesh,
    result: Path | None,
    anchors: list[Path],
    progress: ProgressCallback,
) -> MatchResult:
    """The match that is there, or a new one."""
    if result is not None:
        return load_for(result, partial, full)
    if len(anchors) == 1 and is_automatic(anchors[0]):
        check_source(anchors[0])
        return match(partial, full, str(anchors[0]), progress=progress)
    return match(partial, full, read_anchors(anchors, partial, full), progress=progress)


def _check_mesh_file(out: Path) -> None:
    if out.suffix.lower() not in _MESHES:
        raise InputError(
            f"{out.name}: the mesh is written as {', '.join(_MESHES)}; choose one of these"
        )
    check_output_file(out)
