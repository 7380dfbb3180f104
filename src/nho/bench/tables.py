"""Rows of measurements as a Markdown table of means."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nho.bench.perturb import Conditions
from nho.bench.rowfile import Row

_TITLES = (
    *("family", "method", "conditions", "pairs"),
    *("error x100", "at vertices", "median", "p95", "worst pair"),
    *("IoU %", "precision", "recall", "F1"),
    *("risk of the surer half", "AURC / mean (best)", "wrong anchors found", "right ones named"),
    "s a pair",
)


def table(rows: list[Row]) -> str:
    """Means per family, method and conditions.

    A pair measured with several seeds counts once, with its mean over them; the worst pair is the
    one of the largest such mean. Behind +- (errors and IoU) stands the standard deviation, from
    seed to seed, of the mean over pairs (those measured with every seed).
    """
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        name = f"{row['method']} {row['changes']}".strip()
        groups.setdefault((row["family"], name, conditions_text(row)), []).append(row)
    lines = [_line(_TITLES), _line("---" for _ in _TITLES)]
    lines += [_line((*group, *_cells(members))) for group, members in groups.items()]
    return "\n".join(lines)


def conditions_text(row: Row) -> str:
    """The conditions of a row in words; what is as usual goes without saying."""
    usual = Conditions().as_text()
    parts = [f"{row['anchors']} anchors"]
    if row["sampling"] != usual["sampling"]:
        parts.append(f"{row['sampling']} sampling")
    if row["bad"] != usual["bad"]:
        seed = "" if row["bad_seed"] == "0" else f" (seed {row['bad_seed']})"
        how = "left out" if row["bad_kind"] == "absent" else f"wrong by {row['bad_kind']}"
        parts.append(f"{100 * float(row['bad']):g} % {how}{seed}")
    if row["partial_scale"] != usual["partial_scale"]:
        parts.append(f"partial x {row['partial_scale']}")
    if row["rotate"] != usual["rotate"]:
        parts.append(f"rotated (seed {row['rotate']})")
    if row["input_scale"] != usual["input_scale"]:
        parts.append(f"{row['input_scale']} input")
    return ", ".join(parts)


def _cells(rows: list[Row]) -> list[str]:
    """The figures of one group, in the order of the titles."""
    pairs = sorted({row["pair"] for row in rows})
    seeds = sorted({row["seed"] for row in rows})

    def grid(name: str) -> np.ndarray:
        """(pairs, seeds) values; NaN where there is none."""
        values = np.full((len(pairs), len(seeds)), np.nan)
        for row in rows:
            if row[name]:
                values[pairs.index(row["pair"]), seeds.index(row["seed"])] = float(row[name])
        return values

    def mean(name: str, digits: int, with_spread: bool = False) -> str:
        values = _row_means(grid(name))
        values = values[np.isfinite(values)]
        if not len(values):
            return "-"
        spread = _spread(grid(name), digits) if with_spread else ""
        return f"{values.mean():.{digits}f}{spread}"

    error = _row_means(grid("geodesic_error"))
    worst = int(np.argmax(np.nan_to_num(error, nan=-1.0)))
    return [
        str(len(pairs)),
        mean("geodesic_error", 2, with_spread=True),
        mean("geodesic_error_vertex", 2, with_spread=True),
        mean("geodesic_error_median", 2),
        mean("geodesic_error_p95", 2),
        f"{error[worst]:.2f} ({pairs[worst]})",
        mean("iou", 1, with_spread=True),
        *(mean(name, 1) for name in ("precision", "recall", "f1")),
        mean("risk_half", 2),
        f"{mean('aurc_ratio', 2)} ({mean('aurc_best', 2)})",
        mean("bad_found", 0),
        mean("good_blamed", 1),
        mean("seconds", 1),
    ]


def _row_means(values: np.ndarray) -> np.ndarray:
    """(pairs,) means over the seeds that are there; NaN where none is."""
    count = np.isfinite(values).sum(axis=1)
    total = np.nansum(values, axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _spread(values: np.ndarray, digits: int) -> str:
    """Standard deviation over seeds of the mean over pairs; nothing for a single seed."""
    complete = values[np.isfinite(values).all(axis=1)]
    if values.shape[1] < 2 or not len(complete):
        return ""
    return f" +- {complete.mean(axis=0).std(ddof=1):.{digits}f}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
