"""A collection of fitted templates: what each says of its scan, and which do not fit the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

import numpy as np

from nho.runtime.npz import npz_bytes

_LIMIT = 3.5  # robust standard deviations


@dataclass(frozen=True)
class ScanFit:
    """The template fitted to one scan.

    Attributes
    ----------
    positions : (p, 3) float array
        In the unit of the scan.
    weights : (p,) float array
        How well every vertex is known: the confidence on the scan, 0.01 elsewhere.
    distance, scan_distance : float
        Median distance from the fitted template to the scan where it covers it, and from the scan
        to the fitted template.
    scan_size : float
        Diagonal of the scan.
    coverage : float
        Share of the template's area that the scan covers.
    anchor_error : (k,) float array
        From anchors on the fitted template to those on the scan.
    status, confidence, suspects
        Of the match.
    template : str
        Hash of the template's content.
    """

    positions: np.ndarray
    weights: np.ndarray
    distance: float
    scan_distance: float
    scan_size: float
    coverage: float
    anchor_error: np.ndarray
    status: str
    confidence: float
    suspects: int
    template: str


def fit_arrays(fit: ScanFit) -> bytes:
    """A fit as the content of a file."""
    return npz_bytes({each.name: np.asarray(getattr(fit, each.name)) for each in fields(ScanFit)})


def scan_fit_of(arrays: dict[str, np.ndarray]) -> ScanFit:
    """What `fit_arrays` wrote."""
    values: dict[str, Any] = {
        name: array if array.ndim else array.item() for name, array in arrays.items()
    }
    return ScanFit(**values)


@dataclass(frozen=True)
class Judgement:
    """What is suspicious about one scan of a collection; the worst first by ``badness``."""

    name: str
    badness: float
    reasons: tuple[str, ...]


def judged(
    fits: dict[str, ScanFit], suspicions: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> list[Judgement]:
    """Every scan, the worst first: distances, coverage, confidence and anchors against the others.

    ``suspicions`` are reasons by name that were found otherwise, as by cycles.

    A number is suspicious if it is more than 3.5 robust standard deviations worse than the median
    of the collection. Anchors are compared by their order, so it must be the same for all scans.
    """
    names = list(fits)
    columns = {
        "the fitted template is {:.1f} times as far from the scan as usual": [
            fits[name].distance / fits[name].scan_size for name in names
        ],
        "the scan is {:.1f} times as far from the fitted template as usual": [
            fits[name].scan_distance / fits[name].scan_size for name in names
        ],
        "anchors are {:.1f} times as far off as usual": [
            float(np.median(fits[name].anchor_error)) / fits[name].scan_size
            if len(fits[name].anchor_error)
            else np.nan
            for name in names
        ],
    }
    badness = np.zeros(len(names))
    reasons: list[list[str]] = [[] for _ in names]
    for words, values in columns.items():
        score, ratio = _robust(np.array(values))
        badness = np.maximum(badness, score)
        for i in np.flatnonzero(score > _LIMIT):
            reasons[i].append(words.format(ratio[i]))
    for row, name in enumerate(names):
        fit = fits[name]
        if fit.status != "ok":
            badness[row] += 10
            reasons[row].insert(0, fit.status)
        if fit.suspects:
            badness[row] += _LIMIT
            reasons[row].append(f"{fit.suspects} of its anchors contradict the others")
        for anchor in suspect_anchors(fit):
            reasons[row].append(f"anchor {anchor} is far from where the fitted template has it")
            badness[row] += _LIMIT
        for reason in suspicions.get(name, ()):
            reasons[row].append(reason)
            badness[row] += _LIMIT
    found = [
        Judgement(name, float(bad), tuple(why))
        for name, bad, why in zip(names, badness, reasons, strict=True)
    ]
    return sorted(found, key=lambda each: -each.badness)


def suspect_anchors(fit: ScanFit) -> list[int]:
    """Rows of anchors that are much farther off than the others of the scan."""
    if len(fit.anchor_error) < 5:
        return []
    score, _ = _robust(fit.anchor_error + 1e-3 * fit.scan_size)
    far = fit.anchor_error > 0.02 * fit.scan_size
    return [int(row) for row in np.flatnonzero((score > _LIMIT) & far)]


def _robust(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n,) robust standard deviations above the median of the logarithms, and ratios to it."""
    known = np.isfinite(values) & (values > 0)
    if known.sum() < 4:
        return np.zeros(len(values)), np.ones(len(values))
    log = np.log(np.where(known, values, np.nan))
    middle = np.nanmedian(log)
    # However alike the others are, less than twice their number is nothing to name.
    width = max(1.4826 * float(np.nanmedian(np.abs(log - middle))), np.log(2) / _LIMIT)
    return np.nan_to_num((log - middle) / width), np.nan_to_num(np.exp(log - middle), nan=1.0)
