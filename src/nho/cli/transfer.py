"""`nho transfer` and `nho fit`: what a finished match can be used for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from nho.cli.carried_landmarks import transfer_landmarks
from nho.cli.console import progress_display, say, say_notes
from nho.cli.options import (
    AsciiPly,
    AsJson,
    FullFile,
    PartialFile,
    Quiet,
    ResultFolder,
    comma_separated,
)
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.attributes import (
    MASK,
    UV,
    Attributes,
    check_output_file,
    kind_of,
    read_data,
    read_with_attributes,
    write_with_attributes,
)
from nho.io.landmarks import suffix_of
from nho.problem.result import finite_or_none
from nho.report.result_folder import files_in
from nho.runtime.input_protection import InputFiles
from nho.transfer import Side, Transfer, fit_template, load_for, write_map
from nho.transfer.map_files import check_map_file
from nho.transfer.values import as_labels, as_scalars

MinConfidence = Annotated[
    float, typer.Option("--min-confidence", help="Ignore matches with a lower confidence (0 to 1).")
]
_FITTED = (".ply", ".obj", ".glb", ".vtp", ".npz")
_SIDES: dict[str, Side] = {"full": "full", "partial": "partial"}


def transfer_command(
    result: ResultFolder,
    partial: PartialFile,
    full: FullFile,
    source: Annotated[
        str,
        typer.Option("--from", metavar="SIDE", help="Shape with the data: `full` or `partial`."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The other shape with the data: .ply, .obj, .glb, .vtp, .npz, .csv or .txt.",
        ),
    ] = None,
    data: Annotated[
        list[Path],
        typer.Option("--data", metavar="FILE", help="Data in place of the mesh's; repeatable."),
    ] = [],  # noqa: B006  (typer reads it, nothing changes it)
    only: Annotated[
        str, typer.Option("--only", metavar="NAME,...", help="Transfer only these attributes.")
    ] = "",
    labels: Annotated[
        str,
        typer.Option(
            "--labels",
            metavar="NAME,...",
            help="Treat these number arrays as labels: never interpolate them.",
        ),
    ] = "",
    scalars: Annotated[
        str,
        typer.Option(
            "--scalars",
            metavar="NAME,...",
            help="Treat these integer arrays as scalars, not labels.",
        ),
    ] = "",
    bake: Annotated[
        bool, typer.Option("--bake", help="Sample the texture into vertex colours (needs Pillow).")
    ] = False,
    landmarks: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--landmarks",
            metavar="IN OUT",
            help="Two files: transfer landmarks in IN to the other shape and write them to OUT.",
        ),
    ] = None,
    predict: Annotated[
        bool,
        typer.Option(
            "--predict",
            help="With --landmarks and --from full, without a file: the fitted template places "
            "landmarks where the scan has nothing.",
        ),
    ] = False,
    map_file: Annotated[
        Path | None,
        typer.Option(
            "--map",
            metavar="FILE",
            help="The map itself: .csv (a row per vertex), .npz or .mtx (sparse matrix).",
        ),
    ] = None,
    ascii_ply: AsciiPly = False,
    min_confidence: MinConfidence = 0.0,
    as_json: AsJson = False,
) -> None:
    """Transfer labels, numbers, colours, texture and landmarks to the other shape.

    PARTIAL and FULL are the files that were matched. Transfers what the mesh named by `--from`
    holds on its vertices, faces and corners, or instead the contents of `--data`: CSV (one row per
    vertex or face), NPZ, or TXT (indices of selected vertices). Floats and colours are
    interpolated inside triangles; labels (integers, text) and selections never are. Unmatched
    places get NaN, -1 or grey, and the attribute `transferred` marks those that received data.

    Labels of the template to the scan:

    Example: `nho transfer result scan.ply template.ply --from full --out labelled.ply`

    A table of measurements on the scan to the template:

    Example: `nho transfer result scan.ply template.ply --from partial --data thickness.csv --out
    template_thickness.csv`

    The texture of the template to the scan, or its colours:

    Example: `nho transfer result scan.ply template.obj --from full --out textured.obj`

    Example: `nho transfer result scan.ply template.obj --from full --bake --out painted.ply`

    Landmarks, in any format that `nho anchors convert` knows: all of them, in order. Those that lie
    where nothing is matched are `undefined` (Slicer) or NA; with `--predict` the fitted template
    places them. CSV, JSON and Slicer's files also tell status, confidence and errors, in the unit
    of the file:

    Example: `nho transfer result scan.ply template.ply --from full --predict --landmarks
    template.mrk.json scan.csv`

    The map as a sparse matrix M, so that M @ values carries values on vertices of FULL to PARTIAL:

    Example: `nho transfer result scan.ply template.ply --from full --map map.npz`
    """
    if predict and (landmarks is None or source != "full"):
        raise InputError(
            "--predict takes no file; it goes with --from full --landmarks IN OUT, where IN holds "
            "the landmarks of the template"
        )
    if out is None and landmarks is None and map_file is None:
        raise InputError(
            "there is nothing to do; give --out FILE, --landmarks IN OUT or --map FILE"
        )
    if source not in _SIDES:
        raise InputError(f"--from is {source!r}; choose full or partial")
    if out is not None:
        check_output_file(out)
    if landmarks is not None:
        suffix_of(landmarks[1])
    if map_file is not None:
        check_map_file(map_file)
    inputs = InputFiles([*files_in(result), partial, full, *data, *(landmarks or ())[:1]])
    outputs = [*(file for file in (out, map_file) if file is not None), *(landmarks or ())[1:]]
    for output in outputs:
        inputs.refuse_file(output)
    if len({os.path.realpath(output) for output in outputs}) < len(outputs):
        raise InputError(f"{outputs[0]}: two outputs would go to this file; give two names")
    (partial_mesh, on_partial), (full_mesh, on_full) = map(read_with_attributes, (partial, full))
    answer = load_for(result, partial_mesh, full_mesh)
    carry = Transfer(answer, partial_mesh, full_mesh, _SIDES[source], min_confidence=min_confidence)
    own, found = (on_partial, on_full) if source == "full" else (on_full, on_partial)
    summary: dict[str, object] = {}
    notes: list[str] = []
    if out is not None:
        given = _given(carry.source, found, data)
        where = ", ".join(path.name for path in data) or carry.source.name
        if only:
            given = given.only([*comma_separated(only), *([UV] if bake else [])], where)
        given = as_scalars(
            as_labels(given, comma_separated(labels), where), comma_separated(scalars), where
        )
        if not given.names():
            raise InputError(
                f"{carry.source.name}: there is nothing on it to transfer; give --data FILE, or a "
                "mesh file that holds colours, labels, numbers or texture coordinates"
            )
        carried = carry.attributes(given, bake=bake)
        notes += [
            *given.notes,
            *write_with_attributes(out, carry.target, own.merged(carried), inputs, ascii_ply),
        ]
        summary |= _summary(carry, carried, out)
    if landmarks is not None:
        summary |= transfer_landmarks(answer, carry, landmarks, predict, min_confidence, notes)
    if map_file is not None:
        write_map(map_file, carry, answer)
        summary["map_out"] = str(map_file)
    say_notes(notes)
    if as_json:
        typer.echo(json.dumps({**summary, "notes": notes}))
        return
    if out is not None:
        say(
            f"transferred {summary['carried']} to {summary['with_data']} of {summary['vertices']} "
            f"vertices of {carry.target.name}; wrote {out}"
        )
    if landmarks is not None:
        predicted = f", predicted {summary['landmarks_predicted']}" if predict else ""
        say(
            f"transferred {summary['landmarks_carried']} of {summary['landmarks']} landmarks"
            f"{predicted}; wrote {landmarks[1]}"
        )
    if map_file is not None:
        say(f"wrote {map_file}")


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

    Where the scan has surface, the template is fitted to it; elsewhere it follows as rigidly as
    possible and closes holes smoothly. Vertices and faces are those of FULL, so its texture,
    colours and labels stay; `on_scan` is 1 for vertices on the scan and 0 for extrapolated ones.
    PARTIAL and FULL are the files that were matched.

    Example: `nho fit result scan.ply template.obj --out fitted.obj`
    """
    check_output_file(out)
    if out.suffix.lower() not in _FITTED:
        raise InputError(f"{out.name}: a fitted template is a mesh; choose {', '.join(_FITTED)}")
    inputs = InputFiles([*files_in(result), partial, full])
    inputs.refuse_file(out)
    partial_mesh = Mesh.read(partial)
    full_mesh, attributes = read_with_attributes(full)
    answer = load_for(result, partial_mesh, full_mesh)
    with progress_display(quiet) as progress:
        fit = fit_template(
            answer, partial_mesh, full_mesh, min_confidence=min_confidence, progress=progress
        )
    marked = attributes.replace(vertex={**attributes.vertex, "on_scan": fit.on_scan})
    notes = [*attributes.notes, *write_with_attributes(out, fit.mesh, marked, inputs)]
    summary = {**fit.summary(), "out": str(out)}
    say_notes(notes)
    if as_json:
        typer.echo(json.dumps(finite_or_none({**summary, "notes": notes})))
    elif not quiet:
        say(
            f"{summary['on_scan']} of {summary['vertices']} vertices lie on the scan, at a "
            f"distance of {summary['mean_distance_percent']:.3f} % of its diagonal (95 % within "
            f"{summary['p95_distance_percent']:.3f} %); {summary['inverted_faces']} faces "
            f"inverted; wrote {out}"
        )


def _given(source: Mesh, found: Attributes, data: list[Path]) -> Attributes:
    """What is to be transferred: from files of data, else what the mesh file holds."""
    if not data:
        return found
    given = Attributes()
    for path in data:
        given = given.merged(read_data(path, source))
    return given


def _summary(carry: Transfer, carried: Attributes, out: Path) -> dict[str, object]:
    """What was transferred, in words, and to how many vertices."""
    names = [
        f"{name} ({kind_of(values)})"
        for name, values in {**carried.face, **carried.vertex}.items()
        if name != MASK
    ]
    names += [UV] if carried.uv is not None else []
    return {
        "carried": ", ".join(names),
        "with_data": int((carry.vertex_places.face >= 0).sum()),
        "vertices": carry.target.n_vertices,
        "out": str(out),
    }
