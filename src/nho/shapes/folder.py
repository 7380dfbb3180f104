"""The folder that `nho shapes` writes: tables, arrays, meshes and a page, all or nothing."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from nho.errors import InputError
from nho.io.landmarks import Specimens, write_specimens
from nho.report.result_folder import check_folder_writable
from nho.runtime.atomic_folder import PREFIX, whole_folder
from nho.runtime.input_protection import NO_INPUTS, InputFiles
from nho.shapes.collection import Judgement, ScanFit
from nho.shapes.morph_targets import morph_targets
from nho.shapes.page import render_page
from nho.shapes.space import ShapeSpace
from nho.shapes.stored import MODEL

_PAGE, _SCORES, _VARIANCE = "shapes.html", "scores.csv", "variance.csv"
_MODES_SHOWN = 5  # components with meshes of their own
_SEMILANDMARKS = 200  # vertices in the TPS file, where no landmarks are given


def write_shapes(
    folder: str | Path,
    space: ShapeSpace,
    *,
    fits: dict[str, ScanFit] | None = None,
    judgements: list[Judgement] | None = None,
    landmarks: Specimens | None = None,
    notes: Iterable[str] = (),
    inputs: InputFiles = NO_INPUTS,
) -> None:
    """Write everything about a shape space into ``folder``.

    Parameters
    ----------
    fits, judgements
        What is known of the scans, for tables and page.
    landmarks : Specimens, optional
        Of all scans.
    notes : iterable of str
        For the page.
    """
    folder = Path(folder)

    def check(place: Path) -> None:
        check_shapes_folder(place, inputs)

    with whole_folder(folder, MODEL, check) as staging:
        (staging / _SCORES).write_text(_scores(space, fits or {}), encoding="utf-8")
        (staging / _VARIANCE).write_text(_variance(space), encoding="utf-8")
        (staging / "shapes.glb").write_bytes(morph_targets(space))
        space.mean.write(staging / "mean.ply")
        for number, variance in enumerate(space.model.variances[:_MODES_SHOWN]):
            for sign, word in ((-2, "minus"), (2, "plus")):
                scores = np.zeros(number + 1)
                scores[number] = sign * np.sqrt(variance)
                name = f"component_{number + 1}_{word}.ply"
                space.mesh(scores, name).write(staging / name)
        if judgements:
            (staging / "scans.csv").write_text(_scans(judgements, fits or {}), encoding="utf-8")
        if landmarks is not None:
            for name in ("landmarks.csv", "landmarks.tps", "landmarks.morphologika.txt"):
                write_specimens(staging / name, landmarks)
        write_specimens(staging / "aligned.tps", _aligned(space))
        page = render_page(space, fits or {}, judgements or [], tuple(notes))
        (staging / _PAGE).write_text(page, encoding="utf-8")
        space.save(staging)


def check_shapes_folder(folder: Path, inputs: InputFiles = NO_INPUTS) -> None:
    """Refuse a folder that cannot be written or holds anything but an earlier shape space."""
    check_folder_writable(folder)
    inputs.refuse_folder(folder)
    if folder.is_dir():
        there = {path.name for path in folder.iterdir() if not path.name.startswith(PREFIX)}
        if there and not {MODEL, _PAGE} <= there:
            raise InputError(
                f"{folder}: holds other files ({min(there)}); give a new or empty folder for --out"
            )


def _scores(space: ShapeSpace, fits: dict[str, ScanFit]) -> str:
    """A row for each shape: centroid size, scores and their standard errors."""
    numbers = range(1, len(space.model.variances) + 1)
    header = ["name", "centroid_size", "measured", *(f"pc{k}" for k in numbers)]
    header += [f"pc{k}_error" for k in numbers]
    header += ["residual", "outlier"]
    odd = space.outliers()
    rows = [
        [
            name,
            space.sizes[i],
            fits[name].coverage if name in fits else space.measured[i],
            *space.scores[i],
            *space.score_errors[i],
            space.validation.residual[i],
            odd.get(name, ""),
        ]
        for i, name in enumerate(space.names)
    ]
    return _table(header, rows)


def _variance(space: ShapeSpace) -> str:
    """A row for each number of components: variance, and the error at hidden parts."""
    error = np.sqrt((space.validation.hidden_error**2).mean(axis=0))
    explained, variances = np.r_[np.nan, space.explained], np.r_[np.nan, space.model.variances]
    total = np.r_[0.0, np.cumsum(space.explained)]
    header = ["components", "variance", "explained", "explained_together", "hidden_error"]
    rows = [
        [k, variances[k], explained[k], total[k], error[k]]
        if k < len(variances)
        else [k, np.nan, np.nan, np.nan, error[k]]
        for k in range(len(error))
    ]
    return _table(header, rows)


def _scans(judgements: list[Judgement], fits: dict[str, ScanFit]) -> str:
    """A row for each scan, the worst first."""
    header = ["name", "badness", "status", "coverage", "fit_to_scan", "scan_to_fit", "reasons"]
    rows = [
        [
            each.name,
            each.badness,
            fits[each.name].status,
            fits[each.name].coverage,
            fits[each.name].distance,
            fits[each.name].scan_distance,
            "; ".join(each.reasons),
        ]
        for each in judgements
    ]
    return _table(header, rows)


def _table(header: list[str], rows: list[list[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        cells = (f"{cell:.8g}" if isinstance(cell, float) else cell for cell in row)
        writer.writerow(["NA" if cell == "nan" else cell for cell in cells])
    return text.getvalue()


def _aligned(space: ShapeSpace) -> Specimens:
    """Evenly spread vertices of every shape as the components have it, laid onto the mean."""
    rows = np.unique(np.linspace(0, len(space.model.mean) - 1, _SEMILANDMARKS).astype(int))
    places = np.stack([space.model.shape(scores)[rows] for scores in space.scores])
    return Specimens(space.names, places, tuple(str(row) for row in rows))
