"""Match and fit half of some scans again: what a map of a part is worth, without any truth.

Half of a scan is matched as a new scan would be, and the template is fitted to it. The scan itself
says how the other half looks, so a shape space learns how far its predictions are off.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from nho.batch.fits import FitJob, FittedCollection, memory_of
from nho.batch.job import JobOutcome
from nho.batch.works import run_works
from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.synthetic import Cut, cut_by_plane
from nho.pipeline.matching import match
from nho.runtime.npz import load_arrays, npz_bytes
from nho.settings import Settings
from nho.shapes.given_shapes import PartFit
from nho.shapes.prior import known_weights
from nho.transfer import fit_template, load_for

MOST = 30  # scans whose halves are matched; more hardly change the factor that is learnt
_ANCHORS = 3  # that a half needs
_TRIES = 20  # planes


class HalfFitJob(FitJob):
    """One result folder, and the file that the fit to half of its scan goes to."""

    def content(self) -> bytes:
        """The file: arrays of the template fitted to half of the scan."""
        partial, full = (Mesh.read(self.folder / name) for name in ("partial.ply", "full.ply"))
        result = load_for(self.folder, partial, full)
        used = np.setdiff1d(np.arange(len(result.anchors)), result.suspect_anchors)
        seed = zlib.crc32(self.name.encode())
        part = fit_half(partial, full, result.anchors[used], result.settings, seed)
        return npz_bytes(part._asdict())


def run_half_fits(
    folders: list[Path],
    collection: FittedCollection,
    store: Path,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    done: Callable[[JobOutcome, int], None] = lambda outcome, total: None,
) -> tuple[dict[str, PartFit], dict[str, str]]:
    """Part fits of a sample of a collection by name, and why others could not be made.

    Parameters
    ----------
    folders : list of Path
        Result folders; those that the collection has no fit of are left out.
    store : Path
        Folder for the fits, which the workers of a cluster must see, too.
    """
    names = list(collection.fits)
    there = [folder for folder in folders if folder.name in collection.fits]
    rows = np.unique(np.linspace(0, len(there) - 1, min(len(there), MOST)).astype(int))
    works = [
        HalfFitJob(folder.name, folder, store / f"{folder.name}_half.npz", memory_of(folder))
        for folder in (there[row] for row in rows)
    ]
    found: dict[str, PartFit] = {}
    failed: dict[str, str] = {}
    for outcome in run_works(works, store, jobs, scheduler):
        if outcome.error:
            failed[outcome.name] = outcome.error
        done(outcome, len(works))
    for work in works:
        if work.name not in failed:
            part = PartFit(**load_arrays(work.out))
            centre = collection.centres[names.index(work.name)]
            found[work.name] = PartFit(part.positions - centre, part.weights)
    return found, failed


def fit_half(
    partial: Mesh, full: Mesh, anchors: np.ndarray, settings: Settings, seed: int
) -> PartFit:
    """The template fitted to half of a scan, cut by a random plane, in the pose of the scan.

    Parameters
    ----------
    anchors : (m, 2) int array
        Vertices of the scan and of the template.
    """
    cut = _half(partial, anchors[:, 0], np.random.default_rng(seed))
    left = cut.kept_vertices[anchors[:, 0]]
    own = np.searchsorted(cut.vertex_of_parent, anchors[left, 0])
    result = match(cut.mesh, full, np.stack([own, anchors[left, 1]], axis=1), settings)
    fit = fit_template(result, cut.mesh, full)
    return PartFit(fit.mesh.vertices, known_weights(result, cut.mesh, full, fit))


def _half(partial: Mesh, anchors: np.ndarray, random: np.random.Generator) -> Cut:
    """Half of the scan's area, on one side of a plane, with anchors enough to match it."""
    for _ in range(_TRIES):
        cut = cut_by_plane(partial, random.normal(size=3), keep_area=0.5)
        if cut.kept_vertices[anchors].sum() >= _ANCHORS:
            return cut
    raise InputError(
        f"{partial.name}: no half of it has {_ANCHORS} anchors, so none can be matched alone"
    )
