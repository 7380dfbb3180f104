"""`nho shapes`: the shape space of the scans of a batch."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nho.batch.fits import result_folders, run_fits
from nho.batch.half_fits import run_half_fits
from nho.batch.job import JobOutcome
from nho.batch.summary import without_result
from nho.cli.console import counted_line, say, say_notes
from nho.cli.options import AsJson, Quiet, Scheduler
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints
from nho.geometry.symmetry import find_symmetry
from nho.io.landmarks import Specimens, read_landmarks
from nho.runtime.input_protection import InputFiles
from nho.shapes.collection import ScanFit, judged
from nho.shapes.folder import check_shapes_folder, write_shapes
from nho.shapes.given_shapes import FEWEST, PartFit
from nho.shapes.sliding import slide
from nho.shapes.space import ShapeSpace
from nho.transfer import carry_landmarks, load_for


def shapes_command(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="Folder that `nho batch --out` wrote.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the shape space.")],
    components: Annotated[
        int | None,
        typer.Option("--components", help="Components; as many as leave-one-out favours if not."),
    ] = None,
    landmarks: Annotated[
        Path | None,
        typer.Option(
            "--landmarks", metavar="FILE", help="Landmarks of the template, to write for all scans."
        ),
    ] = None,
    predict: Annotated[
        bool, typer.Option("--predict", help="Predict landmarks where a scan has nothing.")
    ] = False,
    sliding: Annotated[
        bool,
        typer.Option(
            "--slide", help="Slide vertices along their surfaces, to the least bending energy."
        ),
    ] = False,
    symmetric: Annotated[
        bool,
        typer.Option(
            "--symmetric",
            help="The template is symmetric: one side of a scan tells of the other, and mirror "
            "images of the scans count as scans.",
        ),
    ] = False,
    individuals: Annotated[
        str,
        typer.Option(
            "--individuals",
            metavar="SIGN",
            help="Names that are alike before this sign (`anna_1`, `anna_2`: `_`) are scans of one "
            "individual, left out together.",
        ),
    ] = "",
    halves: Annotated[
        bool,
        typer.Option(
            "--halves",
            help="Match half of up to 30 scans again: uncertainties of what `nho complete --model` "
            "predicts then hold errors of the map as well.",
        ),
    ] = False,
    leave_out: Annotated[
        str, typer.Option("--leave-out", metavar="NAME,...", help="Results not to use.")
    ] = "",
    jobs: Annotated[int | None, typer.Option("--jobs", help="Fits at a time, at most.")] = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Shape space of many partial scans: mean, components, scores, outliers, and a page.

    All results in RESULTS must have the same template. It is fitted to every scan; parts that a
    scan lacks are inferred from the others (probabilistic PCA, weighted by confidence), and each
    score has its standard error. Writes to DIR: shapes.html (sliders, scores, variance, scans worst
    first), scores.csv, variance.csv, scans.csv, shapes.npz (`nho.ShapeSpace.load`), shapes.glb
    (morph targets), mean.ply, meshes at two standard deviations of the first components, and
    aligned.tps; with `--landmarks` also landmarks.csv (NA for R), .tps and .morphologika.txt.

    Example: `nho shapes results --out shapes`

    Example: `nho shapes results --landmarks template.mrk.json --out shapes`
    """
    wanted = {name.strip() for name in leave_out.split(",") if name.strip()}
    folders = result_folders(results)
    unknown = wanted - {folder.name for folder in folders}
    if unknown:
        raise InputError(f"{results}: there is no result {min(unknown)!r} to leave out")
    folders = [folder for folder in folders if folder.name not in wanted]
    inputs = InputFiles([*folders, *([landmarks] if landmarks else [])])
    check_shapes_folder(out, inputs)
    template = Mesh.read(folders[0] / "full.ply")
    symmetry = find_symmetry(template) if symmetric else None
    marks = read_landmarks(landmarks) if landmarks else None
    with tempfile.TemporaryDirectory() as scratch:
        store = Path(scratch)
        done = _counting(quiet, "")
        collection = run_fits(folders, template, store, jobs=jobs, scheduler=scheduler, done=done)
        fits = collection.fits
        parts: dict[str, PartFit] = {}
        unmatched: dict[str, str] = {}
        if halves:
            done = _counting(quiet, "half of ")
            parts, unmatched = run_half_fits(
                folders, collection, store, jobs=jobs, scheduler=scheduler, done=done
            )
            if len(parts) < FEWEST:
                parts = {}
        if sliding:
            slide(collection.positions, template, collection.weights)
        space = ShapeSpace.fit(
            collection.positions,
            template,
            collection.weights,
            list(fits),
            components,
            symmetry,
            [name.partition(individuals)[0] for name in fits] if individuals else None,
            parts,
        )
    failed = without_result(results, wanted | fits.keys()) | collection.failed
    notes = [f"{name}: left out, {why}" for name, why in failed.items()]
    notes += [f"{name}: half of it was not fitted, {why}" for name, why in unmatched.items()]
    if halves and not parts:
        notes.append("too few halves were fitted, so --halves has no effect")
    carried = None
    if marks is not None:
        points, _ = marks.on(template)
        used = [folder for folder in folders if folder.name in fits]
        carried = _landmarks(used, points, marks.names, predict)
    judgements = judged(fits)
    suspicious = {each.name: list(each.reasons) for each in judgements if each.reasons}
    write_shapes(
        out,
        space,
        fits=fits,
        judgements=judgements,
        landmarks=carried,
        notes=notes,
        inputs=inputs,
    )
    notes += [
        f"{name}: {', '.join(why)}; --leave-out {name} makes the space without it"
        for name, why in suspicious.items()
    ]
    say_notes([*notes, *(f"{name}: {why}" for name, why in space.outliers().items())])
    _tell(space, fits, suspicious, out, quiet, as_json)


def _counting(quiet: bool, what: str) -> Callable[[JobOutcome, int], None]:
    """Says how many works are done, one line for each."""
    count = 0

    def done(outcome: JobOutcome, total: int) -> None:
        nonlocal count
        count += 1
        if not quiet:
            say(counted_line(count, total, f"fitted {what}{outcome.name}", 0, ""), err=True)

    return done


def _landmarks(
    folders: list[Path], points: SurfacePoints, names: Sequence[str], predict: bool
) -> Specimens:
    """Landmarks of the template on every scan."""
    places = []
    for folder in folders:
        partial, full = (Mesh.read(folder / name) for name in ("partial.ply", "full.ply"))
        result = load_for(folder, partial, full)
        found = carry_landmarks(result, partial, full, points, names, predict=predict)
        places.append(found.positions)
    return Specimens(tuple(folder.name for folder in folders), np.stack(places), tuple(names))


def _tell(
    space: ShapeSpace,
    fits: dict[str, ScanFit],
    suspicious: dict[str, list[str]],
    out: Path,
    quiet: bool,
    as_json: bool,
) -> None:
    summary = {
        "shapes": len(space.names),
        "components": len(space.model.variances),
        "explained": space.explained.tolist(),
        "mean_coverage": float(np.mean([fit.coverage for fit in fits.values()])),
        "outliers": space.outliers(),
        "suspicious": suspicious,
        "out": str(out),
    }
    if as_json:
        typer.echo(json.dumps(summary))
    elif not quiet:
        together = 100 * float(space.explained.sum())
        say(
            f"{len(space.names)} shapes, {len(space.model.variances)} components that explain "
            f"{together:.0f} % of the variance; look at {out / 'shapes.html'}"
        )
