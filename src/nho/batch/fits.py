"""Fit the template to every scan of a batch, side by side: what a shape space is made of."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nho.batch.job import JobOutcome, one_line
from nho.batch.works import run_works
from nho.errors import InputError, NhoError
from nho.geometry.mesh import Mesh
from nho.geometry.surface import SurfacePoints, project
from nho.problem.result import MatchResult, holds_result
from nho.runtime.atomic_file import write_whole
from nho.runtime.npz import load_arrays
from nho.shapes.collection import ScanFit, fit_arrays, scan_fit_of
from nho.shapes.prior import known_weights
from nho.transfer import fit_template, load_for

_MEMORY = 2000  # bytes a vertex of both meshes, about
# Weight of vertices that the template alone places. Of halves, whose poses are open, nothing else
# says that the rest does not swing about.
_PREDICTED = 0.01


@dataclass(frozen=True)
class FitJob:
    """One result folder, and the file that its fit goes to."""

    name: str
    folder: Path
    out: Path
    memory: int

    def run(self) -> JobOutcome:
        """Write the fit; whatever goes wrong is part of the outcome."""
        start, error = time.monotonic(), ""
        try:
            write_whole(self.out, self.content())
        except NhoError as problem:
            error = one_line(str(problem))
        return JobOutcome(self.name, time.monotonic() - start, error)

    def content(self) -> bytes:
        """The file: arrays of the template fitted to the scan."""
        return fit_arrays(fit_of_result(self.folder))


def result_folders(results: Path) -> list[Path]:
    """The folders in a batch folder that hold a result, by name."""
    if not results.is_dir():
        raise InputError(f"{results}: no such folder; give the one that `nho batch --out` wrote")
    found = [path for path in sorted(results.iterdir()) if path.is_dir() and holds_result(path)]
    if not found:
        raise InputError(f"{results}: holds no results; give the folder that `nho batch` wrote")
    return found


def fit_of_result(folder: Path) -> ScanFit:
    """The template of a result fitted to its scan, with what is needed to judge both."""
    partial, full = (Mesh.read(folder / name) for name in ("partial.ply", "full.ply"))
    result = load_for(folder, partial, full)
    fit = fit_template(result, partial, full)
    return ScanFit(
        positions=fit.mesh.vertices,
        weights=known_weights(result, partial, full, fit, _PREDICTED),
        distance=np.nanmedian(fit.distance) if fit.on_scan.any() else np.nan,
        scan_distance=_scan_to_fit(partial, fit.mesh),
        scan_size=fit.scan_size,
        coverage=float(full.vertex_areas[fit.on_scan].sum() / full.vertex_areas.sum()),
        anchor_error=_anchor_errors(result, partial, full, fit.mesh),
        status=result.status,
        confidence=result.summary()["mean_confidence"],
        suspects=len(result.suspect_anchors),
        template=full.digest(),
    )


def _scan_to_fit(partial: Mesh, fitted: Mesh) -> float:
    """Median distance from the scan to the fitted template."""
    used = np.flatnonzero(partial.used_vertices)
    some = used[:: max(len(used) // 2000, 1)]
    return float(np.median(project(fitted, partial.vertices[some])[1]))


def _anchor_errors(result: MatchResult, partial: Mesh, full: Mesh, fitted: Mesh) -> np.ndarray:
    """(k,) how far anchors on the fitted template are from those on the scan."""
    if not len(result.anchors):
        return np.empty(0)
    place = SurfacePoints.at_vertices(full, result.anchors[:, 1]).positions(fitted)
    return np.asarray(np.linalg.norm(place - partial.vertices[result.anchors[:, 0]], axis=1))


@dataclass(frozen=True)
class FittedCollection:
    """Fits of a batch.

    Attributes
    ----------
    fits : dict
        By name, without positions and weights.
    failed : dict
        Why others could not be fitted, by name.
    positions, weights : (n, p, 3) and (n, p) float32 arrays
        Mapped from files, so that thousands of shapes need little memory; about their middle,
        where single precision has digits to spare.
    centres : (n, 3) float array
        That middle, in the pose and unit of each scan.
    """

    fits: dict[str, ScanFit]
    failed: dict[str, str]
    positions: np.ndarray
    weights: np.ndarray
    centres: np.ndarray


def run_fits(
    folders: list[Path],
    template: Mesh,
    store: Path,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    done: Callable[[JobOutcome, int], None] = lambda outcome, total: None,
) -> FittedCollection:
    """Fit the template to the scans of all folders, in processes or on a Dask cluster.

    Parameters
    ----------
    store : Path
        Folder for the fits, which the workers of a cluster must see, too.
    done : callable
        Called with each outcome and how many there will be.
    """
    works = [
        FitJob(folder.name, folder, store / f"{folder.name}.npz", memory_of(folder))
        for folder in folders
    ]
    failed: dict[str, str] = {}
    for outcome in run_works(works, store, jobs, scheduler):
        if outcome.error:
            failed[outcome.name] = outcome.error
        done(outcome, len(works))
    return _collected([work for work in works if work.name not in failed], failed, template, store)


def _collected(
    works: list[FitJob], failed: dict[str, str], template: Mesh, store: Path
) -> FittedCollection:
    """All fits, their large arrays in two files."""
    shape = (len(works), template.n_vertices)
    positions = _mapped(store / "positions.npy", (*shape, 3))
    weights = _mapped(store / "weights.npy", shape)
    centres = np.zeros((len(works), 3))
    fits: dict[str, ScanFit] = {}
    for row, work in enumerate(works):
        fit = scan_fit_of(load_arrays(work.out))
        if fit.template != template.digest():
            raise InputError(
                f"{work.folder}: has another template than {works[0].folder.name}; a shape space "
                "needs one template for all, so leave it out"
            )
        centres[row] = fit.positions.mean(axis=0)
        positions[row] = fit.positions - centres[row]
        weights[row] = fit.weights
        fits[work.name] = replace(fit, positions=np.empty((0, 3)), weights=np.empty(0))
        work.out.unlink()
    return FittedCollection(fits, failed, positions, weights, centres)


def _mapped(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    if not shape[0]:
        return np.zeros(shape, dtype=np.float32)
    return np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)


def memory_of(folder: Path) -> int:
    """Bytes that a fit of this result needs, about."""
    return _MEMORY * sum(
        (folder / name).stat().st_size // 30 for name in ("partial.ply", "full.ply")
    )
