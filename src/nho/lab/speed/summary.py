"""From single runs to medians, ratios and exponents, and to tables of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from statistics import median
from typing import Any

import numpy as np

from nho.lab.bench.tabular import Cell, Section, Table, markdown
from nho.lab.speed.same_result import SAME_STEPS, loss_gap

LARGEST = 3  # sizes of the second fit of an exponent: small ones show fixed costs
LEAST_RATIO = 1.9  # largest over smallest size; below, noise decides the slope
_COLUMNS = (
    *("seconds", "least", "most", "CPU s", "x floor", "x default"),
    *("peak MB", "x default", "error", "IoU"),
)
_OF_ANCHORS = ("cpu_seconds", "by_first", "error")

Record = dict[str, Any]
RowsBySize = dict[str, dict[str, Record]]  # size -> case -> what was measured


def summarised(runs: list[Record], pairs: dict[str, Record]) -> RowsBySize:
    """By size and case: medians over the repeats, ratios to the floor and to preset ``default``.

    Parameters
    ----------
    runs : list of dict
        One a process: ``size``, ``case``, ``status`` ("ok" or why not) and what was measured.
    pairs : dict
        What was built for each size, with ``scores`` by case.
    """
    table: RowsBySize = {size: {} for size in pairs}
    for size, pair in pairs.items():
        for case in dict.fromkeys(run["case"] for run in runs):
            mine = [run for run in runs if (run["size"], run["case"]) == (size, case)]
            if mine:
                table[size][case] = _medians(mine) | pair.get("scores", {}).get(case, {})
        for row in table[size].values():
            for other in ("floor", "default"):
                row[f"time_by_{other}"] = _ratio(row, table[size].get(other), "cpu_seconds")
                row[f"memory_by_{other}"] = _ratio(row, table[size].get(other), "peak_mb")
    return table


def _medians(runs: list[Record]) -> Record:
    done = [run for run in runs if run["status"] == "ok"]
    failed = [run["status"] for run in runs if run["status"] != "ok"]
    row: Record = {"status": failed[0] if failed else "ok", "repeats": len(done)}
    if done:
        for name in ("seconds", "cpu_seconds", "peak_mb", "peak_mb_before"):
            row[name] = median(run[name] for run in done)
        row["seconds_range"] = [f([run["seconds"] for run in done]) for f in (min, max)]
        stages = dict.fromkeys(stage for run in done for stage in run["stages"])
        row["stages"] = {k: median(run["stages"].get(k, 0.0) for run in done) for k in stages}
    return row


def _ratio(row: Record, other: Record | None, name: str) -> float | None:
    if other is None or name not in row or name not in other:
        return None
    return float(row[name] / other[name])


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float | None:
    """Slope of log time against log size by least squares; None if the sizes hardly differ."""
    if max(sizes) < LEAST_RATIO * min(sizes) or min(seconds) <= 0:
        return None
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def exponents(table: RowsBySize, pairs: dict[str, Record]) -> dict[str, dict[str, Record]]:
    """By case and stage (``total`` for the whole): exponents over all sizes and the largest."""
    points: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for size, rows in table.items():
        for case, row in rows.items():
            if "seconds" in row:
                for stage, seconds in {"total": row["cpu_seconds"], **row["stages"]}.items():
                    of_case = points.setdefault(case, {})
                    of_case.setdefault(stage, []).append((pairs[size]["full_vertices"], seconds))
    return {
        case: {
            stage: {
                "all": exponent(*zip(*known, strict=True)),
                "largest": exponent(*zip(*sorted(known)[-LARGEST:], strict=True)),
                "sizes": len(known),
            }
            for stage, known in stages.items()
        }
        for case, stages in points.items()
    }


def loss_gap_of(runs: list[Record], size: str) -> float | None:
    """`loss_gap` between preset ``paper`` and the reference at one size; None = one is missing."""
    curves = {
        run["case"]: run["notes"]["losses"]
        for run in runs
        if run["size"] == size and run["status"] == "ok" and run["notes"].get("losses")
    }
    if not {"paper", "torch-reference"} <= curves.keys():
        return None
    return loss_gap(curves["paper"], curves["torch-reference"])


def report_text(report: Record) -> str:
    """The report as Markdown."""
    machine, options, table = report["machine"], report["options"], report["table"]
    load = ", ".join(f"{x:.1f}" for x in machine["load_average"] or [])
    versions = ", ".join(f"{name} {text}" for name, text in report["versions"].items())
    parts = [
        f"# {report['name']}\n",
        f"{machine['cpu']}, {machine['usable_cores']} of {machine['cores']} cores, "
        f"{machine['memory_gb']} GB, {machine['system']}; load average at the start {load}. "
        f"{versions}.\n",
    ]
    if any(table.values()):
        parts.append(
            f"Medians of {options['repeats']} runs, each in a process of its own; a case that "
            f"takes more than {options['limit']:g} s is stopped and left out at larger sizes. "
            "Ratios and exponents of totals are of CPU seconds, which other work on the machine "
            "changes little; seconds are what passed. "
            "Errors are geodesic x100, of points partial -> full; IoU in percent.\n"
        )
    for size, pair in report["pairs"].items():
        parts += [markdown(made) for made in _tables_of_size(size, pair, table[size])]
    if any(table.values()):
        parts.append(markdown(_stages_table(table)))
    if len(table) > 1 and report["exponents"]:
        parts.append(markdown(_exponents_table(report["exponents"])))
    return "\n".join(parts)


def _tables_of_size(size: str, pair: Record, rows: dict[str, Record]) -> list[Table]:
    title = (
        f"{size}: {pair['name']}, {pair['partial_vertices']} -> {pair['full_vertices']} vertices, "
        f"{pair['anchors']} anchors"
    )
    tables = []
    if rows:
        lines = tuple((case, _case_cells(row)) for case, row in rows.items())
        failed = [
            f"{case}: {row['status']}." for case, row in rows.items() if row["status"] != "ok"
        ]
        note = " ".join([*failed, *_agreement(pair.get("agreement"))])
        tables.append(_table(f"cases-{size}", title, note, _COLUMNS, [Section("", lines)]))
    if "start_up" in pair:
        lines = tuple(
            (name, (Cell(found["cpu_seconds"]), Cell(found["by_import"])))
            for name, found in pair["start_up"].items()
        )
        sections, columns = [Section("", lines)], ("CPU s", "x import")
        tables.append(_table(f"start-up-{size}", f"start-up; {title}", "", columns, sections))
    if "many_anchors" in pair:
        sections = [
            Section(
                preset,
                tuple(
                    (f"{row['anchors']} anchors", tuple(_cell(row[key]) for key in _OF_ANCHORS))
                    for row in rows
                ),
            )
            for preset, rows in pair["many_anchors"].items()
        ]
        named = ("CPU s", "x fewest", "error")
        tables.append(_table(f"anchors-{size}", f"anchors; {title}", "", named, sections))
    if "same_result" in pair:
        tables.append(_same_result_table(size, title, pair["same_result"]["seeds"]))
    return tables


def _case_cells(row: Record) -> tuple[Cell, ...]:
    least, most = row.get("seconds_range", (None, None))
    return (
        *(_cell(value) for value in (row.get("seconds"), least, most, row.get("cpu_seconds"))),
        _cell(row["time_by_floor"]),
        _cell(row["time_by_default"]),
        _cell(row.get("peak_mb"), 0),
        _cell(row["memory_by_default"]),
        _cell(row.get("error")),
        _cell(row.get("iou"), 1),
    )


def _agreement(found: Record | None) -> list[str]:
    if not found:
        return []
    gap = found.get("loss_gap")
    losses = f" their losses differ by {gap:.1e} in the first {SAME_STEPS} steps;" if gap else ""
    return [
        f"Preset paper against the torch reference, from the same weights:{losses} in the end "
        f"{found['same_target']:.1f} % of the targets are the same, the maps lie "
        f"{found['apart']:.2f} apart (x100), and the regions overlap by "
        f"{found['region_iou']:.1f} %."
    ]


def _same_result_table(size: str, title: str, seeds: list[Record]) -> Table:
    columns = ("paper: error", "IoU", "torch: error", "IoU", f"losses, {SAME_STEPS} steps (1e-6)")
    scores = np.array(
        [
            [entry[name][score] for name in ("paper", "torch-reference") for score in entry[name]]
            for entry in seeds
        ]
    )
    lines = [
        (
            f"seed {entry['seed']}",
            (*(Cell(x, digits=1) for x in row), Cell(1e6 * entry["loss_gap"])),
        )
        for entry, row in zip(seeds, scores.tolist(), strict=True)
    ]
    summaries = [("mean", scores.mean(axis=0))]
    if len(seeds) > 1:
        summaries.append(("standard deviation", scores.std(axis=0, ddof=1)))
    last = [
        (name, (*(Cell(x, digits=1) for x in values.tolist()), Cell(nan)))
        for name, values in summaries
    ]
    sections = [Section("", tuple(lines)), Section("", tuple(last))]
    note = "The last column is the largest relative difference of the first losses."
    return _table(f"same-result-{size}", f"same result; {title}", note, columns, sections)


def _stages_table(table: RowsBySize) -> Table:
    sections = []
    for case in dict.fromkeys(case for rows in table.values() for case in rows):
        known = [rows.get(case, {}).get("stages", {}) for rows in table.values()]
        lines = [
            (stage, tuple(_cell(stages.get(stage)) for stages in known))
            for stage in dict.fromkeys(stage for stages in known for stage in stages)
        ]
        if lines:
            sections.append(Section(case, tuple(lines)))
    return _table("stages", "Stages, in seconds", "", tuple(table), sections)


def _exponents_table(fits: dict[str, dict[str, Record]]) -> Table:
    sections = [
        Section(
            case,
            tuple(
                (stage, (_cell(fit["all"]), _cell(fit["largest"]), Cell(fit["sizes"], digits=0)))
                for stage, fit in stages.items()
            ),
        )
        for case, stages in fits.items()
    ]
    columns = ("all sizes", f"{LARGEST} largest", "sizes")
    return _table("exponents", "Time against size: exponents", "", columns, sections)


def _table(
    name: str, title: str, note: str, columns: tuple[str, ...], sections: list[Section]
) -> Table:
    return Table(name, title, note, (tuple((text, 1) for text in columns),), tuple(sections))


def _cell(value: float | None, digits: int = 2) -> Cell:
    return Cell(nan if value is None else value, digits=digits)
