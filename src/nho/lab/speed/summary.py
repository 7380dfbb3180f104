"""From single runs to medians, ratios and exponents. Standard library only, as the runner needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Any

SAME_STEPS = 20  # of the first fit, before round-off has grown
LARGEST = 3  # sizes of the second fit of an exponent: small ones show fixed costs
LEAST_SPREAD = 1.9  # largest over smallest size; below, noise decides the slope

Record = dict[str, Any]


def summarised(runs: list[Record], pairs: dict[str, Record]) -> dict[str, dict[str, Record]]:
    """By size and case: medians over the repeats, ratios to the floor and to preset ``default``.

    Parameters
    ----------
    runs : list of dict
        One a process: ``size``, ``case``, ``status`` ("ok" or why not) and what was measured.
    pairs : dict
        What was built for each size, with ``scores`` by case.
    """
    table: dict[str, dict[str, Record]] = {size: {} for size in pairs}
    for size, pair in pairs.items():
        for case in dict.fromkeys(run["case"] for run in runs):
            mine = [run for run in runs if (run["size"], run["case"]) == (size, case)]
            if mine:
                table[size][case] = _medians(mine) | pair.get("scores", {}).get(case, {})
        for row in table[size].values():
            for other in ("floor", "default"):
                row[f"time_by_{other}"] = _ratio(row, table[size].get(other), "seconds")
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
    return row[name] / other[name]


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float | None:
    """Slope of log time against log size by least squares; None if the sizes hardly differ."""
    if max(sizes) < LEAST_SPREAD * min(sizes) or min(seconds) <= 0:
        return None
    x, y = [math.log(n) for n in sizes], [math.log(t) for t in seconds]
    centre, level = sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - centre) ** 2 for a in x)
    return sum((a - centre) * (b - level) for a, b in zip(x, y, strict=True)) / spread


def exponents(
    table: dict[str, dict[str, Record]], pairs: dict[str, Record]
) -> dict[str, dict[str, Record]]:
    """By case and stage (``total`` for the whole): exponents over all sizes and the largest."""
    points: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for size, rows in table.items():
        for case, row in rows.items():
            if "seconds" in row:
                for stage, seconds in {"total": row["seconds"], **row["stages"]}.items():
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


def loss_gap(runs: list[Record], size: str) -> float | None:
    """Largest relative difference of the first losses between preset ``paper`` and reference."""
    curves = {
        run["case"]: run["notes"]["losses"]
        for run in runs
        if run["size"] == size and run["status"] == "ok" and run["notes"].get("losses")
    }
    if not {"paper", "torch-reference"} <= curves.keys():
        return None
    pairs = list(zip(curves["paper"], curves["torch-reference"], strict=False))[:SAME_STEPS]
    return max(abs(a / b - 1) for a, b in pairs)


def markdown(report: Record) -> str:
    """The report as tables."""
    machine, pairs, table = report["machine"], report["pairs"], report["table"]
    lines = [
        f"# {report['name']}",
        "",
        f"{machine['cpu']}, {machine['usable_cores']} of {machine['cores']} cores, "
        f"{machine['memory_gb']} GB, {machine['system']}; load average at the start "
        f"{', '.join(f'{x:.1f}' for x in machine['load_average'] or [])}. "
        + ", ".join(f"{name} {text}" for name, text in report["versions"].items())
        + ".",
        "",
        f"Medians of {report['options']['repeats']} runs, each in a process of its own; a case "
        f"that takes more than {report['options']['limit']:g} s is stopped and left out at larger "
        "sizes. Ratios are of seconds; CPU seconds of all cores together are there to tell a "
        "busy machine. Errors are geodesic x100, of points partial -> full; IoU in percent.",
    ]
    for size, rows in table.items():
        pair = pairs[size]
        lines += [
            "",
            f"## {size}: {pair['name']}, {pair['partial_vertices']} -> {pair['full_vertices']} "
            f"vertices, {pair['anchors']} anchors",
            "",
            "| case | seconds (range) | CPU s | x floor | x default | peak MB | x default | error "
            "| IoU |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        lines += [_line(case, row) for case, row in rows.items()]
        if pair.get("agreement"):
            lines += ["", _agreement(pair["agreement"])]
    lines += ["", "## Stages, in seconds", "", *_stages(table)]
    lines += ["", "## Time against size: exponents", ""]
    lines += [
        f"| case | stage | all sizes | {LARGEST} largest | sizes |",
        "|---|---|---|---|---|",
    ]
    for case, stages in report["exponents"].items():
        for stage, fit in stages.items():
            both = " | ".join(_number(fit[kind], 2) for kind in ("all", "largest"))
            lines.append(f"| {case} | {stage} | {both} | {fit['sizes']} |")
    return "\n".join(lines) + "\n"


def _line(case: str, row: Record) -> str:
    if "seconds" not in row:
        return f"| {case} | {row['status']} | | | | | | | |"
    low, high = row["seconds_range"]
    entries = [
        f"{row['seconds']:.2f} ({low:.2f}-{high:.2f})"
        + f" {row['status']}" * (row["status"] != "ok"),
        _number(row["cpu_seconds"], 2),
        _number(row["time_by_floor"], 2),
        _number(row["time_by_default"], 2),
        _number(row["peak_mb"], 0),
        _number(row["memory_by_default"], 2),
        _number(row.get("error"), 2),
        _number(row.get("iou"), 1),
    ]
    return f"| {case} | {' | '.join(entries)} |"


def _agreement(found: Record) -> str:
    gap = found.get("loss_gap")
    text = (
        "" if gap is None else f" their losses differ by {gap:.1e} in the first {SAME_STEPS} steps;"
    )
    return (
        f"Preset paper against the torch reference, from the same weights:{text} in the end "
        f"{found['same_target']:.1f} % of the targets are the same, the maps lie "
        f"{found['apart']:.2f} apart (x100), and the regions overlap by "
        f"{found['region_iou']:.1f} %."
    )


def _stages(table: dict[str, dict[str, Record]]) -> list[str]:
    cases = dict.fromkeys(case for rows in table.values() for case in rows)
    lines = [f"| case | stage | {' | '.join(table)} |", "|---|---|" + "---|" * len(table)]
    for case in cases:
        known = [rows.get(case, {}).get("stages", {}) for rows in table.values()]
        for stage in dict.fromkeys(stage for stages in known for stage in stages):
            values = " | ".join(_number(stages.get(stage), 2) for stages in known)
            lines.append(f"| {case} | {stage} | {values} |")
    return lines


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
