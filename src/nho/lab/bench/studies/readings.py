"""What the paper leaves open, read in every way.

Every run draws a reading for each choice at random, so that one run tells of all choices at once,
and the effect of each is estimated over all the others: far fewer runs than by changing one choice
at a time. Readings with which the fit often collapses would hide the others, so they are changed
alone. Runs are of preset `paper-fast` on surfaces of about 2,000 vertices, where the answers are
nearly as good and take a few seconds.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np

from nho.lab.bench.rowfile import ResultRow
from nho.lab.bench.statistics import paired_difference, per_pair
from nho.lab.bench.studies.scoreboard import TITLES, cell, chosen, counted, pooled
from nho.lab.bench.studies.study import Findings, Study, StudyRequest
from nho.lab.bench.tabular import Cell, Section, Table
from nho.lab.bench.tasks import MatchTask

BASE = "paper-fast"
SEEDS = (0, 1, 2)  # unless others are asked for
DRAWS = 2  # combinations of readings for a pair and a seed, beside the recipe itself
Reading = tuple[str, ...]  # settings that differ from the preset
CHOICES: dict[str, dict[str, Reading]] = {  # choice -> other reading -> settings
    "LMD": {
        "misses count as the largest nearby": ("distortion_misses=local", "distortion_front=30")
    },
    "read-out": {"reduced Hamiltonian": ("readout_operator=reduced",)},
    "activation": {"relu": ("activation=relu",)},
    "precision": {"double": ("precision=double",)},
    "NAM searches": {"all of the full shape": ("refine_within=everywhere",)},
    "RMS": {
        "over the support": ("refine_scaling=support",),
        "weighted by area": ("refine_scaling=area",),
    },
    "NAM": {"3,400 steps": ("refine_steps=200", "refine_later_steps=0", "refine_rows=0")},
}
PLAIN: dict[str, Reading] = {  # the ablation without the operator: where is the region?
    "s above one half": ("coordinates=laplacian",),
    "image of the map": ("coordinates=laplacian", "plain_region=image"),
    "energy": ("coordinates=laplacian", "plain_region=energy"),
}
FRAGILE: dict[str, Reading] = {  # readings that are changed alone
    "activation: sine": ("activation=sine",),
    "activation: softplus": ("activation=softplus",),
    "Adam: moments kept from round to round": ("fresh_moments=false",),
    "encoding: in the unit of the file": ("encoding_unit=given",),
}
_COLUMNS = ("geodesic_error", "iou", "precision", "recall")
_RESAMPLED = 500  # draws of pairs for an interval


def plan(request: StudyRequest) -> list[MatchTask]:
    """The recipe, drawn combinations of readings, and what is changed alone."""
    tasks = []
    seeds = request.seeds or SEEDS[: 1 if request.quick else None]
    for family, pair in request.pairs(BASE):
        for seed in seeds:
            combined = drawn(f"{family}/{pair}/{seed}")
            wanted: list[Reading] = [(), *PLAIN.values(), *FRAGILE.values(), *combined]
            if request.quick:
                wanted = [(), *combined[:1]]
            tasks += [
                MatchTask(family, pair, BASE, changes=changes, seed=seed)
                for changes in dict.fromkeys(wanted)
            ]
    return tasks


def drawn(name: str) -> list[Reading]:
    """Settings of some combinations, the same for the same name."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    found = []
    for _ in range(DRAWS):
        changes: Reading = ()
        for readings in CHOICES.values():
            options = [(), *readings.values()]
            changes += options[random.integers(len(options))]
        found.append(changes)
    return found


def report(request: StudyRequest, rows: list[ResultRow], folder: Path) -> Findings:
    """Effects of all readings, then what was changed alone, if anything was."""
    alone = [row for one in (*PLAIN.values(), *FRAGILE.values()) for row in _of(rows, one)]
    return Findings([_effects_table(rows), *([_alone_table(rows, alone)] if alone else [])])


def _effects_table(rows: list[ResultRow]) -> Table:
    alone = {" ".join(changes) for changes in (*PLAIN.values(), *FRAGILE.values())}
    combined = [row for row in rows if row["changes"] not in alone]
    labels = [f"{choice}: {name}" for choice, found in CHOICES.items() for name in found]
    readings = [changes for found in CHOICES.values() for changes in found.values()]
    known = [number for number, one in enumerate(readings) if _telling(combined, one)]
    estimates = effects(combined, [readings[number] for number in known])
    lines = tuple(
        (labels[number], tuple(_effect_cell(*line, column) for column, line in by_column.items()))
        for number, by_column in zip(known, estimates, strict=True)
    )
    base = tuple(cell(_of(rows, ()), column) for column in _COLUMNS)
    return Table(
        "readings",
        "Open readings of the paper",
        f"{counted(combined)}, {len(combined)} runs, 25 anchors. "
        "Below the recipe: change of its mean by each reading, over all combinations of the "
        "others, with half of the 95 % interval over pairs.",
        (tuple((TITLES[column], 1) for column in _COLUMNS),),
        (Section("preset paper-fast", (("mean", base),)), Section("change", lines)),
    )


def effects(rows: list[ResultRow], readings: list[Reading]) -> list[dict[str, tuple[float, float]]]:
    """Change of every score by each reading and half of its 95 % interval, pairs drawn anew.

    Least squares with a mean for every pair, so that hard pairs blur nothing.
    """
    names = [f"{row['family']}/{row['pair']}" for row in rows]
    pairs = list(dict.fromkeys(names))
    of_pair = np.array([pairs.index(name) for name in names], dtype=np.int64)
    present = np.array([[_has(row, one) for one in readings] for row in rows], dtype=float)
    scores = np.array([[float(row[column] or "nan") for column in _COLUMNS] for row in rows])
    members = [np.flatnonzero(of_pair == number) for number in range(len(pairs))]
    blocks = [
        (present[own] - present[own].mean(axis=0), scores[own] - scores[own].mean(axis=0))
        for own in (own[np.isfinite(scores[own]).all(axis=1)] for own in members)
        if len(own)
    ]
    normal = np.array([x.T @ x for x, _ in blocks])
    right = np.array([x.T @ y for x, y in blocks])
    random = np.random.default_rng(0)
    picks = random.integers(len(blocks), size=(_RESAMPLED, len(blocks)))
    draws = [_solved(normal[pick].sum(axis=0), right[pick].sum(axis=0)) for pick in picks]
    low, high = np.percentile(draws, [2.5, 97.5], axis=0)
    mean = _solved(normal.sum(axis=0), right.sum(axis=0))
    return [
        {
            column: (float(mean[number, j]), float(high[number, j] - low[number, j]) / 2)
            for j, column in enumerate(_COLUMNS)
        }
        for number in range(len(readings))
    ]


def _solved(normal: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.lstsq(normal, right, rcond=None)[0])


def _has(row: ResultRow, reading: Reading) -> bool:
    return set(reading) <= set(row["changes"].split())


def _telling(rows: list[ResultRow], reading: Reading) -> bool:
    """Whether some runs have the reading and some have not."""
    return len({_has(row, reading) for row in rows}) == 2


def _effect_cell(change: float, half_width: float, column: str) -> Cell:
    return Cell(change, half_width, 2 if column == "geodesic_error" else 1)


def _alone_table(rows: list[ResultRow], alone: list[ResultRow]) -> Table:
    def lines(found: dict[str, Reading]) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
        present = {name: _of(rows, one) for name, one in found.items()}
        return tuple(
            (name, tuple(_change(own, _of(rows, ()), column) for column in _COLUMNS))
            for name, own in present.items()
            if own
        )

    base = tuple(cell(_alike(_of(rows, ()), alone), column) for column in _COLUMNS)

    return Table(
        "readings-alone",
        "Readings changed alone, and the region without the Hamiltonian operator",
        f"{counted(alone)}, {len(alone)} runs, 25 anchors. Below the recipe: change of its mean "
        "over the same pairs and seeds, with half of the 95 % interval over pairs.",
        (tuple((TITLES[column], 1) for column in _COLUMNS),),
        (
            Section("preset paper-fast", (("mean", base),)),
            Section("change w/o operator, the region being", lines(PLAIN)),
            Section("change", lines(FRAGILE)),
        ),
    )


def _alike(rows: list[ResultRow], others: list[ResultRow]) -> list[ResultRow]:
    """Those rows that share pair and seed with one of the others."""
    wanted = {(row["family"], row["pair"], row["seed"]) for row in others}
    return [row for row in rows if (row["family"], row["pair"], row["seed"]) in wanted]


def _change(changed: list[ResultRow], base: list[ResultRow], column: str) -> Cell:
    """Mean difference to the recipe, pair by pair with the same seeds."""
    now, then = (
        per_pair(pooled(own), column) for own in (_alike(changed, base), _alike(base, changed))
    )
    gap = paired_difference(now, then)
    return _effect_cell(gap.mean, (gap.high - gap.low) / 2, column)


def _of(rows: list[ResultRow], changes: Reading) -> list[ResultRow]:
    return chosen(rows, changes=" ".join(changes))


STUDY = Study(
    "readings",
    "Open readings of the paper",
    "Where the paper leaves a choice, which one gives the smaller error and its printed patterns?",
    plan,
    report,
    vertices=2_000,
)
