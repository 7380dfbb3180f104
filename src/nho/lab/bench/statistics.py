"""Means over pairs and how far they can be trusted.

A pair counts once, however many trials (seeds, rotations) it was measured with: trials of one
pair tell little about other pairs, and intervals over trials would be too narrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from nho.errors import InputError
from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.scores import PCK_THRESHOLDS
from nho.lab.bench.tabular import Cell

_BATCH = 100  # draws at once: bounds the memory of wide bands


@dataclass(frozen=True)
class Difference:
    """Mean of the differences of pairs, with its 95 % interval (NaN with fewer than two pairs)."""

    mean: float
    low: float
    high: float
    pairs: int


def per_pair(rows: Iterable[ResultRow], column: str) -> dict[str, float]:
    """Mean over the trials of each pair; pairs without any value are left out.

    Raises
    ------
    ValueError
        If trials of one pair are of different families or methods: their mean means nothing.
    """
    found = _by_pair(rows, column)
    return {pair: float(np.mean([float(text) for text in texts])) for pair, texts in found.items()}


def pck_per_pair(rows: Iterable[ResultRow]) -> dict[str, np.ndarray]:
    """(50,) shares in percent of each pair at `PCK_THRESHOLDS`, averaged over its trials."""
    found = {}
    for pair, texts in _by_pair(rows, "pck").items():
        trials = [text.split() for text in texts]
        if any(len(trial) != len(PCK_THRESHOLDS) for trial in trials):
            raise InputError(
                f"pair {pair}: its column pck has not {len(PCK_THRESHOLDS)} numbers; the rows "
                "were written by another version, so measure anew with another --out"
            )
        found[pair] = np.array(trials, dtype=float).mean(axis=0)
    return found


def bootstrap(values: np.ndarray, seed: int = 0, draws: int = 2000) -> tuple[float, float]:
    """95 % interval of the mean, by drawing pairs anew.

    Parameters
    ----------
    values : (n,) float array
        One value a pair; NaN is left out.

    Returns
    -------
    (low, high) : floats
        Percentiles 2.5 and 97.5; NaN with fewer than two values. With few pairs (below ten or so)
        the interval is somewhat too narrow, as percentiles of drawn means always are.
    """
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    low, high = band(values[:, None], seed, draws)
    return float(low[0]), float(high[0])


def band(values: np.ndarray, seed: int = 0, draws: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """95 % intervals of the means of several columns, pairs being drawn as wholes.

    Parameters
    ----------
    values : (n, k) float array
        A row a pair, finite.

    Returns
    -------
    low, high : (k,) float arrays
        NaN with fewer than two pairs.
    """
    from scipy import stats  # takes half a second to import

    values = np.asarray(values, dtype=float)
    count, columns = values.shape
    if count < 2:
        return np.full(columns, np.nan), np.full(columns, np.nan)
    interval = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=draws,
        batch=_BATCH,
        method="percentile",
        random_state=np.random.default_rng(seed),
    ).confidence_interval
    return np.asarray(interval.low), np.asarray(interval.high)


def paired_difference(a: Mapping[str, float], b: Mapping[str, float], seed: int = 0) -> Difference:
    """Mean of a - b over the pairs that both have; what is hard for both does not blur it."""
    common = [pair for pair in a if pair in b]
    gaps = np.array([a[pair] - b[pair] for pair in common], dtype=float)
    gaps = gaps[np.isfinite(gaps)]
    mean = float(gaps.mean()) if len(gaps) else float("nan")
    return Difference(mean, *bootstrap(gaps, seed), pairs=len(gaps))


def summary_cell(values: Iterable[float], digits: int = 2) -> Cell:
    """Mean over pairs with half of its 95 % interval; NaN is left out, no values give no cell."""
    known = np.array([value for value in values if np.isfinite(value)], dtype=float)
    low, high = bootstrap(known)
    mean = float(known.mean()) if len(known) else float("nan")
    return Cell(mean, (high - low) / 2, digits)


def _by_pair(rows: Iterable[ResultRow], column: str) -> dict[str, list[str]]:
    """The texts of a column, empty ones left out, by pair in order of appearance."""
    found: dict[str, list[str]] = {}
    source: dict[str, tuple[str, ...]] = {}
    for row in rows:
        pair = row["pair"]
        key = tuple(row.get(name, "") for name in ("family", "method", "changes"))
        if source.setdefault(pair, key) != key:
            raise ValueError(f"rows of pair {pair} mix {source[pair]} and {key}")
        if row[column]:
            found.setdefault(pair, []).append(row[column])
    return found
