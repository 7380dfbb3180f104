"""`nho transfer`: data and landmarks carried between the shapes of a finished match."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from nho.cli.match import FullFile, PartialFile
from nho.cli.saying import say
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.io.attributes import Attributes, kind_of, read_data, read_with_attributes
from nho.io.attributes.model import MASK, UV
from nho.io.attributes.write import check_writable, write_with_attributes
from nho.io.landmarks import Landmarks, read_landmarks, suffix_of, write_landmarks
from nho.transfer import Side, Transfer, load_for
from nho.transfer.meanings import as_labels, as_scalars

ResultFolder = Annotated[
    Path, typer.Argument(metavar="RESULT", help="Folder that `nho match` wrote.")
]
MinConfidence = Annotated[
    float, typer.Option("--min-confidence", help="Leave matches below this (0 to 1) out.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Summary as JSON on stdout.")]
_SIDES: dict[str, Side] = {"full": "full", "partial": "partial"}


def transfer_command(
    result: ResultFolder,
    partial: PartialFile,
    full: FullFile,
    source: Annotated[
        str, typer.Option("--from", metavar="SIDE", help="Who has the data: `full` or `partial`.")
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
        str, typer.Option("--only", metavar="NAME,...", help="Carry these and nothing else.")
    ] = "",
    labels: Annotated[
        str, typer.Option("--labels", metavar="NAME,...", help="These numbers are labels.")
    ] = "",
    scalars: Annotated[
        str, typer.Option("--scalars", metavar="NAME,...", help="These whole numbers are none.")
    ] = "",
    bake: Annotated[
        bool, typer.Option("--bake", help="The texture as vertex colours (needs Pillow).")
    ] = False,
    landmarks: Annotated[
        tuple[Path, Path] | None,
        typer.Option("--landmarks", metavar="IN OUT", help="Carry landmarks from file to file."),
    ] = None,
    min_confidence: MinConfidence = 0.0,
    as_json: AsJson = False,
) -> None:
    """Carry labels, numbers, colours, texture and landmarks from one shape to the other.

    PARTIAL and FULL are the files that were matched. What is on the vertices, faces and corners
    of the shape `--from` comes along, or what is in `--data`: CSV (one row a vertex or a face),
    NPZ, or TXT (indices of selected vertices). Floats and colours are interpolated inside
    triangles; whole numbers, words and selections are never mixed. Where nothing is matched, NaN,
    -1 or grey stands for "no data", and `transferred` tells where there are data.

    Labels of the template to the scan:

    Example: `nho transfer result scan.ply template.ply --from full --out labelled.ply`

    A table of measurements on the scan to the template:

    Example: `nho transfer result scan.ply template.ply --from partial --data thickness.csv --out
    template_thickness.csv`

    The texture of the template to the scan, or its colours:

    Example: `nho transfer result scan.ply template.obj --from full --out textured.obj`

    Example: `nho transfer result scan.ply template.obj --from full --bake --out painted.ply`

    Landmarks, in any format that `nho anchors convert` knows:

    Example: `nho transfer result scan.ply template.ply --from full --landmarks template.pp scan.pp`
    """
    if out is None and landmarks is None:
        raise InputError("there is nothing to do; give --out FILE, --landmarks IN OUT, or both")
    if source not in _SIDES:
        raise InputError(f"--from is {source!r}; choose full or partial")
    if out is not None:
        check_writable(out)
    if landmarks is not None:
        suffix_of(landmarks[1])
    (partial_mesh, on_partial), (full_mesh, on_full) = map(read_with_attributes, (partial, full))
    answer = load_for(result, partial_mesh, full_mesh)
    carry = Transfer(answer, partial_mesh, full_mesh, _SIDES[source], min_confidence=min_confidence)
    own, found = (on_partial, on_full) if source == "full" else (on_full, on_partial)
    told: dict[str, object] = {}
    notes: list[str] = []
    if out is not None:
        given = _given(carry.source, found, data)
        where = ", ".join(path.name for path in data) or carry.source.name
        if only:
            given = given.only([*_names(only), *([UV] if bake else [])], where)
        given = as_scalars(as_labels(given, _names(labels), where), _names(scalars), where)
        if not given.names():
            raise InputError(
                f"{carry.source.name}: there is nothing on it to carry; give --data FILE, or a "
                "mesh file that holds colours, labels, numbers or texture coordinates"
            )
        carried = carry.attributes(given, bake=bake)
        notes += [*given.notes, *write_with_attributes(out, carry.target, own.merged(carried))]
        told |= _summary(carry, carried, out)
    if landmarks is not None:
        told |= _carry_landmarks(carry, landmarks, notes)
    for note in dict.fromkeys(notes):
        say(f"note: {note}", err=True)
    if as_json:
        typer.echo(json.dumps({**told, "notes": notes}))
        return
    if out is not None:
        say(
            f"carried {told['carried']} to {told['with_data']} of {told['vertices']} vertices of "
            f"{carry.target.name}; wrote {out}"
        )
    if landmarks is not None:
        say(
            f"carried {told['landmarks_carried']} of {told['landmarks']} landmarks; wrote "
            f"{landmarks[1]}"
        )


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _given(source: Mesh, found: Attributes, data: list[Path]) -> Attributes:
    """What is to be carried: from files of data, else what the mesh file holds."""
    if not data:
        return found
    given = Attributes()
    for path in data:
        given = given.merged(read_data(path, source))
    return given


def _summary(carry: Transfer, carried: Attributes, out: Path) -> dict[str, object]:
    """What was carried, in words, and to how many vertices."""
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


def _carry_landmarks(
    carry: Transfer, files: tuple[Path, Path], notes: list[str]
) -> dict[str, object]:
    """Read, carry and write landmarks; those without a match are left out, by name."""
    given = read_landmarks(files[0])
    points, _ = given.on(carry.source)
    found = carry.points(points)
    there = found.face >= 0
    lost = [name for name, known in zip(given.names, there, strict=True) if not known]
    if not there.any():
        raise InputError(
            f"{files[0]}: none of its {len(given)} landmarks lies where the shapes are matched; "
            "are they of the other shape?"
        )
    if lost:
        shown = ", ".join(lost[:6]) + (", ..." if len(lost) > 6 else "")
        notes.append(f"{len(lost)} landmarks are where nothing is matched: left out {shown}")
    names = [name for name, known in zip(given.names, there, strict=True) if known]
    carried = Landmarks.at(carry.target, found[there], names, str(files[0]))
    notes += [*given.notes, *write_landmarks(files[1], carried, carry.target)]
    return {
        "landmarks": len(given),
        "landmarks_carried": int(there.sum()),
        "landmarks_out": str(files[1]),
    }
